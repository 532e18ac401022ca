//! What people call a mechanism.

use crate::Catalogue;
use crate::grammar::{Pattern, edits, nearest, question};
use switchcost_model::{Mechanism, MechanismId};

impl Catalogue {
    /// Reads a pattern. Where no mechanism has its name, it names those that go by it: a tag of
    /// their pages, such as their language; a word of name, title or `short` that only one has; or
    /// all of it, if `short` or else the title says that. Controls are not meant by such words.
    ///
    /// # Errors
    /// A clause about a glob that is none.
    pub fn pattern<'t>(&self, text: &'t str) -> Result<Pattern<'t>, String> {
        let pattern = Pattern::parse(text)?;
        let broken = self.broken.iter().filter_map(|page| page.mechanism.as_ref());
        let mut ids = self.mechanisms.iter().map(|mechanism| &mechanism.id).chain(broken);
        let known = pattern.name().is_empty() || ids.any(|id| pattern.names_mechanism(id));
        let pattern = if known { pattern } else { self.going_by(pattern) };
        let mut named = self.mechanisms.iter().map(|mechanism| &mechanism.id).filter(|id| pattern.names_mechanism(id));
        let many = |id: &MechanismId| pattern.name().contains(['*', '?']) || pattern.names(id.family());
        Ok(match (named.next(), named.next()) {
            (Some(only), None) if !many(only) => pattern.meaning(only),
            _ => pattern,
        })
    }

    /// The pattern, naming those that go by its name as well.
    fn going_by<'t>(&self, pattern: Pattern<'t>) -> Pattern<'t> {
        let name = pattern.name().to_lowercase();
        let going_by = |has: &dyn Fn(&Mechanism) -> bool| -> Vec<MechanismId> {
            let candidates = self.mechanisms.iter().filter(|mechanism| !mechanism.control && has(mechanism));
            candidates.map(|mechanism| mechanism.id.clone()).collect()
        };
        let tagged = going_by(&|mechanism| mechanism.tags.contains(&name));
        if !tagged.is_empty() {
            return pattern.calling(tagged);
        }
        let worded = going_by(&|mechanism| words(mechanism).any(|word| word == name));
        if worded.len() == 1 {
            return pattern.calling(worded);
        }
        let spoken = |text: &str| -> Vec<String> {
            let words = text.split(|c: char| !c.is_alphanumeric());
            words.map(|word| word.trim_end_matches('s').to_lowercase()).collect()
        };
        let phrase = spoken(pattern.text());
        let has = |text: &str| spoken(text).windows(phrase.len()).any(|some| some == phrase);
        if pattern.text().len() < TELLING {
            return pattern;
        }
        let named = going_by(&|mechanism| has(&mechanism.short));
        let titled = if named.is_empty() { going_by(&|mechanism| has(&mechanism.title)) } else { named };
        if titled.is_empty() { pattern } else { pattern.phrase().calling(titled) }
    }

    /// The one mechanism that is meant, of those that `fits`: the example of a family, the only one
    /// that the pattern names, or of several the only one whose own words have the name.
    ///
    /// # Errors
    /// A sentence that says what the name fits, or is most like.
    pub fn meant(&self, pattern: &Pattern<'_>, fits: impl Fn(&Mechanism) -> bool) -> Result<&Mechanism, String> {
        let name = pattern.name();
        let family = self.families.iter().find(|family| family.id.eq_ignore_ascii_case(name));
        if let Some(example) = family.and_then(|family| self.find(family.example.as_ref()?)) {
            return Ok(example);
        }
        let of = |pattern: &Pattern<'_>| -> Vec<&Mechanism> {
            let named = |mechanism: &&Mechanism| pattern.names_mechanism(&mechanism.id) && fits(mechanism);
            self.mechanisms.iter().filter(named).collect()
        };
        let mut named = of(pattern);
        if named.is_empty() {
            named = of(&self.going_by(pattern.clone()));
        }
        if named.len() > 1 && pattern.is_plain() {
            let lower = name.to_lowercase();
            let worded: Vec<&Mechanism> =
                named.iter().copied().filter(|one| words(one).any(|word| word == lower)).collect();
            named = if worded.len() == 1 { worded } else { named };
        }
        let ids: Vec<&str> = named.iter().map(|mechanism| mechanism.id.as_str()).collect();
        match named[..] {
            [only] => Ok(only),
            [] => match self.mechanisms.iter().find(|mechanism| pattern.names_mechanism(&mechanism.id)) {
                Some(other) => Ok(other),
                None => Err(format!("there is no mechanism `{name}`{}", self.did_you_mean(name))),
            },
            _ => Err(format!("`{name}` may mean {}; name one", ids.join(", "))),
        }
    }

    /// ` (did you mean …?)` with the mechanisms and families that are most like a name which none
    /// has; where none is like it, what there is. Of what is known to be absent, why.
    #[must_use]
    pub fn did_you_mean(&self, name: &str) -> String {
        if let Some(why) = self.absent.get(&name.to_lowercase()) {
            return format!("; it is not measured: {why}");
        }
        let families = self.families.iter().filter(|_| !name.contains('/'));
        let families = families.map(|family| (edits(name, &family.id), family.id.as_str()));
        let mechanisms = self.mechanisms.iter().map(|mechanism| {
            if mechanism.control {
                return (edits(name, mechanism.id.as_str()), mechanism.id.as_str());
            }
            let own = mechanism.id.as_str();
            let own = if name.contains('/') { own } else { own.split_once('/').map_or("", |(_, own)| own) };
            let tags = mechanism.tags.iter().cloned();
            // A name is meant rather than a word of a title, and short words are like too many
            // others.
            let called = words(mechanism).chain(tags).filter(|word| word.len() >= TELLING);
            let called =
                called.filter_map(|word| edits(name, &word)).filter(|twice| *twice <= 2).map(|twice| twice + 1).min();
            (edits(name, own).into_iter().chain(called).min(), mechanism.id.as_str())
        });
        let near = nearest(families.chain(mechanisms));
        if !near.is_empty() {
            return question(&near);
        }
        let families: Vec<&str> = self.families.iter().map(|family| family.id.as_str()).collect();
        format!("; the families are {}", families.join(", "))
    }
}

