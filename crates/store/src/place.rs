//! Where the store is unless the user says otherwise.

use crate::error::StoreError;
use std::path::{Path, PathBuf};

/// `switchcost/runs.sqlite` under the user's data folder.
///
/// `data_home` is `$XDG_DATA_HOME` and `home` is `$HOME`, both as found in the environment; this
/// crate reads no environment. As the XDG base directory specification asks, a `data_home` that is
/// empty or relative is ignored, and `home/.local/share` takes its place.
///
/// # Errors
/// [`StoreError::NoPlace`] when neither is an absolute path.
pub fn default_path(data_home: Option<&Path>, home: Option<&Path>) -> Result<PathBuf, StoreError> {
    let absolute = |path: &&Path| path.is_absolute();
    let base = match (data_home.filter(absolute), home.filter(absolute)) {
        (Some(data_home), _) => data_home.to_path_buf(),
        (None, Some(home)) => home.join(".local/share"),
        (None, None) => return Err(StoreError::NoPlace),
    };
    Ok(base.join("switchcost").join("runs.sqlite"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(data_home: Option<&str>, home: Option<&str>, expected: Option<&str>) {
        let found = default_path(data_home.map(Path::new), home.map(Path::new)).ok();
        assert_eq!(found, expected.map(PathBuf::from), "{data_home:?} {home:?}");
    }

    #[test]
    fn data_home_first_then_home() {
        check(Some("/d"), Some("/h"), Some("/d/switchcost/runs.sqlite"));
        check(None, Some("/h"), Some("/h/.local/share/switchcost/runs.sqlite"));
        check(Some(""), Some("/h"), Some("/h/.local/share/switchcost/runs.sqlite"));
        check(Some("relative"), Some("/h"), Some("/h/.local/share/switchcost/runs.sqlite"));
        check(None, Some("h"), None);
        check(None, None, None);
    }
}
