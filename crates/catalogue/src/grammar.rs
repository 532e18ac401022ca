//! How rows, sizes and commands are written, and what a wrong name is held for: one grammar for
//! every command.

use std::str::FromStr;
use switchcost_model::{Experiment, MechanismId, Parameter, ParameterKind, Placement, Timing, Variant};

/// What names rows: a mechanism, a glob such as `stack/*` or a family, perhaps with `@PROBE`, and
/// words of the rows in any order.
#[derive(Debug, Clone)]
pub struct Pattern<'t> {
    text: &'t str,
    name: &'t str,
    probe: Option<&'t str>,
    words: Vec<&'t str>,
    /// Mechanisms that go by this name without having it.
    called: Vec<MechanismId>,
    /// The same with the whole id of the one mechanism that it names.
    whole: Option<String>,
}

impl<'t> Pattern<'t> {
    /// Reads it.
    ///
    /// # Errors
    /// A clause about a glob that is none.
    pub fn parse(text: &'t str) -> Result<Self, String> {
        let mut words = text.split_whitespace();
        let first = words.next().unwrap_or_default();
        let (name, probe) = first.split_once('@').map_or((first, None), |(name, probe)| (name, Some(probe)));
        if let Some(other) = first.chars().find(|c| "[]{}\\".contains(*c)) {
            return Err(format!(
                "`{text}` is not a pattern: `{other}` means nothing in it; * stands for any letters, ? for one"
            ));
        }
        Ok(Self { text, name, probe, words: words.collect(), called: Vec::new(), whole: None })
    }

    /// The same, which also names these.
    pub(crate) fn calling(self, called: Vec<MechanismId>) -> Self {
        Self { called, ..self }
    }

    /// The same, all of which is a name.
    pub(crate) fn phrase(self) -> Self {
        Self { name: self.text, probe: None, words: Vec::new(), ..self }
    }

    /// The same, which names this mechanism alone.
    pub(crate) fn meaning(self, id: &MechanismId) -> Self {
        Self { whole: Some(self.text.trim_start().replacen(self.name, id.as_str(), 1)), ..self }
    }

    /// As it was written.
    #[must_use]
    pub fn text(&self) -> &'t str {
        self.text
    }

    /// The mechanism, glob or family.
    #[must_use]
    pub fn name(&self) -> &'t str {
        self.name
    }

    /// The probe.
    #[must_use]
    pub fn probe(&self) -> Option<&'t str> {
        self.probe
    }

    /// What the words after the name say, each as it is written.
    ///
    /// # Errors
    /// A word that means nothing, or two that contradict each other.
    pub fn said(&self) -> Result<Vec<(&'t str, Word)>, String> {
        let mut all: Vec<(&'t str, Word)> = Vec::new();
        for &text in &self.words {
            let word: Word = text.parse()?;
            match all.iter().find(|(_, other)| other.option().0 == word.option().0) {
                Some((other, _)) if *other != text => {
                    return Err(format!("`{}`: {text} contradicts {other}; leave one of them out", self.text));
                }
                _ => all.push((text, word)),
            }
        }
        Ok(all)
    }

    /// It says which mechanisms, and nothing else of the rows.
    #[must_use]
    pub fn is_plain(&self) -> bool {
        self.probe.is_none() && self.words.is_empty()
    }

    /// It may well name several rows: a glob, or a family.
    #[must_use]
    pub fn is_many(&self) -> bool {
        self.name.contains(['*', '?']) || !self.name.contains('/') && self.whole.is_none()
    }

    /// It is this label, or is short for it: `goroutine` for `fiber/goroutine`.
    #[must_use]
    pub fn is_label(&self, label: &str) -> bool {
        self.text == label || self.whole.as_deref() == Some(label)
    }

    /// Its name is this one, or fits it.
    #[must_use]
    pub fn names(&self, name: &str) -> bool {
        is_like(name, self.name)
    }

    /// It names this mechanism, its family, what stands after the family (`goroutine`), or fits it.
    #[must_use]
    pub fn names_mechanism(&self, id: &MechanismId) -> bool {
        let mut parts = id.as_str().split('/');
        self.names(id.as_str()) || parts.any(|part| part.eq_ignore_ascii_case(self.name)) || self.called.contains(id)
    }

    /// It names no probe, or this one: `NAME@gcc-*` is each build by GCC.
    #[must_use]
    pub fn fits_probe(&self, probe: &str) -> bool {
        self.probe.is_none_or(|glob| is_like(probe, glob))
    }

    /// It names this variant, whose short name is `label`.
    #[must_use]
    pub fn fits(&self, variant: &Variant, label: &str) -> bool {
        self.is_label(label)
            || (self.names_mechanism(&variant.mechanism)
                && self.fits_probe(&variant.probe)
                && self.words.iter().all(|word| has_word(variant, label, word)))
    }
}

