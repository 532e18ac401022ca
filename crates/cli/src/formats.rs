//! The forms of a run on the command line: those of the report, and the run file, which can be
//! imported.

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use std::fmt;
use switchcost_analysis::Analysis;
use switchcost_catalogue::Catalogue;
use switchcost_model::Run;
use switchcost_report::{FORMATS, Format, Style};
use switchcost_session::{Exit, Failure, status};

/// A chosen form.
#[derive(Clone, Copy)]
pub struct Form(&'static dyn Format);

impl std::ops::Deref for Form {
    type Target = dyn Format;

    fn deref(&self) -> &(dyn Format + 'static) {
        self.0
    }
}

impl fmt::Debug for Form {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl Form {
    /// It has this name.
    pub fn is(self, name: &str) -> bool {
        self.name() == name
    }

    /// Reads the word of a flag; `table`: also that of the form which commands print.
    pub fn parser(table: bool) -> impl TypedValueParser<Value = Self> {
        let values = all().skip(usize::from(!table));
        let values = values.map(|format| PossibleValue::new(format.name()).help(format.purpose()));
        // The parser lets only these names pass.
        PossibleValuesParser::new(values)
            .map(|name| Self(all().find(|format| format.name() == name).unwrap_or(&RunFile)))
    }

    /// What commands print.
    pub fn table() -> Self {
        Self(FORMATS[0])
    }
}

fn all() -> impl Iterator<Item = &'static dyn Format> {
    FORMATS.iter().copied().chain([&RunFile as &dyn Format])
}

/// Everything, raw ticks included.
struct RunFile;

impl Format for RunFile {
    fn name(&self) -> &'static str {
        "jsonl"
    }

    fn purpose(&self) -> &'static str {
        "Everything, raw ticks included; can be imported"
    }

    fn is_for_people(&self) -> bool {
        false
    }

    fn write(&self, analysis: &Analysis<'_>, _: Style) -> Result<String, String> {
        let mut bytes = Vec::new();
        switchcost_store::export_jsonl(analysis.run, &mut bytes).map_err(|error| error.to_string())?;
        String::from_utf8(bytes).map_err(|error| error.to_string())
    }
}

/// The text of a run in a form, and the status by which its command ends.
pub fn formatted(run: &Run, catalogue: &Catalogue, form: Form, style: Style) -> Result<(String, Exit), Failure> {
    let shown = form.is_for_people().then(|| run.harmless());
    let analysis = Analysis::new(shown.as_ref().unwrap_or(run), catalogue);
    let text = form.write(&analysis, style).map_err(Failure::internal)?;
    Ok((text, status(&analysis)))
}
