//! A line on standard error that is drawn again and again.

use std::io::Write;
use std::time::{Duration, Instant};
use switchcost_model::harmless_line;

/// Cells of the bar.
const CELLS: u64 = 24;

/// Between two drawings: each costs the terminal time, which is time on a CPU.
const PAUSE: Duration = Duration::from_secs(1);

/// How far something has come, and a message.
pub struct Bar {
    colour: bool,
    length: u64,
    position: u64,
    message: String,
    drawn: Option<Instant>,
}

impl Bar {
    /// Nothing is drawn yet.
    pub fn new(colour: bool) -> Self {
        Self { colour, length: 0, position: 0, message: String::new(), drawn: None }
    }

    /// A bar for work of so many steps, where standard error is a terminal that understands it.
    #[must_use]
    pub fn of(steps: usize, message: &str) -> Option<Self> {
        let terminal = std::io::IsTerminal::is_terminal(&std::io::stderr());
        let drawn =
            || Self { length: steps as u64, message: message.to_owned(), ..Self::new(crate::output::colour(terminal)) };
        crate::output::understood(terminal).then(drawn)
    }

    /// How long the whole is.
    pub fn set_length(&mut self, length: u64) {
        self.length = length;
    }

    /// Shows a message beside the bar.
    pub fn say(&mut self, message: String) {
        self.message = message;
        self.draw();
    }

    /// One step more. What was thought to be the end is moved by a step beyond it.
    pub fn step(&mut self) {
        self.position += 1;
        self.length = self.length.max(self.position);
        self.draw();
    }

    /// Takes the line away.
    pub fn clear(self) {
        write("\r\x1b[K");
    }

    fn draw(&mut self) {
        if self.drawn.is_some_and(|drawn| drawn.elapsed() < PAUSE) {
            return;
        }
        self.drawn = Some(Instant::now());
        // A line that is wrapped could not be taken away by a carriage return.
        let width = terminal_size::terminal_size_of(std::io::stderr()).map_or(80, |(width, _)| usize::from(width.0));
        write(&crate::output::readable(&self.line(width)));
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
}