/// The name fits a glob, in which `*` stands for any letters and `?` for one; large and small
/// letters are alike.
fn is_like(name: &str, glob: &str) -> bool {
    // Which beginnings of the name fit the glob so far.
    let name: Vec<char> = name.chars().collect();
    let mut fits = vec![false; name.len() + 1];
    fits[0] = true;
    for sign in glob.chars() {
        let one = |letter: &char| sign == '?' || sign.to_lowercase().eq(letter.to_lowercase());
        if sign == '*' {
            let first = fits.iter().position(|fits| *fits).unwrap_or(fits.len());
            fits[first..].fill(true);
        } else {
            (0..name.len()).rev().for_each(|end| fits[end + 1] = fits[end] && one(&name[end]));
            fits[0] = false;
        }
    }
    fits[name.len()]
}

/// A word of the label, or what the label leaves out because it is the default.
fn has_word(variant: &Variant, label: &str, word: &str) -> bool {
    let own = match word.parse() {
        Ok(Word::Placement(placement)) => variant.placement == placement,
        Ok(Word::Experiment(experiment)) => variant.experiment == experiment,
        Ok(Word::Timing(timing)) => variant.timing == timing,
        Ok(Word::Contexts(contexts)) => variant.contexts == contexts,
        Ok(Word::Parameter(name, value)) => variant.parameters.get(&name) == Some(&value),
        Err(_) => variant.probe == word,
    };
    own || label.split_whitespace().any(|own| own == word)
}

/// What a word after a mechanism's name says of its rows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Word {
    /// Where they run.
    Placement(Placement),
    /// What is measured.
    Experiment(Experiment),
    /// How time is read.
    Timing(Timing),
    /// `contexts=N`.
    Contexts(u64),
    /// `NAME=VALUE`.
    Parameter(String, String),
}

impl Word {
    /// The option that says the same of every row, and what stands behind it.
    #[must_use]
    pub fn option(&self) -> (String, String) {
        match self {
            Self::Placement(placement) => ("--placement ".to_owned(), placement.to_string()),
            Self::Experiment(experiment) => ("--experiment ".to_owned(), experiment.to_string()),
            Self::Timing(timing) => ("--timing ".to_owned(), timing.to_string()),
            Self::Contexts(contexts) => ("--contexts ".to_owned(), contexts.to_string()),
            Self::Parameter(name, value) => (format!("--param {name}="), value.clone()),
        }
    }
}

impl FromStr for Word {
    type Err = String;

    fn from_str(word: &str) -> Result<Self, String> {
        if let Ok(placement) = word.parse() {
            return Ok(Self::Placement(placement));
        }
        if let Ok(experiment) = word.parse() {
            return Ok(Self::Experiment(experiment));
        }
        if let Ok(timing) = word.parse() {
            return Ok(Self::Timing(timing));
        }
        match word.split_once('=') {
            Some(("contexts", number)) if count(number).is_some() => {
                Ok(Self::Contexts(count(number).unwrap_or_default()))
            }
            Some((name, value)) if !name.is_empty() && !value.is_empty() => {
                Ok(Self::Parameter(name.to_owned(), value.to_owned()))
            }
            _ => Err(format!("`{word}` is neither a placement, an experiment, a timing, nor NAME=VALUE")),
        }
    }
}

