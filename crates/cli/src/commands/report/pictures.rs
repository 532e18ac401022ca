//! Pictures as files.

use crate::exit::Failure;
use crate::output;
use std::path::{Path, PathBuf};
use switchcost_catalogue::Catalogue;
use switchcost_model::Run;
use switchcost_report::{Fonts, pictures, png};

/// Writes every picture of these runs into the folders given; all are drawn before the first is written.
pub fn write(
    runs: &[Run],
    catalogue: &Catalogue,
    svg: Option<&Path>,
    raster: Option<&Path>,
) -> Result<Vec<PathBuf>, Failure> {
    let mut files: Vec<(PathBuf, Vec<u8>)> = Vec::new();
    if svg.is_none() && raster.is_none() {
        return Ok(Vec::new());
    }
    let drawn = pictures(runs, catalogue).map_err(Failure::internal)?;
    if drawn.is_empty() {
        let ids: Vec<&str> = runs.iter().map(|run| run.id.as_str()).collect();
        return Err(Failure::nothing(format!(
            "no figure of {} can be drawn, so there is no picture; `switchcost show {}` says why",
            ids.join(", "),
            ids.last().copied().unwrap_or("latest")
        )));
    }
    if let Some(folder) = svg {
        let named = |picture: &switchcost_report::Picture| folder.join(format!("{}.svg", picture.name));
        files.extend(drawn.iter().map(|picture| (named(picture), picture.svg.clone().into_bytes())));
    }
    if let Some(folder) = raster {
        let fonts = fonts()?;
        for picture in &drawn {
            let bytes = png(picture, &fonts).map_err(Failure::internal)?;
            files.push((folder.join(format!("{}.png", picture.name)), bytes));
        }
    }
    for (flag, folder) in [("--svg", svg), ("--png", raster)] {
        let Some(folder) = folder else { continue };
        std::fs::create_dir_all(folder).map_err(|error| {
            Failure::usage(format!("{flag} {}: no such folder can be made: {error}; name another", folder.display()))
        })?;
    }
    for (file, bytes) in &files {
        output::write_file(file, bytes)?;
    }
    Ok(files.into_iter().map(|(file, _)| file).collect())
}

/// Those of this machine.
fn fonts() -> Result<Fonts, Failure> {
    let mut database = fontdb::Database::new();
    database.load_system_fonts();
    Fonts::new(database).ok_or_else(|| {
        Failure::usage(
            "--png: this machine has no font, without which a picture would have no words; install one (Debian: fonts-dejavu-core), or use --svg",
        )
    })
}
