//! Two builds of a probe, of two revisions or by two compilers: A is the first, B the second.

use super::arguments::Compare;
use std::path::{Path, PathBuf};
use std::time::Instant;
use switchcost_model::{ProbeInfo, Request};
use switchcost_session::{Failure, Installation, Session};

/// Folders of two builds of a probe, and what people call them.
#[derive(Debug, Clone)]
pub struct Builds {
    /// A's, then B's.
    pub folders: [PathBuf; 2],
    /// As typed, or a commit and the path in it.
    pub names: [String; 2],
}

impl Builds {
    /// The folders as they lie there.
    pub fn folders(&self) -> [&Path; 2] {
        self.folders.each_ref().map(PathBuf::as_path)
    }
}

/// The builds that lie in folders, if any is given.
pub fn given(arguments: &Compare) -> Result<Option<Builds>, Failure> {
    match arguments.measure.probe.as_slice() {
        [] => Ok(None),
        [a, b] => {
            let names = [a, b].map(|folder| folder.display().to_string());
            Ok(Some(Builds { folders: [a.clone(), b.clone()], names }))
        }
        folders => Err(Failure::usage(format!(
            "--probe is given {}; give it twice: the folder of A's build, then that of B's",
            if folders.len() == 1 { "once".to_owned() } else { format!("{} times", folders.len()) }
        ))),
    }
}

/// Both probes, each under an id of its own: two builds have one id, as a rule.
pub fn load(folders: [&Path; 2]) -> Result<[ProbeInfo; 2], Failure> {
    let installation = Installation::find()?;
    let one = |folder: &Path, side: &str| -> Result<ProbeInfo, Failure> {
        let probe = installation.probe_in(folder)?;
        Ok(ProbeInfo { id: format!("{}.{side}", probe.id), ..probe })
    };
    let both = match (one(folders[0], "a"), one(folders[1], "b")) {
        (Ok(a), Ok(b)) => [a, b],
        (Err(a), Err(b)) if folders[0] != folders[1] => {
            return Err(Failure::usage(format!("{}; {}", a.sentence, b.sentence)));
        }
        (Err(one), _) | (_, Err(one)) => return Err(one),
    };
    Installation::name(both.to_vec());
    Ok(both)
}

/// A session with both probes, and with those of others that the request needs: a control that
/// bounds a row is another program's.
pub fn session(
    builds: &[ProbeInfo; 2],
    request: &Request,
    arguments: &Compare,
    started: Instant,
) -> Result<Session, Failure> {
    Session::by(
        |installation, catalogue, _| {
            let with_rights =
                |probe: &ProbeInfo| ProbeInfo { capabilities: catalogue.capabilities(&probe.source), ..probe.clone() };
            let others = switchcost_runner::needed(request, catalogue, installation.probes(catalogue));
            let others = others.into_iter().filter(|other| builds.iter().all(|build| build.source != other.source));
            Ok(builds.iter().map(with_rights).chain(others).collect())
        },
        None,
        started,
        Some(request.budget),
        &arguments.measure.how,
    )
}
