//! `data/kernels.toml`.

use serde::Deserialize;

/// Rows that are counted, and the parts of a kernel.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Data {
    /// Rows if nobody names any.
    pub rows: Vec<String>,
    /// A row that makes no system call: it must be equal in all kernels.
    pub control: String,
    /// Beginnings of names of options that change what a switch does.
    pub options: Vec<String>,
    /// Parts of a kernel by the names of their functions; the first that fits counts.
    pub parts: Vec<Part>,
}

/// A part of a kernel.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Part {
    /// Its name.
    pub name: String,
    /// Globs with at most one `*` at either end.
    pub functions: Vec<String>,
}

impl Data {
    /// The part that a function belongs to.
    #[must_use]
    pub fn part_of(&self, function: &str) -> &str {
        let fits = |glob: &String| match (glob.strip_prefix('*'), glob.strip_suffix('*')) {
            (Some(inner), Some(_)) => function.contains(inner.trim_end_matches('*')),
            (Some(end), None) => function.ends_with(end),
            (None, Some(start)) => function.starts_with(start),
            (None, None) => function == glob,
        };
        self.parts.iter().find(|part| part.functions.iter().any(fits)).map_or("other", |part| &part.name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_function_belongs_to_the_first_part_that_fits() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../data/kernels.toml");
        let data: Data = switchcost_catalogue::read(std::path::Path::new(path)).unwrap();
        for (function, part) in [
            ("__x64_sys_futex", "futex"),
            ("do_syscall_64", "entry"),
            ("pick_next_task_fair", "sched"),
            ("hrtimer_interrupt", "timer"),
            ("mem_cgroup_charge", "memcg"),
            ("psi_group_change", "psi"),
            ("nobody_knows", "other"),
        ] {
            assert_eq!(data.part_of(function), part, "{function}");
        }
    }
}
