//! Patterns that name rows: `family/name`, a glob or a family, and words of the label in any order.

use crate::exit::Failure;
use globset::{GlobBuilder, GlobMatcher};
use switchcost_model::Variant;

/// A pattern as typed.
pub struct Pattern<'t> {
    text: &'t str,
    name: &'t str,
    words: Vec<&'t str>,
    glob: GlobMatcher,
}

impl<'t> Pattern<'t> {
    /// Reads it.
    pub fn parse(text: &'t str) -> Result<Self, Failure> {
        let mut words = text.split_whitespace();
        let name = words.next().unwrap_or_default();
        let glob = GlobBuilder::new(name)
            .build()
            .map_err(|error| Failure::usage(format!("`{name}` is not a pattern: {}", error.kind())))?
            .compile_matcher();
        Ok(Self { text, name, words: words.collect(), glob })
    }

    /// It may well name several rows: a glob, or a family.
    pub fn many(&self) -> bool {
        self.name.contains(['*', '?', '[', '{']) || !self.name.contains('/')
    }

    /// The first word.
    pub fn name(&self) -> &'t str {
        self.name
    }

    /// The words after it.
    pub fn words(&self) -> &[&'t str] {
        &self.words
    }

    /// It names this variant, whose short name is `label`.
    pub fn fits(&self, variant: &Variant, label: &str) -> bool {
        let id = variant.mechanism.as_str();
        let named = self.glob.is_match(id)
            || self.glob.is_match(format!("{id}@{}", variant.probe))
            || variant.mechanism.family() == self.name;
        self.text == label || (named && self.words.iter().all(|word| has_word(variant, label, word)))
    }
}

/// A word of the label, or what the label leaves out because it is the default.
fn has_word(variant: &Variant, label: &str, word: &str) -> bool {
    label.split_whitespace().any(|own| own == word)
        || word
            .split_once('=')
            .is_some_and(|(name, value)| variant.parameters.get(name).is_some_and(|own| own == value))
        || variant.placement.to_string() == word
        || [variant.experiment.as_str(), variant.timing.as_str(), &variant.probe].contains(&word)
        || word == format!("contexts={}", variant.contexts)
}
