//! Where probes, data and the store are.

use crate::defaults;
use crate::exit::Failure;
use std::path::{Path, PathBuf};
use std::sync::{LazyLock, OnceLock};
use std::time::{Duration, Instant};
use switchcost_catalogue::{Broken, Catalogue, Probes, Trusted};
use switchcost_model::{MechanismId, NAMED_PRIORITY, ProbeInfo};
use switchcost_runner::{KnownProbe, RequestError};

/// How long the user's own probes are asked for a name that nothing else has.
const PATIENCE: Duration = Duration::from_secs(2);

/// Probes whose folders `--probe` named, whole paths: their pages are read, and they come first of
/// all that carry out the same.
static NAMED: OnceLock<Vec<ProbeInfo>> = OnceLock::new();

/// What the folders of probes hold. They are read once: a command asks several times, and a process
/// has one installation.
static LOADED: OnceLock<Probes> = OnceLock::new();

/// Folders of an installation.
pub struct Installation {
    /// This program, if the folders were found beside it: whoever may change it may change what it
    /// starts.
    program: Option<PathBuf>,
    libexec: PathBuf,
    share: PathBuf,
}

impl Installation {
    /// `SWITCHCOST_LIBEXEC`, or `../libexec/switchcost` beside the program; data is in
    /// `share/switchcost` of the same prefix.
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

    /// Mechanisms and families of the installation and the user's own, what of them cannot be used,
    /// and whose the probes are.
    pub fn catalogue(&self) -> Result<Catalogue, Failure> {
        self.catalogue_with(&[])
    }

