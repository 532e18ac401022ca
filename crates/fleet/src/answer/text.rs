//! The verdict for a terminal: the answer first, then each odd node, then what the others are like.

use super::{Fleet, FleetFact, FleetFinding, FleetGroup, FleetKinds, FleetNode, FleetRow};
use std::collections::BTreeMap;
use switchcost_analysis::Quantity;
use switchcost_analysis::number::{counted, nanoseconds};
use switchcost_model::{Value, harmless};
use switchcost_report::answer::{Cell, Section};
use switchcost_report::text::{Style, listed, wrapped};

/// Facts and rows of a node that are told, at most.
const MOST: usize = 4;

/// Problems that are told, at most.
const MOST_PROBLEMS: usize = 20;

/// `fleet judge` for a terminal.
#[must_use]
pub fn fleet_text(fleet: &Fleet, style: Style) -> String {
    let mut out = style.headline(&answer(fleet));
    if !fleet.missing.is_empty() {
        let names = listed(fleet.missing.clone());
        out += &wrapped("", &format!("{} did not answer: {names}", counted(fleet.missing.len(), "node")), style);
    }
    if !fleet.unexpected.is_empty() {
        out += &wrapped("", &format!("answered and was not expected: {}", listed(fleet.unexpected.clone())), style);
    }
    if fleet.nodes.iter().any(|node| node.judged) {
        let cure = "--confirm LAUNCHER measures odd nodes again; do that before a node is taken out";
        let unsure = fleet.nodes.iter().any(|node| node.odd && node.confirmed != Some(true));
        let text = if unsure { format!("{} {cure}.", fleet.caution) } else { fleet.caution.to_owned() };
        out += &wrapped("", &text, style);
    }
    for node in fleet.nodes.iter().filter(|node| node.odd) {
        out.push('\n');
        out += &odd(node, style);
    }
    let cleared = fleet.nodes.iter().filter(|node| node.confirmed == Some(false) && !node.findings.is_empty());
    let cleared: Vec<String> = cleared.map(|node| node.node.clone()).collect();
    if !cleared.is_empty() {
        let text = format!("odd at first and not when measured again, so not named: {}", listed(cleared));
        out += &wrapped("\n", &text, style);
    }
    let moved = fleet.nodes.iter().filter(|node| node.history == Some("changed"));
    for node in moved {
        let what = changes(node);
        out += &wrapped(
            "\n",
            &format!("{} is like the others, and changed since the earlier rounds: {what}", node.node),
            style,
        );
    }
    out += &groups(fleet, style);
    out += &problems(fleet, style);
    if !fleet.drain.is_empty() {
        out += "\nTo take those that were odd again out of Slurm (printed only, never run):\n";
        out += &format!(
            "  scontrol update nodename={} state=drain reason=\"switchcost: unlike the other nodes\"\n",
            fleet.drain.join(",")
        );
    }
    style.sealed(&out)
}

fn answer(fleet: &Fleet) -> String {
    let odd = fleet.nodes.iter().filter(|node| node.odd).count();
    let judged = fleet.nodes.iter().filter(|node| node.judged).count();
    let answered = fleet.nodes.len();
    let busy = fleet.disturbed().map(|busy| {
        let all = counted(judged, "node");
        format!("other programs ran beside most starts of {busy} of {all}; measure again when nothing else runs.")
    });
    let beside = |busy: Option<String>| busy.map_or_else(String::new, |busy| format!(" But {busy}"));
    match (answered, judged, odd) {
        (0, ..) if fleet.problems.is_empty() => "No node answered.".to_owned(),
        (0, ..) => "No answer of a node can be read.".to_owned(),
        (_, 0, _) => {
            format!("Inconclusive: {} answered, and no six of them have the same hardware.", counted(answered, "node"))
        }
        (_, _, 0) if fleet.any_kinds() => {
            format!("Inconclusive: {} form clusters, and no cluster is the majority.", counted(judged, "node"))
        }
        (_, _, 0) if busy.is_some() => format!("Inconclusive: {}", busy.unwrap_or_default()),
        (_, _, 0) => format!("All {} look alike.", counted(judged, "node")),
        (_, _, 1) => format!("1 of {} is unlike the others.{}", counted(judged, "node"), beside(busy)),
        (_, _, odd) => format!("{odd} of {} are unlike the others.{}", counted(judged, "node"), beside(busy)),
    }
}

