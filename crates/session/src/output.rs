//! Writing results.

mod place;

use crate::exit::Failure;
use std::io::{ErrorKind, IsTerminal, Write};
use std::path::Path;
use switchcost_model::harmless_lines;
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
    Style { colour: !no_colour && understood, width, ..Style::PLAIN }
}

/// As many lines of `text` as a terminal shows at once, so that the first ones are not pushed out of sight; all of them where standard output is none.
pub fn fitting(text: &str) -> String {
    let height = std::io::stdout().is_terminal().then(terminal_size::terminal_size).flatten();
    let Some((_, height)) = height else { return text.to_owned() };
    // One line stays free for the cursor, one says that there is more.
    let room = usize::from(height.0).saturating_sub(1);
    if text.lines().count() <= room {
        return text.to_owned();
    }
    let shown: Vec<&str> = text.lines().take(room.saturating_sub(1)).collect();
    shown.join("\n") + "\n…\n"
}

/// Writes to standard output. A reader that has gone (`| head`) is not a fault.
pub fn print(text: &str) -> Result<(), Failure> {
    let mut stdout = std::io::stdout().lock();
    match stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            Err(Failure::usage(format!("cannot write to standard output: {error}")))
        }
        _ => Ok(()),
    }
}

/// Writes lines to standard error, whatever others have put into them. If nobody takes them there is nobody to tell.
pub fn say(text: &str) {
    let _ = std::io::stderr().write_all((harmless_lines(text, false) + "\n").as_bytes());
}

/// Writes a result to where the user wants it, see [`place::write`].
pub fn write_file(path: &Path, text: &[u8]) -> Result<(), Failure> {
    let said = place::write(path, text)
        .map_err(|error| Failure::usage(format!("cannot write {}: {error}; choose another file", path.display())))?;
    said.into_iter().for_each(|sentence| say(&sentence));
    Ok(())
}
