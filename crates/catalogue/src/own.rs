//! Experiments and placements of the user's own: a page each, in the folders `experiments` and
//! `placements` beside their mechanisms.

use crate::files::{entries, text_of};
use crate::mechanisms::Broken;
use crate::probes::Trusted;
use std::path::Path;
use switchcost_model::{Asked, Page, Place, Word};

/// Adds them to the program's own, and says which pages cannot be used. It must come before
/// anything is read that names them.
pub fn add_words(folder: &Path, trusted: Trusted<'_>) -> Vec<Broken> {
    let mut broken = Vec::new();
    add::<Asked>(&folder.join("experiments"), trusted, &mut broken);
    add::<Place>(&folder.join("placements"), trusted, &mut broken);
    broken
}

fn add<T: Page>(folder: &Path, trusted: Trusted<'_>, broken: &mut Vec<Broken>) {
    if !folder.is_dir() {
        return;
    }
    let pages = trusted(folder).and_then(|()| entries(folder).map_err(|error| error.to_string()));
    let pages = pages.unwrap_or_else(|reason| {
        broken.push(Broken::new(folder, reason));
        Vec::new()
    });
    for path in pages.iter().filter(|path| path.extension().is_some_and(|extension| extension == "toml")) {
        let name = path.file_stem().unwrap_or_default().to_string_lossy();
        let text = trusted(path).and_then(|()| text_of(path).map_err(|error| error.to_string()));
        let not_valid = |what| format!("{} is not valid: {what}", path.display());
        if let Err(reason) = text.and_then(|text| Word::<T>::add(&name, &text).map_err(not_valid)) {
            broken.push(Broken::new(path, reason));
        }
    }
}