fn odd(node: &FleetNode, style: Style) -> String {
    let history = match node.history {
        Some("new") => ", new since the earlier rounds",
        Some("always") => ", as in the earlier rounds",
        _ => "",
    };
    let again = if node.confirmed == Some(true) { ", measured again" } else { "" };
    let suspect = node.suspect.unwrap_or("unknown");
    let mut out = style.headline(&format!("{}: suspect {suspect}{history}{again}", node.node));
    for fact in node.facts.iter().take(MOST) {
        out += &wrapped("  ", &of_fact(fact), style);
    }
    let more = node.facts.len().saturating_sub(MOST);
    if more > 0 {
        out += &wrapped("  ", &format!("{} more differ", counted(more, "fact")), style);
    }
    for finding in node.findings.iter().take(MOST) {
        out += &wrapped("  ", &of_row(finding), style);
    }
    let more = node.findings.len().saturating_sub(MOST);
    if more > 0 {
        out += &wrapped("  ", &format!("{} more are odd", counted(more, "row")), style);
    }
    if node.history == Some("new") {
        out += &wrapped("  ", &format!("changed: {}", changes(node)), style);
    }
    if let Some(confirm) = node.confirm {
        out += &wrapped("  to confirm: ", confirm, style);
    }
    out
}

fn of_fact(fact: &FleetFact) -> String {
    format!(
        "{} is {}; {} have {}",
        fact.name,
        shortened(&fact.value),
        counted(fact.nodes, "node"),
        shortened(&fact.common)
    )
}

fn of_row(finding: &FleetFinding) -> String {
    let percent = (finding.ratio - 1.0) * 100.0;
    let difference = if finding.ratio < 2.0 { format!("{percent:+.1} %") } else { format!("×{:.2}", finding.ratio) };
    let what = match (finding.what, finding.usual_ns) {
        ("stopped", _) => "time stopped beside the others".to_owned(),
        (_, Some(usual)) => format!("beside {} ns", nanoseconds(usual)),
        _ => "beside the others".to_owned(),
    };
    let p = if finding.p < 1e-6 { "p < 0.000001".to_owned() } else { format!("p = {:.6}", finding.p) };
    format!("{}: {difference} {what} ({}, {p})", finding.row, counted(finding.others, "node"))
}

fn changes(node: &FleetNode) -> String {
    let fact = |fact: &FleetFact| format!("{} {} → {}", fact.name, shortened(&fact.common), shortened(&fact.value));
    let row = |row: &FleetFinding| format!("{} {:+.1} %", row.row, (row.ratio - 1.0) * 100.0);
    let all: Vec<String> = node.facts_changed.iter().map(fact).chain(node.rows_changed.iter().map(row)).collect();
    all.into_iter().take(MOST).collect::<Vec<_>>().join(", ")
}

/// Long facts, such as those of vulnerabilities, would hide the rest.
fn shortened(text: &str) -> String {
    const MOST_LETTERS: usize = 60;
    let text = harmless(text);
    let mut short: String = text.chars().take(MOST_LETTERS).collect();
    if short.len() < text.len() {
        short.push('…');
    }
    short
}

fn groups(fleet: &Fleet, style: Style) -> String {
    let mut out = String::new();
    for (place, group) in fleet.groups.iter().enumerate() {
        let few = if group.judged { "" } else { ": too few for a verdict, six are needed" };
        let name = if group.name.is_empty() { "machine without a name" } else { &group.name };
        out += &wrapped(
            "\n",
            &format!("{} of {} ({}){few}", counted(group.nodes, "node"), harmless(name), group.hardware),
            style,
        );
        for split in &group.facts {
            let others = split.others.iter().map(|other| {
                let nodes =
                    if other.nodes.len() <= MOST { other.nodes.join(", ") } else { counted(other.nodes.len(), "node") };
                format!("{} on {nodes}", shortened(&other.value))
            });
            let others: Vec<String> = others.take(MOST).collect();
            let text = format!(
                "{}: {} on {}; {}",
                split.name,
                shortened(&split.common),
                counted(split.nodes, "node"),
                others.join("; ")
            );
            out += &wrapped("  ", &text, style);
        }
        if !group.rows.is_empty() {
            let titles = [("row", 0), ("through", 2), ("cost", 0), ("between nodes", 0), ("nodes", 1)];
            let row = |row: &FleetRow| {
                vec![
                    Cell::Name(row.row.clone()),
                    row.through.to_string().into(),
                    Cell::Value(Value::Amount(row.median_ns, Quantity::TIME)),
                    format!("± {:.1} %", row.spread * 100.0).into(),
                    row.nodes.into(),
                ]
            };
            out += &Section::new(titles).with(group.rows.iter().map(row)).terminal(style);
        }
        out += &kinds(group, style);
        if !group.since.is_empty() {
            let all = group.since.iter().take(MOST);
            let mut rows: Vec<String> =
                all.map(|one| format!("{} {:+.1} %", shortened(&one.row), (one.ratio - 1.0) * 100.0)).collect();
            let more = group.since.len().saturating_sub(MOST);
            rows.extend((more > 0).then(|| counted(more, "more row")));
            out += &wrapped("  ", &format!("since the earlier rounds, most nodes: {}", rows.join(", ")), style);
        }
        if let Some(spread) = group.clock_spread {
            let text = format!("Costs are compared at the same clock; it differs by ± {:.1} %.", spread * 100.0);
            out += &wrapped("  ", &text, style);
        }
        if group.judged {
            out += &unusable(fleet, place, style);
        }
    }
    out
}

