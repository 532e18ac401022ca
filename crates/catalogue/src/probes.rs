//! `probes/*/probe.toml`.

use crate::Broken;
use crate::files::{CatalogueError, entries, read};
use serde::Deserialize;
use serde::de::IgnoredAny;
use std::path::{Path, PathBuf};
use switchcost_model::{Capabilities, Install, ProbeInfo, harmless};

/// Longest id.
const MAX_ID: usize = 64;

/// Longest time until the first message, ms: a probe that hangs holds up `list` for so long.
const MAX_START_MS: u64 = 60_000;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ProbeFile {
    id: String,
    title: String,
    source: String,
    #[serde(default)]
    priority: i64,
    command: Vec<String>,
    #[serde(default)]
    environment: Vec<String>,
    start_timeout_ms: u64,
    #[serde(default)]
    install: InstallEntry,
    /// What scripts of the source tree read.
    #[serde(default, rename = "dev")]
    _dev: IgnoredAny,
}

/// Whether it stands beside another probe.
#[derive(Deserialize)]
struct Form {
    like: Option<IgnoredAny>,
}

/// Another probe's files and keys, started by another interpreter.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct AlikeFile {
    id: String,
    title: Option<String>,
    like: String,
    interpreter: String,
}

#[derive(Deserialize, Default)]
#[serde(default, deny_unknown_fields)]
struct InstallEntry {
    debian: String,
    fedora: String,
    macos: String,
}

/// Says why the content of a file or folder is not to be used.
pub type Trusted<'a> = &'a dyn Fn(&Path) -> Result<(), String>;

/// The probes of some folders.
#[derive(Debug, Clone, Default)]
pub struct Probes {
    /// Those that can be asked, highest priority first; of equal ones that of the first folder.
    pub found: Vec<ProbeInfo>,
    /// Folders of probes that cannot be used. The name is the folder's.
    pub broken: Vec<Broken>,
}

