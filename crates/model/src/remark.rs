//! What is said about rows and runs, as codes with numbers; `data/remarks.toml` has the sentences.

use crate::Value;
use core::fmt;
use std::collections::BTreeMap;
use std::sync::LazyLock;

/// Sentences by code.
const TABLE: &str = include_str!("../../../data/remarks.toml");

/// A code, and what its sentence names. [`remark!`](crate::remark!) makes one.
#[derive(Debug, Clone, PartialEq)]
pub struct Remark {
    /// Stable word.
    pub code: &'static str,
    /// Values that the sentence names.
    pub facts: Vec<(&'static str, Value)>,
}

/// A remark of a code of `data/remarks.toml`: `remark!(exact, starts = 9)`, or a variable of the
/// fact's name. `None` leaves a fact out, with the part of the sentence in brackets that names it.
/// A code that the table lacks does not compile.
#[macro_export]
macro_rules! remark {
    (@ $fact:ident) => { $fact };
    (@ $fact:ident $value:expr) => { $value };
    ($code:ident $(, $fact:ident $(= $value:expr)?)* $(,)?) => {{
        const _: () = assert!(
            $crate::has_remark(concat!("\n", stringify!($code), " = ")),
            concat!("data/remarks.toml lacks ", stringify!($code))
        );
        let facts = [$((stringify!($fact), $crate::Fact::fact($crate::remark!(@ $fact $($value)?)))),*];
        let facts: [(&'static str, Option<$crate::Value>); _] = facts;
        let facts = facts.into_iter().filter_map(|(name, value)| Some((name, value?))).collect();
        $crate::Remark { code: stringify!($code), facts }
    }};
}

/// What may be a fact of a remark.
#[doc(hidden)]
pub trait Fact {
    /// None: it is left out.
    fn fact(self) -> Option<Value>;
}

impl<V: Into<Value>> Fact for V {
    fn fact(self) -> Option<Value> {
        Some(self.into())
    }
}

impl<V: Into<Value>> Fact for Option<V> {
    fn fact(self) -> Option<Value> {
        self.map(Into::into)
    }
}

/// Whether the table has this text, before anything runs.
#[doc(hidden)]
#[must_use]
pub const fn has_remark(text: &str) -> bool {
    let (table, text) = (TABLE.as_bytes(), text.as_bytes());
    let mut from = 0;
    while from + text.len() <= table.len() {
        let mut same = 0;
        while same < text.len() && table[from + same] == text[same] {
            same += 1;
        }
        if same == text.len() {
            return true;
        }
        from += 1;
    }
    false
}

impl fmt::Display for Remark {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        static ALL: LazyLock<BTreeMap<String, String>> =
            // A test reads it.
            LazyLock::new(|| toml::from_str(TABLE).unwrap_or_default());
        let template = ALL.get(self.code).map_or("", String::as_str);
        for (place, part) in template.split(['[', ']']).enumerate() {
            match (self.filled(part), place % 2) {
                (Some(text), _) => f.write_str(&text)?,
                (None, 1) => {}
                (None, _) => f.write_str(part)?,
            }
        }
        Ok(())
    }
}

impl Remark {
    /// A part of a sentence with its facts; None: it lacks one.
    fn filled(&self, part: &str) -> Option<String> {
        let mut rest = part;
        let mut text = String::new();
        while let Some((before, after)) = rest.split_once('{') {
            let (name, more) = after.split_once('}')?;
            let (_, value) = self.facts.iter().find(|(fact, _)| *fact == name)?;
            text += before;
            text += &value.to_string();
            rest = more;
        }
        Some(text + rest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_sentence_is_one_line_whose_parts_in_brackets_name_a_fact() {
        let all: BTreeMap<String, String> = toml::from_str(TABLE).unwrap();
        for (code, sentence) in &all {
            assert!(has_remark(&format!("\n{code} = ")), "{code}");
            assert!(!sentence.contains('\n') && sentence.matches('[').count() == sentence.matches(']').count());
            let mut optional = sentence.split(['[', ']']).skip(1).step_by(2);
            assert!(optional.all(|part| part.contains('{')), "{code}: {sentence}");
        }
        assert!(!has_remark("\nrow_disturbe = "));
    }

    #[test]
    fn a_part_without_its_fact_is_left_out_and_braces_of_facts_are_text() {
        let said = |times: Option<Value>| {
            remark!(wide, width = "{read}", target = "2 %", starts = 9usize, between = "1 %", times, within = "[x]")
                .to_string()
        };
        let whole = said(Some(Value::from("2.0")));
        assert!(
            whole.contains("±{read} instead") && whole.contains("×2.0 because") && whole.ends_with("[x]"),
            "{whole}"
        );
        assert!(!said(None).contains('×'), "{}", said(None));
    }
}
