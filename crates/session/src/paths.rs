//! Where probes, data and the store are.

use crate::exit::Failure;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;
use std::time::{Duration, Instant};
use switchcost_catalogue::{Broken, Catalogue, Probes, Trusted};
use switchcost_model::ProbeInfo;
use switchcost_runner::{KnownProbe, RequestError};

/// How long the user's own probes are asked for a name that nothing else has.
const PATIENCE: Duration = Duration::from_secs(2);

/// Folders of an installation.
pub struct Installation {
    /// This program, if the folders were found beside it: whoever may change it may change what it starts.
    program: Option<PathBuf>,
    libexec: PathBuf,
    share: PathBuf,
}

impl Installation {
    /// `SWITCHCOST_LIBEXEC`, or `../libexec/switchcost` beside the program; data is in `share/switchcost` of the same prefix.
    pub fn find() -> Result<Self, Failure> {
        if let Some(libexec) = std::env::var_os("SWITCHCOST_LIBEXEC").filter(|value| !value.is_empty()) {
            let libexec = PathBuf::from(libexec);
            let prefix = libexec.ancestors().nth(2).map_or_else(PathBuf::new, Path::to_owned);
            return Ok(Self { program: None, share: prefix.join("share/switchcost"), libexec });
        }
        let program = std::env::current_exe().and_then(dunce::canonicalize).map_err(|error| {
            let (error, cure) =
                (error.to_string(), "mount /proc, or name its libexec/switchcost by SWITCHCOST_LIBEXEC");
            // The library ends its sentence with a question.
            let error = error.split(". ").next().unwrap_or_default();
            Failure::refused("cannot tell where switchcost itself is", format!("{error}; {cure}"))
        })?;
        let prefix = program.ancestors().nth(2).map_or_else(PathBuf::new, Path::to_owned);
        let (libexec, share) = (prefix.join("libexec/switchcost"), prefix.join("share/switchcost"));
        Ok(Self { program: Some(program), libexec, share })
    }

    /// Folder of the probes.
    pub fn probes_folder(&self) -> PathBuf {
        self.libexec.join("probes")
    }

    /// Mechanisms and families of the installation and the user's own, what of them cannot be used, and whose the probes are.
    pub fn catalogue(&self) -> Result<Catalogue, Failure> {
        self.catalogue_with(None)
    }

    /// The same with the pages in the folder of a probe that is named by hand.
    pub fn catalogue_with(&self, probe: Option<&Path>) -> Result<Catalogue, Failure> {
        let (probes, of_user) = (self.all_probes(), own_folder("probes"));
        let found = probes.found.iter().map(|probe| probe.folder.as_path());
        let found = found.filter(|folder| of_user.as_ref().is_some_and(|own| folder.starts_with(own)));
        let mut own: Vec<PathBuf> = own_folder("mechanisms").into_iter().collect();
        own.extend(found.chain(probe).map(|folder| folder.join("mechanisms")));
        let (pages, trusted) = (self.share.join("mechanisms"), switchcost_machine::only_owner_writes);
        let mut catalogue = switchcost_catalogue::load(&pages, &own, &trusted).map_err(Failure::usage)?;
        catalogue.sources = probes.found.into_iter().map(|probe| (probe.id, probe.source)).collect();
        catalogue.broken.extend(probes.broken);
        catalogue.broken.extend_from_slice(own_words());
        Ok(catalogue)
    }

    /// What probes of the user's own in this language are built against.
    #[must_use]
    pub fn kit(&self, language: &str) -> PathBuf {
        self.libexec.join("kit").join(language)
    }

    /// A file or folder of the installation's data.
    #[must_use]
    pub fn data(&self, name: &str) -> PathBuf {
        self.share.join(name)
    }

    /// Probes on disk that can be asked, with the rights that the pages name for them.
    pub fn probes(&self, catalogue: &Catalogue) -> Vec<ProbeInfo> {
        let mut probes = self.all_probes().found;
        for probe in &mut probes {
            probe.capabilities = catalogue.capabilities(&probe.source);
        }
        probes
    }

    /// Why a name means nothing that a probe of the user's own describes: it has no page. No other probe is asked.
    pub fn without_page(&self, error: &RequestError, probes: &[ProbeInfo]) -> Option<String> {
        let RequestError::UnknownMechanism { pattern, .. } = error else { return None };
        let (name, own) = (pattern.split(' ').next()?, own_folder("probes")?);
        let asked = probes.iter().filter(|probe| probe.folder.starts_with(&own)).cloned().collect();
        let answers = switchcost_runner::discover(asked, None, Some(Instant::now() + PATIENCE), None)?;
        let describes = |probe: &&KnownProbe| {
            probe.answer.as_ref().is_ok_and(|(_, described)| described.iter().any(|one| one.id.as_str() == name))
        };
        let KnownProbe { info, .. } = answers.iter().find(describes)?;
        let page = info.folder.join("mechanisms").join(format!("{name}.toml"));
        Some(format!("your probe {} has {name}, but no page says what it is: write {}", info.id, page.display()))
    }

    /// Why there is no probe that can be asked.
    pub fn why_no_probes(&self) -> String {
        let none = || RequestError::NoProbes(self.probes_folder().display().to_string()).to_string();
        self.all_probes().broken.into_iter().next().map_or_else(none, |broken| broken.reason)
    }

    /// Why root does not start what is in this file or folder of a probe, named by hand or found.
    pub fn startable(&self, path: &Path) -> Result<(), String> {
        switchcost_machine::root_may_start(path, self.program.as_deref())
    }

    /// The installation's, then the user's own.
    fn all_probes(&self) -> Probes {
        let installed = self.probes_folder();
        let own = own_folder("probes");
        let startable = |path: &Path| self.startable(path);
        let mut folders = vec![(installed.as_path(), &startable as Trusted<'_>)];
        folders.extend(own.as_deref().map(|own| (own, &switchcost_machine::only_owner_writes as _)));
        switchcost_catalogue::load_probes(&folders)
    }
}

/// Adds the user's own experiments and placements to the program's, when it is first called; those that cannot be used.
pub fn own_words() -> &'static [Broken] {
    static BROKEN: LazyLock<Vec<Broken>> = LazyLock::new(|| {
        let beside = own_folder("");
        beside
            .map_or_else(Vec::new, |own| switchcost_catalogue::add_words(&own, &switchcost_machine::only_owner_writes))
    });
    &BROKEN
}

/// Folder of the user's own probes or pages, beside the store; None where there is no place for it.
fn own_folder(name: &str) -> Option<PathBuf> {
    Some(store(None).ok()?.parent()?.join(name))
}

/// `--store`, or the default in the user's folder for data.
pub fn store(given: Option<&Path>) -> Result<PathBuf, Failure> {
    if let Some(path) = given {
        return Ok(path.to_owned());
    }
    let home = std::env::var_os("HOME").map(PathBuf::from);
    switchcost_store::default_path(switchcost_machine::data_home().as_deref(), home.as_deref()).map_err(Failure::usage)
}

/// Folder of what may be forgotten, in the user's folder for such; None where there is no place for it.
pub fn cache() -> Option<PathBuf> {
    let home = || std::env::var_os("HOME").map(PathBuf::from).filter(|path| path.is_absolute());
    let base = switchcost_machine::cache_home().or_else(|| home().map(|home| home.join(".cache")))?;
    Some(base.join("switchcost/describe"))
}