/// A number with k, M or G behind it, which stand for powers of `step`.
#[must_use]
pub fn scaled(text: &str, step: f64) -> Option<f64> {
    let (digits, power) = match text.as_bytes().last()? {
        b'k' | b'K' => (&text[..text.len() - 1], 1),
        b'm' | b'M' => (&text[..text.len() - 1], 2),
        b'g' | b'G' => (&text[..text.len() - 1], 3),
        _ => (text, 0),
    };
    let plain = !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit() || b == b'.');
    digits.parse::<f64>().ok().filter(|_| plain).map(|number| number * step.powi(power))
}

fn whole(text: &str, step: f64) -> Option<u64> {
    // Beyond 2^53 a number is not exact, and means nothing that could be measured.
    scaled(text, step).filter(|number| number.fract() == 0.0 && *number < 9e15).map(|number| number as u64)
}

/// A whole number such as `500` or `10k`: powers of 1000.
#[must_use]
pub fn count(text: &str) -> Option<u64> {
    whole(text, 1000.0)
}

/// A number of bytes such as `4096`, `16K` or `1MiB`: powers of 1024, as memory has them.
#[must_use]
pub fn size(text: &str) -> Option<u64> {
    let text = text.strip_suffix('B').map_or(text, |text| text.strip_suffix('i').unwrap_or(text));
    whole(text, 1024.0)
}

/// A parameter's value as probes take it: a number may be written as a size.
#[must_use]
pub fn value(text: &str, parameter: Option<&Parameter>) -> String {
    let number = parameter.is_some_and(|parameter| matches!(parameter.kind, ParameterKind::Integer { .. }));
    size(text).filter(|_| number).map_or_else(|| text.to_owned(), |size| size.to_string())
}

/// Twice the edits from a word to a name or to what stands after its `/`; None: more than two, or
/// half of the word.
pub(crate) fn edits(word: &str, name: &str) -> Option<usize> {
    let word = word.to_lowercase();
    let of = |part: &str| strsim::osa_distance(&word, &part.to_lowercase());
    let least = if word.contains('/') { of(name) } else { name.split('/').map(of).fold(of(name), usize::min) };
    (least <= 2 && least * 2 < word.chars().count()).then_some(least * 2)
}

/// The names that are fewest edits away: at most three.
pub(crate) fn nearest<'a>(scored: impl IntoIterator<Item = (Option<usize>, &'a str)>) -> Vec<&'a str> {
    let mut scored: Vec<(usize, &str)> = scored.into_iter().filter_map(|(edits, name)| Some((edits?, name))).collect();
    scored.sort_by_key(|(edits, _)| *edits);
    let best = scored.first().map_or(0, |best| best.0);
    let mut found: Vec<&str> = Vec::new();
    for (_, name) in scored.into_iter().take_while(|(edits, _)| *edits == best) {
        if !found.contains(&name) && found.len() < 3 {
            found.push(name);
        }
    }
    found
}

/// ` (did you mean …?)` with the known names most like this one, or nothing where none is like it.
#[must_use]
pub fn did_you_mean<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    question(&nearest(known.into_iter().map(|candidate| (edits(name, candidate), candidate))))
}

pub(crate) fn question(near: &[&str]) -> String {
    let quoted: Vec<String> = near.iter().map(|near| format!("`{near}`")).collect();
    match quoted.split_last() {
        None => String::new(),
        Some((only, [])) => format!(" (did you mean {only}?)"),
        Some((last, others)) => format!(" (did you mean {} or {last}?)", others.join(", ")),
    }
}

