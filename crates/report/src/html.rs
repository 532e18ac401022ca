//! The page of `report`: a template built from `web/`, and the data that it shows.
//!
//! Runs may come from anybody. They go into the page packed, in letters that can end no element,
//! and the page puts them on the screen as text only.

mod answer;
mod data;
mod explained;
mod tables;

pub use answer::AuditAnswer;
pub use data::Page;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use rayon::prelude::*;
use switchcost_catalogue::Catalogue;

/// Where the template wants the data; it occurs there once.
const PLACE: &str = "\"@switchcost-data@\"";

/// How hard the data is packed: 6 takes twice as long for a fiftieth of its size.
const LEVEL: u8 = 4;

/// Bytes that are packed by themselves.
const PART_BYTES: usize = 1 << 20;

/// The page, whole.
///
/// # Errors
/// A clause about a template that has not exactly one place for the data.
pub fn html(template: &str, page: &Page<'_>, catalogue: &Catalogue) -> Result<String, String> {
    let (head, tail) = template.split_once(PLACE).ok_or("it has no place for the data")?;
    if tail.contains(PLACE) {
        return Err("it has two places for the data".to_owned());
    }
    let data = data::data(page, catalogue).and_then(|data| serde_json::to_vec(&data));
    let data = data.map_err(|error| error.to_string())?;
    Ok(format!("{head}{}{tail}", packed(&data)))
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

/// zlib in base64: what `DecompressionStream` of browsers unpacks, a quarter of the size of the
/// JSON. Parts of it with commas between, so that all CPUs pack.
fn packed(json: &[u8]) -> String {
    let part = |part| STANDARD.encode(miniz_oxide::deflate::compress_to_vec_zlib(part, LEVEL));
    json.par_chunks(PART_BYTES).map(part).collect::<Vec<_>>().join(",")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn unpacked(text: &str) -> serde_json::Value {
        let part = |part| miniz_oxide::inflate::decompress_to_vec_zlib(&STANDARD.decode(part).unwrap()).unwrap();
        serde_json::from_slice(&text.split(',').flat_map(part).collect::<Vec<u8>>()).unwrap()
    }

    #[test]
    fn nothing_in_the_data_ends_the_script() {
        let hostile = "</script><!--<script>alert(1)</script>&amp;\u{2028}\u{2029}]]>";
        let text = packed(&serde_json::to_vec(hostile).unwrap());
        assert!(text.chars().all(|c| c.is_ascii_alphanumeric() || "+/=,".contains(c)), "{text}");
        assert_eq!(unpacked(&text), hostile);
    }

    #[test]
    fn parts_of_long_data_make_it_up() {
        let long = "part ".repeat(PART_BYTES / 2);
        assert_eq!(unpacked(&packed(&serde_json::to_vec(&long).unwrap())), long);
    }

    #[test]
    fn a_template_has_one_place() {
        let page = Page { runs: &[], sources: &[], audits: &[], tool: "t 1", command: "t report" };
        let catalogue = Catalogue::default();
        assert!(html("<p>", &page, &catalogue).is_err());
        assert!(html(&format!("{PLACE} {PLACE}"), &page, &catalogue).is_err());
        let whole = html(&format!("<b>{PLACE}</b>"), &page, &catalogue).unwrap();
        let json = whole.strip_prefix("<b>").and_then(|rest| rest.strip_suffix("</b>")).unwrap();
        assert_eq!(unpacked(json)["made_by"], "t report");
    }
}
