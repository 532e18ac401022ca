//! Writing results.

mod place;

use crate::exit::Failure;
use clap::builder::{OsStringValueParser, TypedValueParser};
use std::io::{ErrorKind, IsTerminal, Write};
use std::path::{Path, PathBuf};
use switchcost_model::harmless_lines;
use switchcost_report::Style;

/// Style of standard output.
pub fn style() -> Style {
    let terminal = std::io::stdout().is_terminal();
    let width = terminal_size::terminal_size().filter(|_| terminal).map(|(width, _)| width.0);
    Style { colour: colour(terminal), width: width.or(Style::PIPED.width), ascii: ascii_only(), ..Style::PIPED }
}

/// Escape sequences are understood there, other than colours as well.
pub fn understood(terminal: bool) -> bool {
    let dumb = variable("TERM").is_some_and(|terminal| terminal == "dumb");
    // The old console of Windows must be asked to understand them; elsewhere there is nothing to
    // ask.
    terminal && !dumb && anstyle_query::windows::enable_ansi_colors().unwrap_or(true)
}

/// Colours are wanted there: <https://no-color.org>, <https://bixense.com/clicolors>.
pub fn colour(terminal: bool) -> bool {
    let asked = |name| variable(name).map(|value| value != "0");
    let wanted = asked("CLICOLOR_FORCE") == Some(true) || asked("CLICOLOR") != Some(false) && understood(terminal);
    variable("NO_COLOR").is_none() && wanted
}

/// Nothing but ASCII is shown: the terminal is dumb, or the language has another encoding than
/// UTF-8. If no variable says so, nothing is known against it.
fn ascii_only() -> bool {
    let language = ["LC_ALL", "LC_CTYPE", "LANG"].into_iter().find_map(variable);
    let other = |language: String| !language.to_ascii_lowercase().replace('-', "").contains("utf8");
    variable("TERM").is_some_and(|terminal| terminal == "dumb") || language.is_some_and(other)
}

/// A variable that is set to something.
fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}

/// What people read, in characters that they can see.
pub fn readable(text: &str) -> String {
    if ascii_only() { switchcost_report::ascii(text) } else { text.to_owned() }
}

/// As many lines of `text` as a terminal shows at once, so that the first ones are not pushed out
/// of sight; all of them where standard output is none.
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
    printed(std::io::stdout().lock().write_all(text.as_bytes()))
}

/// The same of what was written already.
pub fn printed(written: std::io::Result<()>) -> Result<(), Failure> {
    match written.and_then(|()| std::io::stdout().flush()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            Err(Failure::usage(format!("cannot write to standard output: {error}")))
        }
        _ => Ok(()),
    }
}

/// What the system says of errors, without their numbers.
pub fn without_numbers(text: &str) -> String {
    let mut parts = text.split(" (os error ");
    let first = parts.next().unwrap_or_default().to_owned();
    first + &parts.map(|part| part.split_once(')').map_or(part, |(_, rest)| rest)).collect::<String>()
}

/// Writes lines to standard error, whatever others have put into them. If nobody takes them there
/// is nobody to tell.
pub fn say(text: &str) {
    let text = harmless_lines(&without_numbers(text), false) + "\n";
    let _ = std::io::stderr().write_all(readable(&text).as_bytes());
}

/// Whether the user says yes; None: nobody sits at a terminal.
pub fn agreed(question: &str) -> Option<bool> {
    let input = std::io::stdin();
    let asked = input.is_terminal() && std::io::stderr().is_terminal();
    asked.then(|| {
        say(question);
        let mut answer = String::new();
        let heard = input.read_line(&mut answer).is_ok();
        heard && matches!(answer.trim().to_lowercase().as_str(), "y" | "yes")
    })
}

/// A file that can be written, as clap reads it: what cannot be kept need not be measured.
pub fn file_parser() -> impl TypedValueParser<Value = PathBuf> {
    OsStringValueParser::new().try_map(|name| writable_file(name.into()))
}

/// The same by its name; `-` stands for standard output.
///
/// # Errors
/// Why not, as a clause.
pub fn writable_file(path: PathBuf) -> Result<PathBuf, String> {
    if path.as_os_str().is_empty() {
        return Err("the file to write has no name; name one, such as run.jsonl".to_owned());
    }
    let possible = if path == Path::new("-") { Ok(()) } else { place::check(&path) };
    possible.map(|()| path).map_err(|error| format!("cannot write it: {error}; choose another file"))
}

/// Writes a result to where the user wants it, see [`place::write`]; `-` is standard output.
pub fn write_file(path: &Path, text: &[u8]) -> Result<(), Failure> {
    if path == Path::new("-") {
        return print(&String::from_utf8_lossy(text));
    }
    let warnings = place::write(path, text)
        .map_err(|error| Failure::usage(format!("cannot write {}: {error}; choose another file", path.display())))?;
    warnings.into_iter().for_each(|sentence| say(&sentence));
    Ok(())
}
