//! What work says on standard error while it goes on: a line that is drawn again and again, or one
//! now and then where nothing can be drawn.

use crate::output;
use std::io::{IsTerminal, Write};
use std::time::{Duration, Instant};
use switchcost_model::harmless_line;

/// Cells of the bar.
const CELLS: u64 = 24;

/// Between two drawings: each costs the terminal time, which is time on a CPU.
const PAUSE: Duration = Duration::from_secs(1);

/// Time between two lines where there is no bar.
const BETWEEN_LINES: Duration = Duration::from_secs(10);

/// How far work has come: a bar on a terminal, elsewhere a line every ten seconds.
pub struct Progress {
    bar: Option<Bar>,
    /// When the last line was said, where there is no bar.
    said: Instant,
}

impl Progress {
    /// Work that a bar is drawn of, where standard error is a terminal that understands it.
    #[must_use]
    pub fn drawn() -> Self {
        let terminal = std::io::stderr().is_terminal();
        Self { bar: output::understood(terminal).then(|| Bar::new(output::colour(terminal))), ..Self::lines() }
    }

    /// Work that nobody knows the length of, or beside which another program has the terminal:
    /// lines alone.
    #[must_use]
    pub fn lines() -> Self {
        Self { bar: None, said: Instant::now() }
    }

    /// How many steps the whole has.
    pub fn set_length(&mut self, steps: u64) {
        self.bar.iter_mut().for_each(|bar| bar.set_length(steps));
    }

    /// What begins, and how long it takes; a bar says that by itself.
    pub fn announce(&self, sentence: impl FnOnce() -> String) {
        if self.bar.is_none() {
            output::say(&sentence());
        }
    }

    /// Is what is said now shown? What is not a terminal keeps every line.
    #[must_use]
    pub fn listens(&self) -> bool {
        self.bar.is_some() || self.said.elapsed() >= BETWEEN_LINES
    }

    /// What is going on now, if that is shown.
    pub fn say(&mut self, message: impl FnOnce() -> String) {
        if !self.listens() {
            return;
        }
        self.said = Instant::now();
        match &mut self.bar {
            Some(bar) => bar.say(message()),
            None => output::say(&message()),
        }
    }

    /// One step more.
    pub fn step(&mut self) {
        self.bar.iter_mut().for_each(Bar::step);
    }

    /// Takes the bar away.
    pub fn clear(self) {
        self.bar.into_iter().for_each(Bar::clear);
    }
}

/// How far something has come, and a message.
struct Bar {
    colour: bool,
    length: u64,
    position: u64,
    message: String,
    drawn: Option<Instant>,
}

impl Bar {
    /// Nothing is drawn yet.
    fn new(colour: bool) -> Self {
        Self { colour, length: 0, position: 0, message: String::new(), drawn: None }
    }

    /// How long the whole is.
    fn set_length(&mut self, length: u64) {
        self.length = length;
    }

    /// Shows a message beside the bar.
    fn say(&mut self, message: String) {
        self.message = message;
        self.draw();
    }

    /// One step more. What was thought to be the end is moved by a step beyond it.
    fn step(&mut self) {
        self.position += 1;
        self.length = self.length.max(self.position);
        self.draw();
    }

    /// Takes the line away.
    fn clear(self) {
        write("\r\x1b[K");
    }

    fn draw(&mut self) {
        if self.drawn.is_some_and(|drawn| drawn.elapsed() < PAUSE) {
            return;
        }
        self.drawn = Some(Instant::now());
        // A line that is wrapped could not be taken away by a carriage return.
        let width = terminal_size::terminal_size_of(std::io::stderr()).map_or(80, |(width, _)| usize::from(width.0));
        write(&output::readable(&self.line(width)));
    }

    fn line(&self, width: usize) -> String {
        let full = (self.position * CELLS / self.length.max(1)) as usize;
        let bar = format!("{}{}", "█".repeat(full), "░".repeat(CELLS as usize - full));
        let bar = if self.colour { format!("\x1b[32m{bar}\x1b[0m") } else { bar };
        let room = width.saturating_sub(CELLS as usize + 2);
        let message: String = harmless_line(&self.message).chars().take(room).collect();
        format!("\r{bar} {message}\x1b[K")
    }
}

/// If nobody takes it there is nobody to tell.
fn write(text: &str) {
    let _ = std::io::stderr().write_all(text.as_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_has_the_share_that_is_done_and_room_for_its_message() {
        let mut bar = Bar { position: 3, message: "round 2\x1b[2J of ten".into(), ..Bar::new(false) };
        bar.set_length(6);
        let half = "█".repeat(12) + &"░".repeat(12);
        assert_eq!(bar.line(100), format!("\r{half} round 2\u{fffd}[2J of ten\x1b[K"));
        assert_eq!(bar.line(33), format!("\r{half} round 2\x1b[K"));
        assert_eq!(bar.line(3), format!("\r{half} \x1b[K"));
        bar.position = 6;
        bar.step();
        assert_eq!((bar.position, bar.length), (7, 7));
        assert!(Bar { colour: true, ..bar }.line(40).starts_with("\r\x1b[32m█"));
    }
    #[test]
    fn a_line_is_due_after_some_time_and_then_not_at_once() {
        let mut progress = Progress::lines();
        assert!(!progress.listens());
        progress.said = Instant::now().checked_sub(BETWEEN_LINES).expect("a machine that runs for ten seconds");
        assert!(progress.listens());
        progress.say(|| "a line of a test".to_owned());
        assert!(!progress.listens());
    }
}
