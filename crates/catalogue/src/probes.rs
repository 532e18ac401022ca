//! `probes/*/probe.toml`.

use crate::files::{CatalogueError, entries, read};
use serde::Deserialize;
use std::path::Path;
use switchcost_model::{Install, ProbeInfo};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ProbeFile {
    id: String,
    title: String,
    source: String,
    priority: i64,
    command: Vec<String>,
    #[serde(default)]
    environment: Vec<String>,
    start_timeout_ms: u64,
    #[serde(default)]
    install: InstallEntry,
}

#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields)]
struct InstallEntry {
    #[serde(default)]
    debian: String,
    #[serde(default)]
    fedora: String,
    #[serde(default)]
    macos: String,
}

/// Finds the probes: every folder below `folder` with a `probe.toml`, highest priority first.
///
/// # Errors
/// The first file that is not of the right form. A missing folder is no error: then there are no probes.
pub fn load_probes(folder: &Path) -> Result<Vec<ProbeInfo>, CatalogueError> {
    if !folder.is_dir() {
        return Ok(Vec::new());
    }
    let mut probes: Vec<ProbeInfo> = Vec::new();
    for subfolder in entries(folder)? {
        let path = subfolder.join("probe.toml");
        if !path.is_file() {
            continue;
        }
        let probe = load_probe(&subfolder)?;
        if let Some(other) = probes.iter().find(|other| other.id == probe.id) {
            return Err(CatalogueError::invalid(
                &path,
                format!("id {} is taken by {}", probe.id, other.folder.display()),
            ));
        }
        probes.push(probe);
    }
    probes.sort_by(|a, b| b.priority.cmp(&a.priority).then_with(|| a.id.cmp(&b.id)));
    Ok(probes)
}

/// The probe in this folder.
///
/// # Errors
/// Its `probe.toml` is missing or not of the right form.
pub fn load_probe(folder: &Path) -> Result<ProbeInfo, CatalogueError> {
    let path = folder.join("probe.toml");
    let file: ProbeFile = read(&path)?;
    if file.command.is_empty() {
        return Err(CatalogueError::invalid(&path, "command is empty"));
    }
    Ok(ProbeInfo {
        id: file.id,
        title: file.title,
        source: file.source,
        priority: file.priority,
        folder: folder.to_owned(),
        command: file.command,
        environment: file.environment,
        start_timeout_ms: file.start_timeout_ms,
        install: Install { debian: file.install.debian, fedora: file.install.fedora, macos: file.install.macos },
    })
}
