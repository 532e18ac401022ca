//! What columns and words mean: README says it, and `show --legend` prints that.

use crate::Style;
use crate::text::wrapped;

const README: &str = include_str!("../../../README.md");

/// The rows of its table, a paragraph each.
#[must_use]
pub fn legend(style: Style) -> String {
    let section = README.split("\n## ").find(|section| section.starts_with("How to read a number")).unwrap_or_default();
    let rows = section.lines().filter_map(|line| line.strip_prefix("| ")?.strip_suffix(" |")?.split_once(" | "));
    let plain = |text: &str| text.replace(['`', '*'], "");
    rows.filter(|(seen, _)| *seen != "you see")
        .map(|(seen, means)| wrapped("", &format!("{}: {}", plain(seen), plain(means)), style))
        .collect()
}