/// Words as a shell needs them.
#[must_use]
pub fn command_line<'a>(words: impl IntoIterator<Item = &'a str>) -> String {
    // What no shell can be given (a NUL) is not shown either.
    shlex::Quoter::new().allow_nul(true).join(words).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_with_units() {
        assert_eq!(["500", "10k", "1.5M", "2G"].map(count), [500, 10_000, 1_500_000, 2_000_000_000].map(Some));
        assert_eq!(["4096", "16K", "1MiB", "64k", "2B"].map(size), [4096, 16_384, 1 << 20, 65_536, 2].map(Some));
        for wrong in ["", "k", "-1", "+1", "nan", "inf", "1e6", "1,5", "99999999999G", "K", "iB"] {
            assert_eq!((count(wrong), size(wrong)), (None, None), "{wrong}");
        }
        assert_eq!((count("2.5"), scaled("2.5k", 1000.0)), (None, Some(2500.0)));
    }

    #[test]
    fn a_mechanism_is_named_by_its_family_and_by_what_follows_it() {
        let fits =
            |text, id: &str| Pattern::parse(text).is_ok_and(|pattern| pattern.names_mechanism(&id.parse().unwrap()));
        assert!(
            fits("goroutine", "fiber/goroutine")
                && fits("fiber", "fiber/goroutine")
                && fits("f*/go*", "fiber/goroutine")
        );
        assert!(fits("pipe", "thread/pipe") && fits("pipe", "process/pipe"));
        assert!(
            !fits("go", "fiber/goroutine") && !fits("routine", "fiber/goroutine") && !fits("pipe", "control/self-pipe")
        );
    }

    #[test]
    fn a_probe_may_be_a_glob() {
        let fits = |text, probe| Pattern::parse(text).is_ok_and(|pattern| pattern.fits_probe(probe));
        assert!(fits("stack/*@gcc-*", "gcc-O2") && fits("stack/*@gcc-O2", "gcc-O2") && fits("stack/*", "go"));
        assert!(!fits("stack/*@gcc-*", "clang-O2") && !fits("stack/*@gcc", "gcc-O2") && !fits("stack/*@[", "gcc-O2"));
    }

    #[test]
    fn a_glob_stands_for_other_letters() {
        for (glob, name, fits) in [
            ("", "", true),
            ("*", "", true),
            ("*", "stack/asm", true),
            ("stack/*", "stack/", true),
            ("s*k/*m", "STACK/asm", true),
            ("*/a?m", "stack/asm", true),
            ("**a**s**", "stack/asm", true),
            ("", "a", false),
            ("?", "", false),
            ("stack/?", "stack/asm", false),
            ("stack/*b", "stack/asm", false),
            ("*asm", "stack/asm2", false),
        ] {
            assert_eq!(is_like(name, glob), fits, "{name} by {glob}");
        }
        // As long as the product of both, whatever they are.
        assert!(!is_like(&"a".repeat(5000), &("*a".repeat(500) + "b")));
        for wrong in ["stack/[a]", "{a,b}", "a\\*"] {
            assert!(Pattern::parse(wrong).unwrap_err().contains("* stands for any letters"), "{wrong}");
        }
    }

    #[test]
    fn words_say_what_rows_are() {
        assert_eq!("free".parse(), Ok(Word::Placement(Placement::of_cpus(0))));
        assert_eq!("message".parse(), Ok(Word::Experiment("message".parse().unwrap())));
        assert_eq!("each".parse(), Ok(Word::Timing(Timing::Each)));
        assert_eq!("contexts=1k".parse(), Ok(Word::Contexts(1000)));
        assert_eq!("payload=64".parse(), Ok(Word::Parameter("payload".into(), "64".into())));
        assert!(["fast", "=1", "x="].iter().all(|word| word.parse::<Word>().is_err()));
    }

    #[test]
    fn commands_can_be_typed_again() {
        assert_eq!(command_line(["a", "it's", "x y", "latest~1"]), "a \"it's\" 'x y' 'latest~1'");
    }

    #[test]
    fn a_typing_error_is_recognised() {
        assert_eq!(did_you_mean("thread/pip", ["thread/pipe", "stack/asm"]), " (did you mean `thread/pipe`?)");
        assert_eq!(did_you_mean("xyz", ["thread/pipe"]), "");
    }
}
