//! Lists of nodes, as typed or in a file.

use crate::answer::is_plain;
use std::collections::BTreeMap;
use std::io::Read as _;
use std::path::Path;
use switchcost_model::decoded;
use switchcost_session::Failure;

/// Most nodes of a list.
const MOST_NODES: usize = 100_000;

/// Longest list, bytes: so many nodes with their hosts have a fourth of it.
const MOST_BYTES: u64 = 16 * 1024 * 1024;

/// Nodes, each with its physical host where that is known, in their order.
pub fn nodes(flag: &str, given: &str) -> Result<Vec<(String, Option<String>)>, Failure> {
    let refuse = |reason: String| Failure::usage(format!("{flag} {given}: {reason}"));
    let lines: Vec<String> = if Path::new(given).is_file() {
        let mut bytes = Vec::new();
        let file = switchcost_machine::open_file(Path::new(given));
        let read = file.and_then(|file| file.take(MOST_BYTES + 1).read_to_end(&mut bytes));
        read.map_err(|error| refuse(format!("cannot be read ({})", switchcost_machine::cause(&error))))?;
        if bytes.len() as u64 > MOST_BYTES {
            return Err(refuse(format!("longer than {} MB; split the list", MOST_BYTES >> 20)));
        }
        let text = decoded(&bytes).map_err(refuse)?;
        let lines = text.lines().map(|line| line.split('#').next().unwrap_or_default().trim().to_owned());
        lines.filter(|line| !line.is_empty()).collect()
    } else {
        apart(given).into_iter().map(|name| name.trim().to_owned()).collect()
    };
    let mut known = BTreeMap::new();
    let mut all = Vec::new();
    for line in lines {
        let mut words = line.split_whitespace();
        let names = unfolded(words.next().unwrap_or_default()).map_err(refuse)?;
        let host = words.next().map(str::to_owned);
        let odd = names.iter().chain(&host).find(|word| !is_plain(word));
        if let Some(word) = odd {
            let cure =
                "name a file, or nodes of letters, digits, dots, hyphens and underscores; n[1-3,7] stands for several";
            return Err(refuse(format!("`{word}` is not a name of a node; {cure}")));
        }
        for name in names {
            if known.insert(name.clone(), ()).is_some() {
                return Err(refuse(format!("`{name}` stands there twice; name each node once")));
            }
            all.push((name, host.clone()));
        }
    }
    match all.len() {
        0 => Err(refuse("it names no node; put one on each line".to_owned())),
        many if many > MOST_NODES => Err(refuse(format!("more than {MOST_NODES} nodes; split the list"))),
        _ => Ok(all),
    }
}

/// The parts between the commas that stand in no brackets.
fn apart(list: &str) -> Vec<&str> {
    let mut depth = 0_usize;
    let comma = |letter: char| {
        depth = match letter {
            '[' => depth + 1,
            ']' => depth.saturating_sub(1),
            _ => depth,
        };
        letter == ',' && depth == 0
    };
    list.split(comma).collect()
}

/// The names that a folded one of Slurm's stands for: `r[1-2]n[01-16,20]`, with as many digits as
/// the first number of a range has.
///
/// # Errors
/// A clause that says what is wrong with it.
fn unfolded(folded: &str) -> Result<Vec<String>, String> {
    let odd = |part: &str| format!("`{part}` of `{folded}` is not a range of numbers; write n[1-3,7]");
    let mut names = vec![String::new()];
    let mut rest = folded;
    while let Some((before, from)) = rest.split_once('[') {
        let (ranges, after) = from.split_once(']').ok_or_else(|| odd(from))?;
        let mut numbers: Vec<String> = Vec::new();
        for range in ranges.split(',') {
            let (first, last) = range.split_once('-').unwrap_or((range, range));
            let number = |text: &str| {
                let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
                text.parse::<usize>().ok().filter(|_| digits).ok_or_else(|| odd(range))
            };
            let (low, high, digits) = (number(first)?, number(last)?, first.len());
            if high < low {
                return Err(odd(range));
            }
            if names.len().saturating_mul(high - low + 1 + numbers.len()) > MOST_NODES {
                return Err(format!("more than {MOST_NODES} nodes; split the list"));
            }
            numbers.extend((low..=high).map(|number| format!("{number:0digits$}")));
        }
        let each = |name: &String| -> Vec<String> { numbers.iter().map(|n| format!("{name}{before}{n}")).collect() };
        names = names.iter().flat_map(each).collect();
        rest = after;
    }
    names.iter_mut().for_each(|name| name.push_str(rest));
    Ok(names)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folded_lists_are_unfolded_as_slurm_does() {
        let names = |list: &str| -> Result<Vec<String>, String> {
            Ok(nodes("--nodes", list).map_err(|failure| failure.sentence)?.into_iter().map(|(name, _)| name).collect())
        };
        for (list, expected) in [
            ("n1,n2", "n1 n2"),
            ("n[001-003]", "n001 n002 n003"),
            ("n[1,3]", "n1 n3"),
            ("n[8-10],login", "n8 n9 n10 login"),
            ("r[1-2]n[01-02,7]-ib", "r1n01-ib r1n02-ib r1n7-ib r2n01-ib r2n02-ib r2n7-ib"),
        ] {
            assert_eq!(names(list).unwrap().join(" "), expected);
        }
        for odd in ["n[1", "n[]", "n[1-]", "n[3-1]", "n[a-b]", "n[1-2", "n]1", "n[+1]"] {
            assert!(names(odd).is_err(), "{odd}");
        }
        for many in ["n[1-999999999999]", "a[1-999]b[1-999]"] {
            assert!(names(many).unwrap_err().contains("more than"), "{many}");
        }
        assert!(names("n[1-2],n2").unwrap_err().contains("twice"));
    }
}