/// Kinds of nodes, those of several rows together.
fn kinds(group: &FleetGroup, style: Style) -> String {
    let mut alike: Vec<(&FleetKinds, usize)> = Vec::new();
    for kinds in &group.kinds {
        let nodes = |kinds: &FleetKinds| kinds.kinds.iter().map(|kind| kind.nodes.clone()).collect::<Vec<_>>();
        match alike.iter_mut().find(|(known, _)| nodes(known) == nodes(kinds)) {
            Some((_, more)) => *more += 1,
            None => alike.push((kinds, 0)),
        }
    }
    let line = |(kinds, more): (&FleetKinds, usize)| {
        let more = if more > 0 { format!(" and {}", counted(more, "more row")) } else { String::new() };
        let each = kinds.kinds.iter().map(|kind| {
            let cost =
                if kind.ratio > 1.0 { format!("{:+.1} %", (kind.ratio - 1.0) * 100.0) } else { "cheapest".into() };
            format!("{} {cost} ({})", counted(kind.nodes.len(), "node"), listed(kind.nodes.clone()))
        });
        let each: Vec<String> = each.collect();
        let text = format!("by {}{more} the nodes form clusters, and none is the majority: ", kinds.row);
        wrapped("  ", &harmless(&(text + &each.join("; "))), style)
    };
    alike.into_iter().map(line).collect()
}

/// Rows that some nodes have no usable figure of: nothing is said of these nodes by them.
fn unusable(fleet: &Fleet, group: usize, style: Style) -> String {
    // Figures in a reason are those of one start, and no two nodes have the same.
    let kind = |reason: &str| reason.chars().filter(|letter| !letter.is_ascii_digit()).collect::<String>();
    let mut rows: BTreeMap<(&str, String), (&str, Vec<String>)> = BTreeMap::new();
    for node in fleet.nodes.iter().filter(|node| node.group == group) {
        for one in &node.unusable {
            let (_, nodes) = rows.entry((&one.row, kind(&one.reason))).or_insert((&one.reason, Vec::new()));
            nodes.push(node.node.clone());
        }
    }
    let more = rows.len().saturating_sub(MOST_PROBLEMS);
    let line = |((row, _), (reason, nodes)): ((&str, String), (&str, Vec<String>))| {
        let (row, number) = (shortened(row), counted(nodes.len(), "node"));
        let text = format!("{row} is not judged on {number}, without a usable figure: {} ({reason})", listed(nodes));
        wrapped("  ", &harmless(&text), style)
    };
    let mut out: String = rows.into_iter().take(MOST_PROBLEMS).map(line).collect();
    if more > 0 {
        out += &wrapped("  ", &format!("{more} more; --format json has them all"), style);
    }
    out
}

fn problems(fleet: &Fleet, style: Style) -> String {
    let mut out = String::new();
    if fleet.problems.is_empty() {
        return out;
    }
    let left_out = fleet.problems.iter().filter(|problem| problem.left_out).count();
    let head =
        if left_out > 0 { format!("{} left out:", counted(left_out, "file")) } else { "Of the files:".to_owned() };
    out += &wrapped("\n", &head, style);
    for problem in fleet.problems.iter().take(MOST_PROBLEMS) {
        let kept = if problem.left_out { "" } else { " (judged all the same)" };
        out += &wrapped("  ", &format!("{}: {}{kept}", problem.file, problem.what), style);
    }
    let more = fleet.problems.len().saturating_sub(MOST_PROBLEMS);
    if more > 0 {
        out += &wrapped("  ", &format!("{more} more; --format json has them all"), style);
    }
    out
}
