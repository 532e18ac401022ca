//! Templates with figures of runs in them: the answers of `classic`.
//!
//! A template never computes a statistic: it sees rows as [`Cell`]s, and filters that write numbers as the other reports do.

mod classic;
mod filters;
mod template_row;

pub use classic::{
    Arguments, Performance, ProgramRows, arguments_of, classic_json, classic_markdown, classic_schema, classic_text,
    programs_json, programs_text, units_of,
};

use minijinja::syntax::SyntaxConfig;
use minijinja::{Environment, UndefinedBehavior};

/// A template that cannot be filled in: a fault of the data file, not of the user.
#[derive(Debug, thiserror::Error)]
#[error("{name}: {reason}")]
pub struct PageError {
    name: String,
    reason: String,
}

impl PageError {
    fn new(name: &str, error: &minijinja::Error) -> Self {
        let line = error.line().map_or(String::new(), |line| format!(" (line {line})"));
        let detail = error.detail().unwrap_or_default();
        Self { name: name.to_owned(), reason: format!("{}: {detail}{line}", error.kind()) }
    }
}

/// Filters, and the rule that a name which means nothing is an error: a page must not lose a figure silently.
fn environment() -> Environment<'static> {
    let mut environment = Environment::new();
    environment.set_undefined_behavior(UndefinedBehavior::Strict);
    environment.set_syntax(syntax());
    filters::add(&mut environment);
    environment
}

/// A line that holds only a tag leaves no line behind.
fn syntax() -> SyntaxConfig {
    let built = SyntaxConfig::builder().trim_blocks(true).lstrip_blocks(true).keep_trailing_newline(true).build();
    built.unwrap_or_default() // The delimiters are the default ones, which cannot clash.
}
