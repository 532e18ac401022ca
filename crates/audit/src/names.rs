//! Threads of a service by their process's name and their own.

use crate::cost::ThreadCost;
use std::collections::BTreeMap;

/// All threads of one name.
#[derive(Debug, Clone, PartialEq)]
pub struct Named<'a> {
    /// Name of their processes.
    pub program: &'a str,
    /// Their own.
    pub name: &'a str,
    /// How many there were, those that ended too.
    pub threads: u64,
    /// Their voluntary switches.
    pub voluntary: u64,
    /// Their involuntary ones.
    pub involuntary: u64,
    /// What their switches cost, ns of CPU time.
    pub cost: f64,
    /// Looks at which they waited in each function of the kernel.
    pub channels: BTreeMap<String, u32>,
    /// No look saw any of them wait.
    pub supposed: bool,
}

/// The most expensive first.
pub fn by_name(threads: &[ThreadCost]) -> Vec<Named<'_>> {
    let mut all: BTreeMap<(&str, &str), Named<'_>> = BTreeMap::new();
    for thread in threads {
        let (program, name) = (thread.seen.program.as_str(), thread.seen.name.as_str());
        let one = all.entry((program, name)).or_insert_with(|| Named {
            program,
            name,
            threads: 0,
            voluntary: 0,
            involuntary: 0,
            cost: 0.0,
            channels: BTreeMap::new(),
            supposed: true,
        });
        one.threads += 1;
        one.voluntary += thread.seen.voluntary;
        one.involuntary += thread.seen.involuntary;
        one.cost += thread.cost.value;
        one.supposed &= thread.supposed;
        for (channel, looks) in &thread.seen.channels {
            *one.channels.entry(channel.clone()).or_default() += looks;
        }
    }
    let mut all: Vec<Named<'_>> = all.into_values().collect();
    all.sort_by(|a, b| b.cost.total_cmp(&a.cost));
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cost::Estimate;
    use switchcost_machine::program::ThreadSeen;

    #[test]
    fn threads_that_come_and_go_are_one_line() {
        let thread = |program: &str, name: &str, id: u32, voluntary: u64| ThreadCost {
            seen: ThreadSeen {
                thread: id,
                name: name.into(),
                program: program.into(),
                voluntary,
                channels: [("futex".to_owned(), 1)].into(),
                ..ThreadSeen::default()
            },
            supposed: false,
            cost: Estimate { value: voluntary as f64, low: 0.0, high: 0.0 },
        };
        let threads = [
            thread("web", "worker", 1, 5),
            thread("web", "worker", 2, 6),
            thread("db", "worker", 3, 90),
            thread("web", "web", 4, 0),
        ];
        let found = by_name(&threads);
        let brief: Vec<(&str, &str, u64, u64)> =
            found.iter().map(|one| (one.program, one.name, one.threads, one.voluntary)).collect();
        assert_eq!(brief, [("db", "worker", 1, 90), ("web", "worker", 2, 11), ("web", "web", 1, 0)]);
        assert_eq!(found[1].channels["futex"], 2);
    }
}
