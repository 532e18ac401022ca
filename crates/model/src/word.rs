//! Words that stand for a page of answers: on the wire and on disk a word is its name, in memory it
//! is what its page says.

use crate::IdError;
use core::fmt;
use core::hash::{Hash, Hasher};
use core::ops::Deref;
use core::str::FromStr;
use serde::de::DeserializeOwned;
use std::sync::{PoisonError, RwLock};

/// A page by its name.
#[derive(Debug)]
pub struct Entry<T> {
    name: String,
    place: usize,
    page: T,
}

/// A name that has a page. Two are equal if their names are; they are ordered as they are listed.
pub struct Word<T: 'static>(&'static Entry<T>);

/// What is said on pages of one kind.
pub trait Page: DeserializeOwned + Sync + 'static {
    /// What such a word is called in sentences.
    const WHAT: &'static str;
    /// The program's own pages: name and TOML, the usual one first.
    const OWN: &'static [(&'static str, &'static str)];
    /// What may stand in place of a name, as sentences list it; empty: nothing.
    const OR: &'static str = "";

    /// Why no figures can be made by what it says; it is of the right form.
    fn wrong(&self) -> Option<String> {
        None
    }

    /// All words that are known.
    fn words() -> &'static Words<Self>;
}

/// Every word of a kind: the program's own, then those that were added.
pub struct Words<T: 'static>(RwLock<Vec<Word<T>>>);

impl<T: Page> Words<T> {
    /// None yet.
    pub(crate) const fn none() -> Self {
        Self(RwLock::new(Vec::new()))
    }

    fn list(&self) -> Vec<Word<T>> {
        // A list that is only ever appended to is sound whoever panicked.
        let known = self.0.read().unwrap_or_else(PoisonError::into_inner).clone();
        if !known.is_empty() {
            return known;
        }
        let mut list = self.0.write().unwrap_or_else(PoisonError::into_inner);
        if list.is_empty() {
            for (name, text) in T::OWN {
                // A test reads each of them.
                let Ok(page) = toml::from_str(text) else { continue };
                let word = Word::new(name, list.len(), page);
                list.push(word);
            }
        }
        list.clone()
    }
}

impl<T> Word<T> {
    /// Lives as long as the program: there are few of them.
    fn new(name: &str, place: usize, page: T) -> Self {
        Self(Box::leak(Box::new(Entry { name: name.to_owned(), place, page })))
    }

    /// The word used on the command line, on the wire and on disk.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        &self.0.name
    }

    /// What its page says.
    #[must_use]
    pub fn page(self) -> &'static T {
        &self.0.page
    }
}

impl<T: Page> Word<T> {
    /// Every word, in the order of the documentation.
    #[must_use]
    pub fn all() -> Vec<Self> {
        T::words().list()
    }

    /// The one that is meant when nothing is said.
    #[must_use]
    pub fn usual() -> Self {
        Self::all()[0]
    }

    /// Adds a word, or says why its page cannot be used. Pages of one's own are added before
    /// anything is read that names them.
    ///
    /// # Errors
    /// The name is taken or not one, or the page is not of the right form.
    pub fn add(name: &str, page: &str) -> Result<Self, String> {
        let fine = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_';
        if name.is_empty() || !name.bytes().all(fine) {
            return Err("its name is not made of lower-case letters, digits and underscores".into());
        }
        if Self::all().iter().any(|known| known.as_str() == name) {
            return Err(format!("there is {} {name} already", T::WHAT));
        }
        let page: T = toml::from_str(page).map_err(|error| error.message().replace('\n', " "))?;
        if let Some(wrong) = page.wrong() {
            return Err(wrong);
        }
        let mut list = T::words().0.write().unwrap_or_else(PoisonError::into_inner);
        let word = Self::new(name, list.len(), page);
        list.push(word);
        Ok(word)
    }
}

impl<T> Deref for Word<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0.page
    }
}

impl<T> Clone for Word<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Word<T> {}

impl<T> PartialEq for Word<T> {
    fn eq(&self, other: &Self) -> bool {
        self.0.place == other.0.place
    }
}

impl<T> Eq for Word<T> {}

impl<T> PartialOrd for Word<T> {
    fn partial_cmp(&self, other: &Self) -> Option<core::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl<T> Ord for Word<T> {
    fn cmp(&self, other: &Self) -> core::cmp::Ordering {
        self.0.place.cmp(&other.0.place)
    }
}

impl<T> Hash for Word<T> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.place.hash(state);
    }
}

impl<T> fmt::Debug for Word<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl<T> fmt::Display for Word<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl<T: Page> FromStr for Word<T> {
    type Err = IdError;

    fn from_str(text: &str) -> Result<Self, IdError> {
        let all = Self::all();
        all.iter().copied().find(|known| known.as_str() == text).ok_or_else(|| {
            let names: Vec<&str> = all.iter().map(|known| known.as_str()).collect();
            IdError(format!("unknown {} `{text}`; expected one of {}{}", T::WHAT, names.join(", "), T::OR))
        })
    }
}

impl<T> serde::Serialize for Word<T> {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl<'de, T: Page> serde::Deserialize<'de> for Word<T> {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}
