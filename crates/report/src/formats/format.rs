//! What a form is.

use crate::text::Style;
use switchcost_analysis::Analysis;

/// A form of a run.
pub trait Format: Sync {
    /// Its word on the command line.
    fn name(&self) -> &'static str;
    /// What it is for, in half a line.
    fn purpose(&self) -> &'static str;
    /// It is read by people, or by programs that escape nothing: the run must be told before it is
    /// analysed (`Run::harmless`).
    fn is_for_people(&self) -> bool {
        true
    }
    /// The whole text.
    ///
    /// # Errors
    /// A clause that says why the run cannot be written so.
    fn write(&self, analysis: &Analysis<'_>, style: Style) -> Result<String, String>;
}