/// Letters of a title's word that stands for it, at least: shorter ones are mostly `all`, `with` or
/// `each`.
const TELLING: usize = 5;

/// Words of name, title and `short` in small letters.
fn words(mechanism: &Mechanism) -> impl Iterator<Item = String> {
    let own = mechanism.id.as_str().split(['/', '-']).skip(1);
    let titled = mechanism.title.split_whitespace().chain(mechanism.short.split_whitespace());
    let bare = |word: &str| word.trim_matches([',', ':', ';', '.', '(', ')', '\'']).to_lowercase();
    let titled = titled.map(bare).filter(|word| word.len() >= TELLING);
    own.map(bare).filter(|word| word.len() > 2).chain(titled).collect::<Vec<_>>().into_iter()
}

#[cfg(test)]
mod tests {
    #[test]
    fn what_is_known_to_be_absent_has_its_reason() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../mechanisms");
        let catalogue = crate::load(folder.as_ref(), &[], &|_| Ok(())).unwrap();
        for name in ["ocaml", "Swift", "libco"] {
            let pattern = catalogue.pattern(name).unwrap();
            let said = catalogue.meant(&pattern, |_| true).unwrap_err();
            assert!(said.contains("it is not measured: "), "{said}");
        }
        // A name that a page has by now is no longer absent.
        for name in catalogue.absent.keys() {
            let pattern = catalogue.pattern(name).unwrap();
            assert!(!catalogue.mechanisms.iter().any(|one| pattern.names_mechanism(&one.id)), "{name}");
        }
    }

    #[test]
    fn words_of_a_title_name_what_it_is_of() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../mechanisms");
        let catalogue = crate::load(folder.as_ref(), &[], &|_| Ok(())).unwrap();
        let named = |text: &str| {
            let pattern = catalogue.pattern(text).unwrap();
            let ids = catalogue.mechanisms.iter().map(|mechanism| &mechanism.id);
            (pattern.is_plain(), ids.filter(|id| pattern.names_mechanism(id)).map(ToString::to_string).collect())
        };
        let only = |ids: &[&str]| (true, ids.iter().map(|id| (*id).to_owned()).collect::<Vec<String>>());
        assert_eq!(named("virtual threads"), only(&["fiber/java-virtual"]));
        assert_eq!(named("Virtual Thread"), only(&["fiber/java-virtual"]));
        assert_eq!(named("virtual"), only(&["fiber/java-timer", "fiber/java-virtual"]));
        // Part of a word is none, and words of rows stay what they are.
        assert_eq!(named("virtua"), only(&[]));
        assert!(!named("thread/pipe free").0);
    }
}
