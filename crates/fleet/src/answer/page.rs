//! The verdict as a page of its own: one mark a node, without any script or request.

use super::{Fleet, FleetNode, fleet_text};
use switchcost_report::Style;

const STYLE: &str = "body{font:16px/1.5 system-ui,sans-serif;max-width:72rem;margin:2rem auto;padding:0 1rem;color:#1a1a1a;background:#fff}\
ol{display:flex;flex-wrap:wrap;gap:4px;padding:0;list-style:none}\
li{width:18px;height:18px;border-radius:3px;background:#9ab8d8;border:1px solid #5a7ea6}\
li.odd{background:#c8381e;border-color:#7d1f0d;border-radius:50%}li.few{background:#fff;border-style:dashed}\
li.missing{background:#fff;border-color:#c8381e}pre{overflow-x:auto;font-size:14px}\
@media(prefers-color-scheme:dark){body{color:#eee;background:#161616}li.few,li.missing{background:#161616}}";

/// The page. Every name in it is text.
#[must_use]
pub fn fleet_page(fleet: &Fleet) -> String {
    let mut out = format!(
        "<!doctype html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n\
         <meta name=\"viewport\" content=\"width=device-width\">\n<title>switchcost: fleet</title>\n<style>{STYLE}</style>\n<h1>Fleet</h1>\n\
         <p>One mark a node: a red disc may be unlike the others, an empty box did not answer, a dashed one has too few of its hardware.</p>\n"
    );
    for (place, group) in fleet.groups.iter().enumerate() {
        out += &format!("<h2>{} ({})</h2>\n<ol>\n", escaped(&group.name), escaped(&group.hardware));
        for node in fleet.nodes.iter().filter(|node| node.group == place) {
            out += &mark(class(node), &node.node, node.suspect.filter(|_| node.odd));
        }
        out += "</ol>\n";
    }
    if !fleet.missing.is_empty() {
        out += "<h2>Did not answer</h2>\n<ol>\n";
        out.extend(fleet.missing.iter().map(|name| mark("missing", name, None)));
        out += "</ol>\n";
    }
    out + &format!("<pre>{}</pre>\n</html>\n", escaped(&fleet_text(fleet, Style::PIPED)))
}

fn class(node: &FleetNode) -> &'static str {
    match (node.odd, node.judged) {
        (true, _) => "odd",
        (false, true) => "fine",
        (false, false) => "few",
    }
}

fn mark(class: &str, name: &str, suspect: Option<&str>) -> String {
    let label = suspect.map_or_else(|| name.to_owned(), |suspect| format!("{name}: {suspect}"));
    format!("<li class=\"{class}\" title=\"{0}\" aria-label=\"{0}\"></li>\n", escaped(&label))
}

fn escaped(text: &str) -> String {
    let mut out = String::new();
    for letter in switchcost_model::harmless_lines(text, false).chars() {
        match letter {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            _ => out.push(letter),
        }
    }
    out
}
