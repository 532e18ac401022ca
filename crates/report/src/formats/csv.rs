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
        let text = csv(analysis).map_err(|error| error.to_string())?;
        Ok(Style::PLAIN.sealed(&text))
    }
}

fn csv(analysis: &Analysis<'_>) -> Result<String, Box<dyn std::error::Error>> {
    let mut writer = ::csv::Writer::from_writer(Vec::new());
    writer.write_record(COLUMNS.iter().map(|column| column.name))?;
    for row in analysis.shown() {
        writer.write_record(COLUMNS.iter().map(|column| column.field(analysis, row)))?;
    }
    Ok(String::from_utf8(writer.into_inner()?)?)
}
