//! Writing results.

use crate::exit::Failure;
use std::io::{ErrorKind, IsTerminal, Write};
use std::path::Path;
use switchcost_report::Style;

/// Style of standard output: colour and width only on a terminal, and colour only without `NO_COLOR`.
pub fn style() -> Style {
    let stdout = std::io::stdout();
    if !stdout.is_terminal() {
        return Style::PLAIN;
    }
    let no_colour = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    let width = terminal_size::terminal_size().map(|(width, _)| width.0);
    // The old console of Windows must be asked to understand colours; elsewhere there is nothing to ask.
    let understood = anstyle_query::windows::enable_ansi_colors().unwrap_or(true);
    Style { colour: !no_colour && understood, width }
}

/// Writes to standard output. A reader that has gone (`| head`) is no fault.
pub fn print(text: &str) -> Result<(), Failure> {
    let mut stdout = std::io::stdout().lock();
    match stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            Err(Failure::usage(format!("cannot write to standard output: {error}")))
        }
        _ => Ok(()),
    }
}

/// Writes a whole file or none: to a name beside it, then renamed.
pub fn write_file(path: &Path, text: &[u8]) -> Result<(), Failure> {
    let mut partial = path.as_os_str().to_owned();
    partial.push(".partial");
    let partial = Path::new(&partial);
    std::fs::write(partial, text).and_then(|()| std::fs::rename(partial, path)).map_err(|error| {
        let _ = std::fs::remove_file(partial); // The error below says what matters.
        Failure::usage(format!("cannot write {}: {error}; choose another file", path.display()))
    })
}
