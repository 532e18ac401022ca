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
        given.split(',').map(|name| name.trim().to_owned()).collect()
    };
    let mut known = BTreeMap::new();
    let mut all = Vec::new();
    for line in lines {
        let mut words = line.split_whitespace();
        let name = words.next().unwrap_or_default().to_owned();
        let host = words.next().map(str::to_owned);
        let odd = [Some(&name), host.as_ref()].into_iter().flatten().find(|word| !is_plain(word));
        if let Some(word) = odd {
            let cure = "name a file, or nodes of letters, digits, dots, hyphens and underscores";
            return Err(refuse(format!("`{word}` is not a name of a node; {cure}")));
        }
        if known.insert(name.clone(), ()).is_some() {
            return Err(refuse(format!("`{name}` stands there twice; name each node once")));
        }
        all.push((name, host));
    }
    match all.len() {
        0 => Err(refuse("it names no node; put one on each line".to_owned())),
        many if many > MOST_NODES => Err(refuse(format!("more than {MOST_NODES} nodes; split the list"))),
        _ => Ok(all),
    }
}
