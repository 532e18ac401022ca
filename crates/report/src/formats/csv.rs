//! One line per row, with a header; empty cells where there is no figure.

use super::Format;
use crate::columns::COLUMNS;
use crate::text::Style;
use switchcost_analysis::Analysis;

/// CSV.
pub struct Csv;

impl Format for Csv {
    fn name(&self) -> &'static str {
        "csv"
    }

    fn purpose(&self) -> &'static str {
        "One line per row"
    }

    fn write(&self, analysis: &Analysis<'_>, _: Style) -> Result<String, String> {
        let header = record(COLUMNS.iter().map(|column| column.name.to_owned()));
        let rows = analysis.shown().map(|row| record(COLUMNS.iter().map(|column| column.field(analysis, row))));
        Ok(Style::PLAIN.sealed(&[header].into_iter().chain(rows).collect::<String>()))
    }
}

/// A line of RFC 4180: fields that need them are put into quotes.
fn record(fields: impl Iterator<Item = String>) -> String {
    let quoted = |field: String| match field.contains([',', '"', '\n', '\r']) {
        true => format!("\"{}\"", field.replace('"', "\"\"")),
        false => field,
    };
    fields.map(quoted).collect::<Vec<_>>().join(",") + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_ends_a_field_is_quoted() {
        let fields = ["plain", "", "a,b", "say \"x\"", "two\nlines", " x "].map(str::to_owned);
        assert_eq!(record(fields.into_iter()), "plain,,\"a,b\",\"say \"\"x\"\"\",\"two\nlines\", x \n");
    }
}
