//! From the folders of mechanisms to the catalogue.

use crate::files::{CatalogueError, entries, read, text_of};
use crate::layers::{Donors, LayerEntry, ResidueEntry, explanations, no_circle};
use crate::mechanisms::{Broken, Catalogue, Common, FamiliesFile, load_common, load_concept};
use crate::probes::Trusted;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use switchcost_model::{Family, Mechanism, MechanismId};

/// What names other mechanisms waits until all are known.
struct Waiting {
    path: PathBuf,
    layers: Vec<LayerEntry>,
    residues: Vec<ResidueEntry>,
}

/// Reads the folder `mechanisms` of the installation, and beside it the user's own folders. A page
/// that is not of the right form is among the broken ones.
///
/// # Errors
/// The installation's `families.toml` or `parameters.toml` is missing or not of the right form:
/// then nothing is known.
pub fn load(folder: &Path, own: &[PathBuf], trusted: Trusted<'_>) -> Result<Catalogue, CatalogueError> {
    let families: FamiliesFile = read(&folder.join("families.toml"))?;
    let common = load_common(&folder.join("parameters.toml"))?;
    let (reference, absent) = (families.reference.clone(), families.absent.clone());
    let mut catalogue = Catalogue { reference, absent, ..Catalogue::default() };
    let mut leaving = families.leaving_ms.clone();
    add_families(&mut catalogue, families);
    let mut waiting = Vec::new();
    add_pages(&mut catalogue, &mut waiting, folder, &common, &|_| Ok(()));
    for own in own.iter().filter(|own| own.is_dir()) {
        match trusted(own).and_then(|()| own_families(own)) {
            Ok(families) => {
                // Of its own sources: what the installation grants stays as it is.
                families.leaving_ms.iter().for_each(|(source, ms)| _ = leaving.entry(source.clone()).or_insert(*ms));
                add_families(&mut catalogue, families);
                unknown_families(&mut catalogue, own);
                add_pages(&mut catalogue, &mut waiting, own, &common, trusted);
            }
            Err(reason) => catalogue.broken.push(Broken::new(own, reason)),
        }
    }
    resolve(&mut catalogue, waiting);
    for mechanism in &mut catalogue.mechanisms {
        let granted = mechanism.implemented_by.iter().filter_map(|source| leaving.get(source));
        mechanism.leaving_ms = granted.copied().max().unwrap_or(0);
    }
    let rank: Vec<String> = catalogue.families.iter().map(|family| family.id.clone()).collect();
    // Stable: within a family the installation's pages come first, each folder's by name.
    catalogue.mechanisms.sort_by_key(|mechanism| rank.iter().position(|family| family == mechanism.id.family()));
    Ok(catalogue)
}

fn add_families(catalogue: &mut Catalogue, families: FamiliesFile) {
    for entry in families.family {
        if !catalogue.families.iter().any(|known| known.id == entry.id) {
            catalogue.families.push(Family {
                id: entry.id,
                title: entry.title,
                example: entry.example,
                lacks: entry.lacks,
                run_to_run: entry.run_to_run,
            });
        }
    }
}

/// The file may be missing: the pages are of known families then.
fn own_families(folder: &Path) -> Result<FamiliesFile, String> {
    let path = folder.join("families.toml");
    if path.symlink_metadata().is_err() {
        return Ok(FamiliesFile::default());
    }
    read(&path).map_err(|error| error.to_string())
}

/// Folders that are of no family are said, or a misspelt one would be lost without a word.
fn unknown_families(catalogue: &mut Catalogue, folder: &Path) {
    for path in entries(folder).unwrap_or_default().into_iter().filter(|path| path.is_dir()) {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if !catalogue.families.iter().any(|family| family.id == name) {
            let reason = format!("{} is of no known family; add it to families.toml beside it", path.display());
            catalogue.broken.push(Broken::new(&path, reason));
        }
    }
}

fn add_pages(
    catalogue: &mut Catalogue,
    waiting: &mut Vec<Waiting>,
    folder: &Path,
    common: &Common,
    trusted: Trusted<'_>,
) {
    for family in catalogue.families.clone() {
        let subfolder = folder.join(&family.id);
        if !subfolder.is_dir() {
            continue; // A family without a mechanism yet.
        }
        let pages = trusted(&subfolder).and_then(|()| entries(&subfolder).map_err(|error| error.to_string()));
        let pages = pages.unwrap_or_else(|reason| {
            catalogue.broken.push(Broken::new(&subfolder, reason));
            Vec::new()
        });
        for path in pages.into_iter().filter(|path| path.extension().is_some_and(|extension| extension == "toml")) {
            let loaded = trusted(&path)
                .and_then(|()| load_concept(&family.id, &path, common).map_err(|error| error.to_string()));
            match loaded {
                Ok((mechanism, ..)) if catalogue.find(&mechanism.id).is_some() => {
                    let first = waiting.iter().map(|page| &page.path).find(|known| known.ends_with(page_name(&path)));
                    // Two builds of one library have one page, as a rule.
                    if first.and_then(|first| text_of(first).ok()) != text_of(&path).ok() {
                        let first = first.map_or_else(String::new, |first| format!(": {}", first.display()));
                        let id = &mechanism.id;
                        let reason = format!("{} is not used: there is another page of {id}{first}", path.display());
                        let unused = Some((path.clone(), mechanism.id));
                        catalogue.broken.push(Broken { unused, ..Broken::new(&path, reason) });
                    }
                }
                Ok((mechanism, layers, residues)) => {
                    catalogue.mechanisms.push(mechanism);
                    waiting.push(Waiting { path, layers, residues });
                }
                Err(reason) => catalogue.broken.push(broken_page(&family.id, &path, reason)),
            }
        }
    }
}

