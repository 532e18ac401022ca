//! How a person names a run: whole id, unique beginning of an id, `latest`, `latest~N`.

use crate::error::StoreError;
use std::path::Path;
use switchcost_model::harmless;

/// The id that `selector` names among `ids`, which are in order from newest to oldest. The first of
/// them were `measured` here: `latest` is one of these.
///
/// A whole id wins over a beginning, so that an id that is the beginning of another can still be
/// named.
pub fn resolve<'a>(path: &Path, ids: &'a [String], measured: usize, selector: &str) -> Result<&'a str, StoreError> {
    let newest = ids.first().ok_or_else(|| StoreError::Empty { path: path.to_path_buf() })?;
    let unknown =
        |hint: String| StoreError::UnknownRun { path: path.to_path_buf(), selector: harmless(selector), hint };
    if let Some(back) = steps_back(selector) {
        return ids.iter().take(measured).nth(back).map(String::as_str).ok_or_else(|| {
            unknown(match measured.checked_sub(1) {
                Some(last) => format!("{measured} runs were measured here, and the oldest is `latest~{last}`"),
                None => format!("it holds imported runs only; name one by its id, such as `{newest}`"),
            })
        });
    }
    if let Some(id) = ids.iter().find(|id| *id == selector) {
        return Ok(id);
    }
    let fitting: Vec<&String> = ids.iter().filter(|id| !selector.is_empty() && id.starts_with(selector)).collect();
    match fitting[..] {
        [id] => Ok(id),
        [] => {
            let nearest = nearest(ids, selector).unwrap_or(newest);
            Err(unknown(format!("the nearest is `{nearest}`; `latest` and `latest~1` also name runs")))
        }
        [newest, ..] => Err(StoreError::Ambiguous {
            path: path.to_path_buf(),
            selector: selector.to_owned(),
            count: fitting.len(),
            newest: newest.clone(),
        }),
    }
}

/// N of `latest~N`, 0 for `latest`.
pub fn steps_back(selector: &str) -> Option<usize> {
    match selector.strip_prefix("latest")? {
        "" => Some(0),
        rest => rest.strip_prefix('~')?.parse().ok(),
    }
}

/// The id with the longest beginning in common, the newest of several; `None` if not even one
/// character is.
fn nearest<'a>(ids: &'a [String], selector: &str) -> Option<&'a String> {
    let common = |id: &String| id.bytes().zip(selector.bytes()).take_while(|(a, b)| a == b).count();
    let most = ids.iter().map(common).max().filter(|most| *most > 0)?;
    ids.iter().find(|id| common(id) == most)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(ids: &[&str], selector: &str, expected: Result<&str, &str>) {
        check_measured(ids, ids.len(), selector, expected);
    }

    fn check_measured(ids: &[&str], measured: usize, selector: &str, expected: Result<&str, &str>) {
        let ids: Vec<String> = ids.iter().map(|id| (*id).to_owned()).collect();
        let found = resolve(Path::new("/s"), &ids, measured, selector).map_err(|error| error.to_string());
        assert_eq!(found.as_deref().map_err(String::as_str), expected, "{selector}");
    }

    const IDS: &[&str] = &["20260103T000000-c3", "20260102T000000-b2", "20260102T000000-b", "20260101T000000-a1"];

    #[test]
    fn ids_beginnings_and_latest() {
        check(IDS, "20260101T000000-a1", Ok("20260101T000000-a1"));
        check(IDS, "20260101", Ok("20260101T000000-a1"));
        check(IDS, "20260102T000000-b", Ok("20260102T000000-b"));
        check(IDS, "latest", Ok("20260103T000000-c3"));
        check(IDS, "latest~0", Ok("20260103T000000-c3"));
        check(IDS, "latest~3", Ok("20260101T000000-a1"));
    }

    #[test]
    fn an_import_is_named_by_its_id_alone() {
        check_measured(IDS, 2, "latest~1", Ok("20260102T000000-b2"));
        check_measured(IDS, 2, "20260101", Ok("20260101T000000-a1"));
        let beyond = "2 runs were measured here, and the oldest is `latest~1`";
        check_measured(IDS, 2, "latest~2", Err(&format!("no run in `/s` is called `latest~2`; {beyond}")));
        let none = "it holds imported runs only; name one by its id, such as `20260103T000000-c3`";
        check_measured(IDS, 0, "latest", Err(&format!("no run in `/s` is called `latest`; {none}")));
    }

    #[test]
    fn what_is_not_there_is_answered_with_what_is() {
        check(
            IDS,
            "latest~4",
            Err("no run in `/s` is called `latest~4`; 4 runs were measured here, and the oldest is `latest~3`"),
        );
        check(
            IDS,
            "20260102",
            Err("`20260102` fits 2 runs in `/s`, the newest being `20260102T000000-b2`; type more of the id"),
        );
        let nearest = "the nearest is `20260102T000000-b2`; `latest` and `latest~1` also name runs";
        check(IDS, "20260102X", Err(&format!("no run in `/s` is called `20260102X`; {nearest}")));
        let newest = "the nearest is `20260103T000000-c3`; `latest` and `latest~1` also name runs";
        for wrong in ["lastest", "latest~-1", "latest~", "latest~99999999999999999999", ""] {
            check(IDS, wrong, Err(&format!("no run in `/s` is called `{wrong}`; {newest}")));
        }
        check(&[], "latest", Err("the store `/s` holds no runs yet; measure something first, or import a run file"));
    }
}
