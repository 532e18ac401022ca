//! Names and words: how they are read, shown and refused.

use std::fmt;

/// A name that is not of the form it must have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IdError(pub String);

impl fmt::Display for IdError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for IdError {}

/// Implements `as_str`, `FromStr`, `Display` and a list of all values for an enumeration of plain
/// words.
macro_rules! words {
    ($name:ident, $what:literal, $($variant:ident => $word:literal),+ $(,)?) => {
        impl $name {
            /// Every value, in the order of the documentation.
            pub const ALL: &'static [Self] = &[$(Self::$variant),+];

            /// The word used on the command line, on the wire and on disk.
            #[must_use]
            pub fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $word),+ }
            }
        }

        impl FromStr for $name {
            type Err = IdError;

            fn from_str(text: &str) -> Result<Self, IdError> {
                match text {
                    $($word => Ok(Self::$variant),)+
                    _ => Err(IdError(format!(
                        "unknown {} `{text}`; expected one of {}", $what, [$($word),+].join(", ")
                    ))),
                }
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.pad(self.as_str())
            }
        }

        crate::id::as_text!($name);
    };
}
pub(crate) use words;

/// Serialised as its text.
macro_rules! as_text {
    ($name:ident) => {
        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }

        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
            }
        }
    };
}
pub(crate) use as_text;
