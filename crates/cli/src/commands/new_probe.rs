//! `new-probe`: a folder that measures one mechanism of the user's own.

use super::list::packages;
use clap::Parser;
use std::path::{Path, PathBuf};
use std::time::Instant;
use switchcost_machine::spawn::find_program;
use switchcost_session::{Action, Exit, Failure, Installation, output};

/// Begin a probe that measures your own library
///
/// The folder measures a working example as it is: one switch, making a context, and its memory.
/// Put your library's calls into three functions, check them with check-probe, and compare the row
/// with any other.
#[derive(Parser, Debug)]
#[command(name = "new-probe")]
pub struct NewProbe {
    /// New or empty folder; its name is that of the probe
    #[arg(value_name = "DIR", required_unless_present = "kit")]
    pub folder: Option<PathBuf>,
    /// Language of the library: cpp, cpp20 (its coroutines), go, java, javascript, lua, python,
    /// ruby or rust
    #[arg(long, value_name = "NAME", required_unless_present = "kit")]
    pub language: Option<String>,
    /// Print the folder of the installed kit
    ///
    /// A new probe has a link to it, which is not checked in. In another checkout: ln -sfn
    /// "$(switchcost new-probe --kit cpp)" kit
    #[arg(long, value_name = "LANGUAGE", conflicts_with_all = ["folder", "language"])]
    pub kit: Option<String>,
}

impl Action for NewProbe {
    fn carry_out(&self, _: Instant) -> Result<Exit, Failure> {
        let installation = Installation::find()?;
        let templates = installation.data("new-probe");
        if let Some(language) = &self.kit {
            template(&templates, language)?;
            output::print(&format!("{}\n", kit(&installation, language)?.display()))?;
            return Ok(Exit::Fine);
        }
        let language = self.language.as_deref().unwrap_or_default();
        let template = template(&templates, language)?;
        let kit = kit(&installation, language)?;
        let folder = std::path::absolute(self.folder()).map_err(|error| self.failed(&error))?;
        let name = folder.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        let fine = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-';
        if !name.starts_with(|c: char| c.is_ascii_lowercase()) || !name.bytes().all(fine) {
            let what = "give the folder a name of lower-case letters, digits and hyphens that begins with a letter";
            return Err(Failure::usage(format!("{}: {what}", self.folder().display())));
        }
        let catalogue = installation.catalogue()?;
        let probes = installation.probes(&catalogue);
        let pages = catalogue.mechanisms.iter().filter_map(|page| page.id.as_str().split_once('/'));
        if probes.iter().any(|probe| probe.id == name) || pages.into_iter().any(|(_, page)| page == name) {
            return Err(Failure::usage(format!("`{name}` is the name of a probe or mechanism; choose another")));
        }
        if std::fs::read_dir(&folder).is_ok_and(|mut files| files.next().is_some()) {
            let folder = self.folder().display();
            return Err(Failure::usage(format!("{folder} is not empty; name a new folder, or empty this one")));
        }
        let program = std::env::current_exe().map_err(|error| self.failed(&error))?;
        let words = [("@name@", name.to_owned()), ("@program@", program.display().to_string())];
        fill(&template, &folder, &words).map_err(|error| self.failed(&error))?;
        switchcost_machine::link(&kit, &folder.join("kit")).map_err(|error| self.failed(&error))?;
        let readme = std::fs::read_to_string(folder.join("README.md")).map_err(|error| self.failed(&error))?;
        output::print(&readme)?;
        missing(&folder).iter().for_each(|what| output::say(what));
        Ok(Exit::Fine)
    }
}

/// Says what to install if the runtime that starts the new probe is not here. Those that are
/// compiled have none.
fn missing(folder: &Path) -> Option<String> {
    let probe = switchcost_catalogue::load_trusted_probe(folder, &[], &|_| Ok(())).ok()?;
    let program = probe.command.first().filter(|program| !program.contains('/'))?;
    if find_program(program, &[]).is_some() {
        return None;
    }
    let install = packages(&probe.install).map(|packages| format!("; install {packages}")).unwrap_or_default();
    Some(format!("`{program}` is not in PATH{install}"))
}

/// The template of a language.
fn template(templates: &Path, language: &str) -> Result<PathBuf, Failure> {
    let entries = std::fs::read_dir(templates).map_err(|error| {
        let error = format!("{}: cannot be read ({error})", templates.display());
        Failure::usage(format!("{error}; run `make build` in the source tree, or install a package"))
    })?;
    let mut known: Vec<String> =
        entries.flatten().map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    if known.iter().any(|name| name == language) {
        return Ok(templates.join(language));
    }
    known.sort();
    Err(Failure::usage(format!("no language `{language}`; expected one of {}", known.join(", "))))
}

/// Its kit, which a package may lack.
fn kit(installation: &Installation, language: &str) -> Result<PathBuf, Failure> {
    // A standard of a language has that language's kit: cpp20.
    let kit = installation.kit(language.trim_end_matches(char::is_numeric));
    if kit.is_dir() {
        return Ok(kit);
    }
    let what = format!("this installation has no kit for {language} ({} is missing)", kit.display());
    Err(Failure::usage(format!("{what}; run `make build` in the source tree, or install a package")))
}

impl NewProbe {
    fn folder(&self) -> &Path {
        self.folder.as_deref().unwrap_or(Path::new("."))
    }

    fn failed(&self, error: &std::io::Error) -> Failure {
        Failure::usage(format!("{}: cannot be made ({error})", self.folder().display()))
    }
}

/// Copies a folder with the words put in, also into the names of files.
fn fill(from: &Path, to: &Path, words: &[(&str, String)]) -> std::io::Result<()> {
    std::fs::create_dir_all(to)?;
    let filled = |text: String| words.iter().fold(text, |text, (word, value)| text.replace(word, value));
    for entry in std::fs::read_dir(from)?.flatten() {
        let target = to.join(filled(entry.file_name().to_string_lossy().into_owned()));
        if entry.path().is_dir() {
            fill(&entry.path(), &target, words)?;
        } else {
            std::fs::write(target, filled(std::fs::read_to_string(entry.path())?))?;
        }
    }
    Ok(())
}