    /// The same with the pages in the folders of probes that are named by hand.
    pub fn catalogue_with(&self, named: &[&Path]) -> Result<Catalogue, Failure> {
        let (probes, of_user) = (self.all_probes(), own_folder("probes"));
        let mut named = named.to_vec();
        named.extend(named_probes().iter().map(|probe| probe.folder.as_path()));
        let broken: Vec<Broken> = named
            .iter()
            .flat_map(|folder| switchcost_catalogue::add_words(folder, &|path| self.startable(path)))
            .collect();
        let found = probes.found.iter().map(|probe| probe.folder.as_path());
        let found = found.filter(|folder| of_user.as_ref().is_some_and(|own| folder.starts_with(own)));
        let mut own: Vec<PathBuf> = own_folder("mechanisms").into_iter().collect();
        for folder in found.chain(named).map(|folder| folder.join("mechanisms")) {
            if !own.contains(&folder) {
                own.push(folder);
            }
        }
        let (pages, trusted) = (self.share.join("mechanisms"), switchcost_machine::only_owner_writes);
        let mut catalogue = switchcost_catalogue::load(&pages, &own, &trusted).map_err(Failure::usage)?;
        // We measure each folder that is named, or refuse it with the reason.
        let lost = |(page, id): &(PathBuf, MechanismId)| {
            let of_it = named_probes().iter().find(|probe| page.starts_with(&probe.folder));
            of_it.is_some_and(|probe| {
                catalogue.find(id).is_some_and(|used| !used.implemented_by.contains(&probe.source))
            })
        };
        if let Some(page) = catalogue.broken.iter().find(|page| page.unused.as_ref().is_some_and(lost)) {
            return Err(Failure::usage(format!("--probe: {}; give one of them another name", page.reason)));
        }
        catalogue.sources = probes.found.into_iter().map(|probe| (probe.id, probe.source)).collect();
        catalogue.broken.extend(probes.broken);
        catalogue.broken.extend(own_words().iter().cloned().chain(broken));
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

    /// Why a name means nothing that a probe of the user's own describes: it has no page. No other
    /// probe is asked.
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

    /// The probe in a folder that was named by hand.
    pub fn probe_in(&self, folder: &Path) -> Result<ProbeInfo, Failure> {
        let refused = |reason| Failure::usage(format!("--probe {}: {reason}", folder.display()));
        // A probe is started in its folder.
        let whole = dunce::canonicalize(folder).map_err(|error| refused(error.to_string()))?;
        self.probe_of(&whole).map_err(refused)
    }

    /// The same of a whole path, or why there is none.
    pub fn probe_of(&self, folder: &Path) -> Result<ProbeInfo, String> {
        let startable = |path: &Path| self.startable(path);
        let mut installed = self.all_probes().found;
        installed.retain(|probe| probe.folder.starts_with(self.probes_folder()));
        switchcost_catalogue::load_trusted_probe(folder, &installed, &startable)
    }

    /// Takes the folders among what `--probe` names, and gives the names of probes. What lies in a
    /// folder is found as if it were installed, and is measured in place of any installed probe of
    /// its source.
    pub fn take_folders(given: &[String]) -> Result<Vec<String>, Failure> {
        let installation = Self::find()?;
        let known = installation.all_probes().found;
        let is_known = |name: &str| known.iter().any(|probe| probe.id == name || probe.source == name);
        let is_folder =
            |name: &&String| name.contains('/') || Path::new(name).join("probe.toml").exists() && !is_known(name);
        let (folders, names): (Vec<&String>, Vec<&String>) = given.iter().partition(is_folder);
        let mut named: Vec<ProbeInfo> = Vec::new();
        for folder in folders {
            let probe = ProbeInfo { priority: NAMED_PRIORITY, ..installation.probe_in(Path::new(folder))? };
            if let Some(other) = named.iter().find(|other| other.id == probe.id && other.folder != probe.folder) {
                let (id, other) = (&probe.id, other.folder.display());
                let cure = "to compare two builds, use compare --measure";
                return Err(Failure::usage(format!(
                    "--probe {folder}: its id {id} is that of {other} as well; {cure}"
                )));
            }
            named.push(probe);
        }
        Self::name(named);
        Ok(names.into_iter().cloned().collect())
    }

    /// From here on these probes are found, and the pages in their folders. A command names them
    /// once.
    pub fn name(probes: Vec<ProbeInfo>) {
        let _ = NAMED.set(probes);
    }

    /// Those that are named, the installation's, then the user's own. One that is named stands for
    /// any other of its id.
    fn all_probes(&self) -> Probes {
        let installed = self.probes_folder();
        let own = own_folder("probes");
        let startable = |path: &Path| self.startable(path);
        let mut folders = vec![(installed.as_path(), &startable as Trusted<'_>)];
        folders.extend(own.as_deref().map(|own| (own, &switchcost_machine::only_owner_writes as _)));
        let mut probes = LOADED.get_or_init(|| switchcost_catalogue::load_probes(&folders)).clone();
        let named = named_probes();
        probes.found.retain(|probe| !named.iter().any(|named| named.id == probe.id));
        probes.found.splice(0..0, named.iter().cloned());
        probes
    }
}

fn named_probes() -> &'static [ProbeInfo] {
    NAMED.get().map_or(&[], Vec::as_slice)
}

/// Adds the user's own experiments and placements to the program's, when it is first called; those
/// that cannot be used.
pub fn own_words() -> &'static [Broken] {
    static BROKEN: LazyLock<Vec<Broken>> = LazyLock::new(|| {
        let beside = own_folder("");
        beside
            .map_or_else(Vec::new, |own| switchcost_catalogue::add_words(&own, &switchcost_machine::only_owner_writes))
    });
    &BROKEN
}

/// Folder of the user's own probes or pages; None where there is no place for it. No file of
/// defaults names it: it holds programs.
fn own_folder(name: &str) -> Option<PathBuf> {
    Some(usual_store().ok()?.parent()?.join(name))
}

/// `--store`, or that of the user's defaults, or the one in the user's folder for data.
pub fn store(given: Option<&Path>) -> Result<PathBuf, Failure> {
    let chosen = || defaults::in_force().and_then(defaults::Defaults::store);
    given.or_else(chosen).map_or_else(usual_store, |path| Ok(path.to_owned()))
}

fn usual_store() -> Result<PathBuf, Failure> {
    let home = std::env::var_os("HOME").map(PathBuf::from);
    switchcost_store::default_path(switchcost_machine::data_home().as_deref(), home.as_deref()).map_err(Failure::usage)
}

/// A folder of what may be forgotten, in the user's folder for such; None where there is no place
/// for it.
pub fn cache(name: &str) -> Option<PathBuf> {
    let home = || std::env::var_os("HOME").map(PathBuf::from).filter(|path| path.is_absolute());
    let base = switchcost_machine::cache_home().or_else(|| home().map(|home| home.join(".cache")))?;
    Some(base.join("switchcost").join(name))
}
