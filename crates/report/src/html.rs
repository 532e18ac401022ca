//! The page of `report`: a template built from `web/`, and the data that it shows.
//!
//! Runs may come from anybody. They go into the page as JSON in which nothing can end the script element, and the page puts them on the screen as text only.

mod data;
mod tables;

use switchcost_analysis::Analysis;
use switchcost_catalogue::Catalogue;

/// Where the template wants the data; it occurs there once.
const PLACE: &str = "\"@switchcost-data@\"";

/// What a page is made of.
#[derive(Debug, Clone, Copy)]
pub struct Page<'a> {
    /// Runs in the order given.
    pub runs: &'a [Analysis<'a>],
    /// Where each came from, as the user named it.
    pub sources: &'a [String],
    /// Name and version of the program.
    pub tool: &'a str,
    /// The command that makes this page again.
    pub command: &'a str,
}

/// The page, whole.
///
/// # Errors
/// A clause about a template that has not exactly one place for the data.
pub fn html(template: &str, page: &Page<'_>, catalogue: &Catalogue) -> Result<String, String> {
    let (head, tail) = template.split_once(PLACE).ok_or("it has no place for the data")?;
    if tail.contains(PLACE) {
        return Err("it has two places for the data".to_owned());
    }
    let data = data::data(page, catalogue);
    let data = serde_json::to_string(&data).map_err(|error| error.to_string())?;
    Ok(format!("{head}{}{tail}", within_script(&data)))
}

/// JSON Schema of what a page is filled with; its types in TypeScript are generated from it.
#[must_use]
pub fn page_schema() -> String {
    // The last draft that the generator of types reads.
    let schema = schemars::generate::SchemaSettings::draft07()
        .for_serialize()
        .into_generator()
        .into_root_schema_for::<data::Data<'_>>();
    crate::text::json(&schema)
}

/// JSON that an HTML parser takes for nothing but text: outside of strings it has none of these characters.
fn within_script(json: &str) -> String {
    let mut text = String::with_capacity(json.len() + json.len() / 16);
    for character in json.chars() {
        match character {
            '<' => text.push_str("\\u003c"),
            '>' => text.push_str("\\u003e"),
            '&' => text.push_str("\\u0026"),
            '\u{2028}' => text.push_str("\\u2028"),
            '\u{2029}' => text.push_str("\\u2029"),
            other => text.push(other),
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_in_the_data_ends_the_script() {
        let hostile = "</script><!--<script>alert(1)</script>&amp;\u{2028}\u{2029}]]>";
        let text = within_script(&serde_json::to_string(hostile).unwrap());
        assert!(!text.contains(['<', '>', '&', '\u{2028}', '\u{2029}']), "{text}");
        assert_eq!(serde_json::from_str::<String>(&text).unwrap(), hostile);
    }

    #[test]
    fn a_template_has_one_place() {
        let page = Page { runs: &[], sources: &[], tool: "t 1", command: "t report" };
        let catalogue = Catalogue::default();
        assert!(html("<p>", &page, &catalogue).is_err());
        assert!(html(&format!("{PLACE} {PLACE}"), &page, &catalogue).is_err());
        let whole = html(&format!("<b>{PLACE}</b>"), &page, &catalogue).unwrap();
        let json = whole.strip_prefix("<b>").and_then(|rest| rest.strip_suffix("</b>")).unwrap();
        let value: serde_json::Value = serde_json::from_str(json).unwrap();
        assert_eq!(value["made_by"], "t report");
    }
}