/// The part of a page's path that names its mechanism: `stack/tiny.toml`.
fn page_name(path: &Path) -> PathBuf {
    let family = path.parent().and_then(Path::file_name).unwrap_or_default();
    Path::new(family).join(path.file_name().unwrap_or_default())
}

fn broken_page(family: &str, path: &Path, reason: String) -> Broken {
    let broken = Broken::new(path, reason);
    let mechanism = format!("{family}/{}", broken.name).parse().ok();
    Broken { mechanism, ..broken }
}

/// Resolves what pages say of other mechanisms. What names a broken page is left out; a page that
/// names one that is nowhere is broken itself.
fn resolve(catalogue: &mut Catalogue, waiting: Vec<Waiting>) {
    let known = catalogue.mechanisms.clone();
    let broken: Vec<MechanismId> = catalogue.broken.iter().filter_map(|page| page.mechanism.clone()).collect();
    let made_of = |page: &Waiting| page.layers.iter().flat_map(LayerEntry::donors).cloned().collect();
    let donors: Donors =
        known.iter().zip(&waiting).map(|(mechanism, page)| (mechanism.id.to_string(), made_of(page))).collect();
    let usual: BTreeSet<&MechanismId> = known.iter().flat_map(|mechanism| &mechanism.bound).collect();
    let mut mechanisms = Vec::new();
    for (mut mechanism, Waiting { path, layers, residues }) in
        std::mem::take(&mut catalogue.mechanisms).into_iter().zip(waiting)
    {
        mechanism.floor.retain(|id| !broken.contains(id));
        if mechanism.bound.is_empty() && in_user_space(&mechanism) {
            mechanism.bound.extend(usual.iter().copied().cloned());
        }
        mechanism.bound.retain(|id| !broken.contains(id));
        mechanism.contains.retain(|id| !broken.contains(id));
        mechanism.contexts_of.take_if(|id| broken.contains(id));
        for parameter in mechanism.parameters.values_mut() {
            parameter.control.take_if(|id| broken.contains(id));
        }
        let explained = explanations(&mechanism, &layers, residues, &known);
        // Layers that need a broken page explain nothing; the rows of this one are sound.
        let explained = if broken.is_empty() { explained } else { explained.or(Ok(Vec::new())) };
        let sound = check_floor(&mechanism, &known)
            .and_then(|()| check_controls(&mechanism, &known))
            .and_then(|()| no_circle(&mechanism.id, &layers, &donors))
            .and(explained);
        match sound {
            Ok(explanations) => mechanisms.push(Mechanism { explanations, ..mechanism }),
            Err(what) => {
                let reason = CatalogueError::invalid(&path, what);
                catalogue.broken.push(broken_page(mechanism.id.family(), &path, reason.to_string()));
            }
        }
    }
    catalogue.mechanisms = mechanisms;
}

/// Its switches need no kernel, so that nobody counts them: the controls that bound other such
/// mechanisms bound it too.
fn in_user_space(mechanism: &Mechanism) -> bool {
    let counted = mechanism.evidence.kernel_switches.flatten().is_some_and(|(least, _)| least > 0.0);
    !mechanism.control && !counted && mechanism.experiments.iter().any(|experiment| experiment.bounded())
}

fn check_floor(mechanism: &Mechanism, mechanisms: &[Mechanism]) -> Result<(), String> {
    let find = |id: &MechanismId| mechanisms.iter().find(|other| other.id == *id);
    if let Some(floor) = mechanism.floor.iter().find(|floor| find(floor).is_none()) {
        return Err(format!("floor names {floor}, which has no file"));
    }
    for (key, ids) in [("bound", &mechanism.bound), ("contains", &mechanism.contains)] {
        for id in ids {
            let known = find(id).ok_or_else(|| format!("{key} names {id}, which has no file"))?;
            if !known.control {
                return Err(format!("{key} names {id}, which is not a control"));
            }
        }
    }
    let own = |mechanism: &Mechanism| mechanism.experiments.iter().any(|experiment| experiment.of_contexts);
    match &mechanism.contexts_of {
        Some(_) if own(mechanism) => Err("contexts_of is for mechanisms without an experiment on contexts".into()),
        Some(id) if !find(id).is_some_and(own) => {
            Err(format!("contexts_of names {id}, which has no experiment on contexts"))
        }
        _ => Ok(()),
    }
}

/// What a parameter names as its control must be one, and have the parameter.
fn check_controls(mechanism: &Mechanism, mechanisms: &[Mechanism]) -> Result<(), String> {
    for (name, parameter) in &mechanism.parameters {
        let Some(id) = &parameter.control else { continue };
        let Some(control) = mechanisms.iter().find(|other| other.id == *id) else {
            return Err(format!("parameter {name}: control names {id}, which has no file"));
        };
        if !control.control || !control.parameters.contains_key(name) {
            return Err(format!("parameter {name}: control names {id}, which is not a control with this parameter"));
        }
    }
    Ok(())
}
