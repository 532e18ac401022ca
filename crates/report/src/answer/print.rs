//! The printers: one for terminals and one for Markdown. JSON is of the data itself.

use super::{Answer, Section, grid};
use crate::text::{Style, wrapped};
use switchcost_model::harmless_line;

impl Section {
    /// For a terminal.
    #[must_use]
    pub fn terminal(&self, style: Style) -> String {
        let title = if self.title.is_empty() { String::new() } else { style.headline(&self.title) };
        let below: String = self.below.iter().map(|sentence| wrapped("  ", sentence, style)).collect();
        format!("{title}{}{below}", grid::drawn(self, style))
    }

    /// As Markdown.
    #[must_use]
    pub fn markdown(&self) -> String {
        let line = |text: &String| if text.is_empty() { String::new() } else { format!("{}\n\n", harmless_line(text)) };
        let below: String = self.below.iter().map(|sentence| format!("\n{}\n", harmless_line(sentence))).collect();
        format!("{}{}{below}", line(&self.title), grid::markdown(self))
    }
}

impl Answer {
    /// For a terminal.
    #[must_use]
    pub fn terminal(&self, style: Style) -> String {
        let mut out = self.head(style);
        for section in self.sections.iter().filter(|section| !section.rows.is_empty()) {
            out += if out.is_empty() { "" } else { "\n" };
            out += &section.terminal(style);
        }
        let foot = self.foot(style);
        // Below pictures and their sentences what holds of all of it is set apart.
        let apart = self.sections.iter().any(|section| section.axis.is_some() || !section.below.is_empty());
        let gap = if apart && !foot.is_empty() { "\n" } else { "" };
        style.sealed(&format!("{out}{gap}{foot}"))
    }

    /// As Markdown.
    #[must_use]
    pub fn markdown(&self) -> String {
        let style = Style::PLAIN;
        let mut out = self.head(style);
        for section in self.sections.iter().filter(|section| !section.rows.is_empty()) {
            out += &format!("\n{}", section.markdown());
        }
        style.sealed(&format!("{out}\n{}", self.foot(style)))
    }

    fn head(&self, style: Style) -> String {
        let mut out = String::new();
        self.headline.read(|claims, limits| {
            let disclosed = limits.disclose(|sentence| out += &wrapped("", sentence, style));
            claims.iter().for_each(|claim| out += &style.headline(claim));
            disclosed
        });
        self.about.iter().for_each(|(lead, line)| out += &wrapped(&format!("  {lead}"), line, style));
        out
    }

    fn foot(&self, style: Style) -> String {
        let remarks: String = self.remarks.iter().map(|remark| wrapped("  ", remark, style)).collect();
        remarks + &self.outcome.as_ref().map_or(String::new(), |outcome| wrapped("", outcome, style))
    }
}