/// Finds the probes: every folder below one of `folders` with a `probe.toml`. A folder that cannot
/// be used costs nothing but itself, and of two probes with one id the one that is found later.
/// `trusted` says why a folder's content is not to be started.
#[must_use]
pub fn load_probes(folders: &[(&Path, Trusted<'_>)]) -> Probes {
    let mut probes = Probes::default();
    for (folder, trusted) in folders {
        if !folder.is_dir() {
            continue;
        }
        let first = probes.found.len();
        let subfolders = trusted(folder).and_then(|()| entries(folder).map_err(|error| error.to_string()));
        let subfolders = subfolders.unwrap_or_else(|reason| {
            probes.broken.push(Broken::new(folder, reason));
            Vec::new()
        });
        // A file beside the folders (a README) is not a probe; a link that leads nowhere was meant
        // to be one.
        for subfolder in subfolders.into_iter().filter(|path| !path.is_file()) {
            let known = &probes.found;
            let loaded = load_one(&subfolder, known, *trusted);
            match loaded.and_then(|probe| another(&subfolder, probe, known)) {
                Ok(probe) => probes.found.push(probe),
                Err(reason) => probes.broken.push(Broken::new(&subfolder, reason)),
            }
        }
        probes.found[first..].sort_by(|a, b| a.id.cmp(&b.id));
    }
    probes.found.sort_by_key(|probe| std::cmp::Reverse(probe.priority));
    probes
}

fn described(folder: &Path) -> Result<(), String> {
    let there = folder.join("probe.toml").symlink_metadata().is_ok();
    if there { Ok(()) } else { Err(format!("there is no probe.toml in {}", folder.display())) }
}

/// The folder and each of its files; if several are refused, one sentence names all of them.
fn all_trusted(folder: &Path, trusted: Trusted<'_>) -> Result<(), String> {
    let mut files = entries(folder).map_err(|error| error.to_string())?;
    files.insert(0, folder.to_owned());
    let refused: Vec<(&PathBuf, String)> = files.iter().filter_map(|file| Some((file, trusted(file).err()?))).collect();
    let Some(((_, first), others)) = refused.split_first() else { return Ok(()) };
    if others.is_empty() {
        return Err(first.clone());
    }
    let names = others.iter().map(|(file, _)| file.file_name().unwrap_or_default().to_string_lossy());
    Err(format!("{first} (so are, in {}: {})", folder.display(), names.collect::<Vec<_>>().join(", ")))
}

fn load_one(folder: &Path, known: &[ProbeInfo], trusted: Trusted<'_>) -> Result<ProbeInfo, String> {
    let path = folder.join("probe.toml");
    described(folder)?;
    all_trusted(folder, trusted)?;
    let unreadable = |error: CatalogueError| error.to_string();
    let form: Form = read(&path).map_err(unreadable)?;
    let probe = match form.like {
        Some(_) => read(&path).map_err(unreadable).map(|file| alike(file, known))?,
        None => read(&path).map_err(unreadable).map(|file| whole(file, folder))?,
    };
    probe.map_err(|what| invalid(folder, &what))
}

fn invalid(folder: &Path, what: &str) -> String {
    format!("{} is not valid: {what}", folder.join("probe.toml").display())
}

/// The same if none that is known has its id.
fn another(folder: &Path, probe: ProbeInfo, known: &[ProbeInfo]) -> Result<ProbeInfo, String> {
    let Some(other) = known.iter().find(|other| other.id == probe.id) else { return Ok(probe) };
    let (id, place) = (&probe.id, other.folder.display());
    Err(invalid(folder, &format!("id {id} is taken by the probe in {place}; choose another")))
}

fn named(key: &str, id: &str) -> Result<(), String> {
    let fine = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b"._-".contains(&b);
    let first = |b: &u8| b.is_ascii_lowercase() || b.is_ascii_digit();
    if id.len() > MAX_ID || !id.bytes().all(fine) || !id.as_bytes().first().is_some_and(first) {
        return Err(format!(
            "{key} `{}` is not 1 to {MAX_ID} lower-case letters, digits, dots, hyphens or underscores that begin with a letter or digit",
            harmless(id)
        ));
    }
    Ok(())
}

/// A program of the probe's own folder gets the interpreter as its first word.
fn alike(file: AlikeFile, known: &[ProbeInfo]) -> Result<ProbeInfo, String> {
    named("id", &file.id)?;
    let Some(probe) = known.iter().find(|probe| probe.id == file.like) else {
        return Err(format!("no probe `{}` is installed that it could be like", harmless(&file.like)));
    };
    let interpreter = file.interpreter;
    if interpreter.is_empty() || interpreter.contains('/') && !interpreter.starts_with('/') {
        let what = "is neither a whole path nor the name of a program in PATH";
        return Err(format!("interpreter `{}` {what}", harmless(&interpreter)));
    }
    let title = file.title.unwrap_or_else(|| format!("{} by {}", probe.title, harmless(&interpreter)));
    let mut command = probe.command.clone();
    let at = usize::from(command[0].starts_with("./"));
    command.splice(at..1, [interpreter]);
    Ok(ProbeInfo { id: file.id, title, command, install: Install::default(), ..probe.clone() })
}

fn whole(file: ProbeFile, folder: &Path) -> Result<ProbeInfo, String> {
    named("id", &file.id)?;
    named("source", &file.source)?;
    if file.command.is_empty() || file.command[0].is_empty() {
        return Err("command names no program".into());
    }
    if !(1..=MAX_START_MS).contains(&file.start_timeout_ms) {
        return Err(format!("start_timeout_ms is not from 1 to {MAX_START_MS}"));
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
        capabilities: Capabilities::default(),
        install: Install { debian: file.install.debian, fedora: file.install.fedora, macos: file.install.macos },
    })
}

/// The probe in this folder, if it and its files are trusted. It may be like one of those that are
/// installed, and have the id of one.
///
/// # Errors
/// They are not, or its `probe.toml` is missing or not of the right form.
pub fn load_trusted_probe(folder: &Path, installed: &[ProbeInfo], trusted: Trusted<'_>) -> Result<ProbeInfo, String> {
    load_one(folder, installed, trusted)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_equal_probes_that_of_the_first_folder_is_asked() {
        let root = tempfile::tempdir().unwrap();
        for (folder, id, priority) in [("installed", "z", 5), ("installed", "b", 5), ("own", "a", 5), ("own", "c", 6)] {
            let place = root.path().join(folder).join(id);
            std::fs::create_dir_all(&place).unwrap();
            let text = format!(
                "id = \"{id}\"\ntitle = \"t\"\nsource = \"s\"\npriority = {priority}\ncommand = [\"./p\"]\nstart_timeout_ms = 9\n"
            );
            std::fs::write(place.join("probe.toml"), text).unwrap();
        }
        let folders = ["installed", "own"].map(|name| root.path().join(name));
        let trusted: Trusted<'_> = &|_| Ok(());
        let probes = load_probes(&[(&folders[0], trusted), (&folders[1], trusted)]);
        let ids: Vec<&str> = probes.found.iter().map(|probe| probe.id.as_str()).collect();
        assert_eq!(ids, ["c", "b", "z", "a"]);
    }

    #[test]
    fn a_probe_that_is_like_another_has_its_files_and_an_interpreter() {
        let root = tempfile::tempdir().unwrap();
        let of = |command: &[&str]| ProbeInfo {
            id: command[0].trim_start_matches("./").into(),
            command: command.iter().map(ToString::to_string).collect(),
            folder: "/installed".into(),
            ..ProbeInfo::default()
        };
        let known = [of(&["ruby", "-x", "probe.rb"]), of(&["./java"])];
        let alike = |text: &str| {
            std::fs::write(root.path().join("probe.toml"), format!("id = \"b\"\n{text}")).unwrap();
            let loaded = load_trusted_probe(root.path(), &known, &|_| Ok(()));
            loaded.map(|probe| (probe.command.join(" "), probe.folder))
        };
        let works = |text: &str, words: &str| {
            assert_eq!(alike(text), Ok((words.to_owned(), "/installed".into())));
        };
        works("like = \"ruby\"\ninterpreter = \"/a/ruby\"", "/a/ruby -x probe.rb");
        works("like = \"ruby\"\ninterpreter = \"ruby3\"", "ruby3 -x probe.rb");
        works("like = \"java\"\ninterpreter = \"/a/java\"", "./java /a/java");
        for (text, words) in [
            ("like = \"php\"\ninterpreter = \"/a\"", "no probe `php` is installed"),
            ("like = \"ruby\"\ninterpreter = \"a/ruby\"", "neither a whole path nor"),
            ("like = \"ruby\"", "missing field `interpreter`"),
            ("like = \"ruby\"\ninterpreter = \"/a\"\ncommand = []", "unknown field `command`"),
        ] {
            let said = alike(text).unwrap_err();
            assert!(said.contains(words), "{said}");
        }
    }
}
