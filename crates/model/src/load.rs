//! What an open-loop experiment asks of its surroundings, from the parameters of a variant.

use crate::{Parameters, Variant};

/// Period, waiter and hogs of a row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Load {
    /// Between two intended times, ns.
    pub period_ns: u64,
    /// Class of the probe's tasks.
    pub class: String,
    /// Their nice value.
    pub nice: i32,
    /// Their slice, ns; 0: the kernel's own.
    pub slice_ns: u64,
    /// Hogs of each CPU.
    pub hogs: u64,
    /// Hogs fork and sleep; otherwise they compute.
    pub forking: bool,
    /// Class of the hogs.
    pub hog_class: String,
    /// Their slice, ns; 0: the kernel's own.
    pub hog_slice_ns: u64,
}

impl Load {
    /// Names of the parameters that the host carries out itself, so that probes are not told.
    pub const BY_HOST: &[&str] = &["hogs", "hog_kind", "hog_class", "hog_slice", "class", "nice", "slice"];

    /// What these parameters ask for; what is not named is as usual.
    #[must_use]
    pub fn of(parameters: &Parameters) -> Self {
        let word = |name: &str| parameters.get(name).cloned();
        let number = |name: &str| word(name).and_then(|value| value.parse::<u64>().ok()).unwrap_or(0);
        let class = |name: &str| word(name).unwrap_or_else(|| "other".to_owned());
        Self {
            period_ns: number("period").saturating_mul(1000),
            class: class("class"),
            nice: word("nice").and_then(|value| value.parse().ok()).unwrap_or(0),
            slice_ns: number("slice").saturating_mul(1000),
            hogs: number("hogs"),
            forking: word("hog_kind").as_deref() == Some("fork"),
            hog_class: class("hog_class"),
            hog_slice_ns: number("hog_slice").saturating_mul(1000),
        }
    }

    /// The tasks have neither a class nor a nice value nor a slice of their own.
    #[must_use]
    pub fn is_usual(&self) -> bool {
        self.class == "other" && self.nice == 0 && self.slice_ns == 0
    }
}

impl Variant {
    /// The parameters that a probe is told: without those that the host carries out itself.
    pub fn sent(&self) -> impl Iterator<Item = (&String, &String)> {
        let own = |name: &str| self.experiment.open_loop && Load::BY_HOST.contains(&name);
        self.parameters.iter().filter(move |(name, _)| !own(name))
    }
}
