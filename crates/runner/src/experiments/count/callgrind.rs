//! One part of what callgrind writes: the format of its files is that of the valgrind manual,
//! "Callgrind Format Specification".

use std::collections::BTreeMap;
use switchcost_model::Obstacle;

/// What was executed between two moments.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Counts {
    /// Program and version.
    pub by: String,
    /// Instructions at user level.
    pub instructions: u64,
    /// Calls of the kernel.
    pub system_calls: u64,
    /// Function → instructions of its own, those of what it calls left out.
    pub functions: BTreeMap<String, u64>,
    /// Function → calls of the kernel that it makes itself.
    pub callers: BTreeMap<String, u64>,
}

impl Counts {
    /// Reads a file that was written without compressed names.
    pub(super) fn parse(text: &str) -> Result<Self, Obstacle> {
        let mut part = Self::default();
        let mut events: Vec<&str> = Vec::new();
        let (mut object, mut function) = ("", "");
        let mut totals = None;
        let mut inclusive = false;
        for line in text.lines() {
            if let Some(by) = line.strip_prefix("creator: ") {
                part.by = format!("valgrind, {by}");
            } else if let Some(names) = line.strip_prefix("events: ") {
                events = names.split_whitespace().collect();
            } else if let Some(name) = line.strip_prefix("ob=") {
                object = name.rsplit('/').next().unwrap_or(name);
            } else if let Some(name) = line.strip_prefix("fn=") {
                function = name;
            } else if line.starts_with("calls=") {
                inclusive = true;
            } else if let Some(sums) = line.strip_prefix("totals: ") {
                totals = Some(sums);
            } else if line.starts_with(|first: char| first.is_ascii_digit()) {
                // Positions come first, and there is one: the line.
                let own = !std::mem::take(&mut inclusive);
                for (event, costs) in [("Ir", &mut part.functions), ("sysCount", &mut part.callers)] {
                    let place = events.iter().position(|name| *name == event).map_or(usize::MAX, |place| place + 1);
                    // Zeros at the end are left out.
                    let cost = line.split_whitespace().nth(place).map_or(Ok(0), number)?;
                    if own && cost > 0 {
                        *costs.entry(named(object, function)).or_default() += cost;
                    }
                }
            }
        }
        let totals = totals.ok_or_else(|| lacks("totals"))?;
        let sums: Vec<u64> = totals.split_whitespace().map(number).collect::<Result<_, _>>()?;
        let of = |event: &str| {
            Some(events.iter().position(|name| *name == event)?).map(|at| sums.get(at).copied().unwrap_or(0))
        };
        part.instructions = of("Ir").ok_or_else(|| lacks("instructions"))?;
        part.system_calls = of("sysCount").ok_or_else(|| lacks("system calls"))?;
        Ok(part)
    }
}

fn lacks(what: &str) -> Obstacle {
    Obstacle::PartLacks { what: what.to_owned() }
}

fn number(text: &str) -> Result<u64, Obstacle> {
    text.parse().map_err(|_| Obstacle::PartUnread { text: text.to_owned() })
}

/// A function without a symbol has an address, which says nothing beyond its object.
fn named(object: &str, function: &str) -> String {
    // Of a function within itself callgrind counts each depth apart.
    let function = function
        .rsplit_once('\'')
        .filter(|(_, depth)| depth.bytes().all(|b| b.is_ascii_digit()))
        .map_or(function, |(name, _)| name);
    let nameless = function.is_empty() || function.starts_with("0x") || function == "???";
    if nameless { format!("{object} (no symbols)") } else { function.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "# callgrind format\nversion: 1\ncreator: callgrind-3.19.0\npid: 7\ncmd: ./probe run\npart: 3\n\n\
        positions: line\nevents: Ir sysCount sysTime\nsummary: 119 2\n\n\
        ob=/usr/lib/libc.so.6\nfl=swap.S\nfn=swapcontext\n69 20\n74 10 2\n\n\
        ob=/tmp/probe\nfl=ring.h\nfn=probe::Ring::run(unsigned long)\n12 9\ncob=/usr/lib/libc.so.6\ncfi=swap.S\ncfn=swapcontext\ncalls=2 69\n13 30 2\n\
        fn=swapcontext'2\n69 5\nfn=0x0000000000001020\n0 45\nfn=0x0000000000001030\n0 30\n\ntotals: 119 2\n";

    #[test]
    fn functions_have_what_they_executed_themselves() {
        let part = Counts::parse(TEXT).unwrap();
        assert_eq!((part.instructions, part.system_calls, part.by.as_str()), (119, 2, "valgrind, callgrind-3.19.0"));
        let functions: Vec<(&str, u64)> = part.functions.iter().map(|(name, count)| (name.as_str(), *count)).collect();
        assert_eq!(
            functions,
            [("probe (no symbols)", 75), ("probe::Ring::run(unsigned long)", 9), ("swapcontext", 35)]
        );
        assert_eq!(part.callers.into_iter().collect::<Vec<_>>(), [("swapcontext".to_owned(), 2)]);
    }

    #[test]
    fn a_file_that_was_cut_is_none() {
        assert!(Counts::parse(&TEXT[..TEXT.len() - 20]).unwrap_err().to_string().contains("totals"));
        assert!(Counts::parse("").is_err());
        assert!(Counts::parse("totals: 4").unwrap_err().to_string().contains("no instructions"));
        assert!(
            Counts::parse(&TEXT.replace("Ir sysCount", "Ir sysCalls"))
                .unwrap_err()
                .to_string()
                .contains("no system calls")
        );
        for (number, other) in [("12 9", "12 nine"), ("totals: 119", "totals: many")] {
            assert!(
                Counts::parse(&TEXT.replace(number, other)).unwrap_err().to_string().contains("where a number belongs"),
                "{other}"
            );
        }
    }
}
