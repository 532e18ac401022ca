//! The claims of order that pages make (data/claims.toml), held against the intervals of kept runs.

use crate::pages::{Figures, Kept, row, source};
use crate::places::top;
use anyhow::{Context, bail};
use serde::Deserialize;
use std::fs;
use std::path::Path;
use switchcost_analysis::number::nanoseconds;
use switchcost_analysis::{Analysis, usable};

const FILE: &str = "data/claims.toml";

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Claims {
    claims: Vec<Group>,
}

/// The claims that a page makes of a run, each of the form `ROW < ROW`; a side may be `FACTOR ×
/// ROW`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Group {
    page: String,
    run: String,
    hold: Vec<String>,
}

/// Fails, naming the claims that do not hold for the runs in a folder.
pub fn check(folder: &Path) -> anyhow::Result<()> {
    let text = fs::read_to_string(top().join(FILE)).with_context(|| format!("cannot read {FILE}"))?;
    let Claims { claims } = toml::from_str(&text).with_context(|| format!("{FILE} is not of its form"))?;
    let kept = Kept::read(folder)?;
    let figures = kept.figures();
    let refuted: Vec<String> = claims.iter().flat_map(|group| group.refuted(&figures)).collect();
    if !refuted.is_empty() {
        bail!("these claims do not hold; change the sentences that make them:\n{}", refuted.join("\n"));
    }
    Ok(())
}

impl Group {
    /// A line for each claim that does not hold, or whose rows the page does not quote.
    fn refuted(&self, figures: &Figures<'_>) -> Vec<String> {
        let judged = |claim: &String| -> anyhow::Result<()> {
            let (smaller, larger) = claim.split_once(" < ").context("a claim has the form `ROW < ROW`")?;
            let (smaller, larger) = (side(smaller)?, side(larger)?);
            let page = source(&self.page)?;
            for (_, label) in [smaller, larger] {
                let quoted = |end: &str| page.contains(&format!("{{{{{} {label}{end}", self.run));
                if !quoted("}}") && !quoted(": ") {
                    bail!("the page does not quote `{label}`");
                }
            }
            let run = figures.run(&self.run)?;
            let (first, second) = (ends(run, smaller)?, ends(run, larger)?);
            if first.1 >= second.0 {
                let shown = |(low, high)| format!("{} – {}", nanoseconds(low), nanoseconds(high));
                bail!("{} is not below {}", shown(first), shown(second));
            }
            Ok(())
        };
        let line = |claim: &String| Some(format!("{}, {}: {claim}: {:#}", self.page, self.run, judged(claim).err()?));
        self.hold.iter().filter_map(line).collect()
    }
}

/// Factor and label.
fn side(text: &str) -> anyhow::Result<(f64, &str)> {
    match text.split_once(" × ") {
        Some((factor, label)) => Ok((factor.parse().with_context(|| format!("{factor} is not a number"))?, label)),
        None => Ok((1.0, text)),
    }
}

/// Ends of the row's interval, or the lowest and the highest of its groups, times the factor.
fn ends(run: &Analysis<'_>, (factor, label): (f64, &str)) -> anyhow::Result<(f64, f64)> {
    let row = row(run, label)?;
    usable(row).map_err(|reason| anyhow::anyhow!("{label}: {reason}"))?;
    let groups = || row.summary.modes.iter().map(|mode| mode.value);
    let spread = groups().min_by(f64::total_cmp).zip(groups().max_by(f64::total_cmp));
    let (low, high) = spread.or_else(|| row.interval()).with_context(|| format!("{label} has no interval"))?;
    Ok((low * factor, high * factor))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::places::KEPT;

    #[test]
    fn every_claim_holds_for_the_kept_runs() {
        check(&top().join(KEPT)).unwrap();
    }

    #[test]
    fn a_claim_fails_if_its_intervals_overlap_or_it_means_nothing() {
        let kept = Kept::read(&top().join(KEPT)).unwrap();
        let figures = kept.figures();
        let refuted = |claim: &str| {
            let group =
                Group { page: "docs/findings/isolation.md".into(), run: "isolation".into(), hold: vec![claim.into()] };
            group.refuted(&figures).join("\n")
        };
        assert_eq!(refuted("thread/pipe < vm/pair"), "");
        assert_eq!(refuted("process/pipe < 1.25 × thread/pipe"), "");
        for (claim, words) in [
            ("vm/pair < thread/pipe", "is not below"),
            ("thread/pipe two_cpus < process/pipe two_cpus", "is not below"),
            ("100 × thread/pipe < vm/pair", "is not below"),
            ("thread/futex < vm/pair", "does not quote `thread/futex`"),
            ("thread/pipe and vm/pair", "has the form"),
            ("many × thread/pipe < vm/pair", "many is not a number"),
        ] {
            assert!(refuted(claim).contains(words), "{claim}: {}", refuted(claim));
        }
    }
}
