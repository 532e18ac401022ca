//! What figures are of, and how they are written.

use core::fmt;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;

/// A kind of figure: a time, an amount of memory, or what an experiment's page says of its own.
#[derive(Clone, Copy)]
pub struct Quantity(&'static Measure);

/// How figures of a quantity are written.
#[derive(Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Measure")]
pub struct Measure {
    /// Its word in files.
    pub name: Cow<'static, str>,
    /// In which figures are stored, and printed where a title names it.
    pub unit: Cow<'static, str>,
    /// Multiples and the units that they are written in, the largest first.
    pub scale: Cow<'static, [(f64, Cow<'static, str>)]>,
    /// Of whose powers round numbers are made on an axis.
    #[serde(default = "ten")]
    pub base: u32,
    /// What is said of a greater figure.
    #[serde(default = "greater")]
    pub greater: Cow<'static, str>,
    /// What is said of a smaller figure.
    #[serde(default = "smaller")]
    pub smaller: Cow<'static, str>,
    /// A greater figure is the better one, as of a rate; otherwise figures are costs.
    #[serde(default)]
    pub more_is_better: bool,
    /// Figures are counted: those of equal code are equal to the last digit, and any difference is
    /// one.
    #[serde(default)]
    pub exact: bool,
    /// What a figure is, before the words `of a unit`.
    pub of_a_unit: Cow<'static, str>,
    /// What a monitor calls the unit of a figure divided by `per_base`. Dividing rounds once; 1e-9
    /// is not a number of the machine's.
    pub base_unit: Cow<'static, str>,
    /// See `base_unit`.
    #[serde(default = "one")]
    pub per_base: f64,
}

fn ten() -> u32 {
    10
}

fn one() -> f64 {
    1.0
}

fn greater() -> Cow<'static, str> {
    "more".into()
}

fn smaller() -> Cow<'static, str> {
    "less".into()
}

const fn borrowed(text: &'static str) -> Cow<'static, str> {
    Cow::Borrowed(text)
}

static TIME: Measure = Measure {
    name: borrowed("time"),
    unit: borrowed("ns"),
    scale: Cow::Borrowed(&[(1e9, borrowed("s")), (1e6, borrowed("ms")), (1e3, borrowed("µs")), (1.0, borrowed("ns"))]),
    base: 10,
    greater: borrowed("slower"),
    smaller: borrowed("faster"),
    more_is_better: false,
    exact: false,
    of_a_unit: borrowed("Cost"),
    base_unit: borrowed("seconds"),
    per_base: 1e9,
};

static MEMORY: Measure = Measure {
    name: borrowed("memory"),
    unit: borrowed("B"),
    scale: Cow::Borrowed(&[
        (1_073_741_824.0, borrowed("GiB")),
        (1_048_576.0, borrowed("MiB")),
        (1024.0, borrowed("KiB")),
        (1.0, borrowed("B")),
    ]),
    base: 4,
    greater: borrowed("larger"),
    smaller: borrowed("smaller"),
    more_is_better: false,
    exact: false,
    of_a_unit: borrowed("Memory"),
    base_unit: borrowed("bytes"),
    per_base: 1.0,
};

impl Quantity {
    /// In ns.
    pub const TIME: Self = Self(&TIME);
    /// In bytes.
    pub const MEMORY: Self = Self(&MEMORY);

    /// How its figures are written.
    #[must_use]
    pub fn measure(self) -> &'static Measure {
        self.0
    }
}

impl Measure {
    /// Why no figure can be written by it.
    pub(crate) fn wrong(&self) -> Option<String> {
        let word = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_lowercase() || b == b'_');
        let above = |number: f64| number > 0.0 && number.is_finite();
        let all = [
            (word(&self.name) && word(&self.base_unit), "name and base_unit are lower-case letters and underscores"),
            (!self.unit.is_empty() && !self.scale.is_empty(), "it needs a unit and a scale"),
            (self.scale.iter().all(|(size, _)| above(*size)) && above(self.per_base), "scale and per_base are above 0"),
            (self.base > 1, "base is above 1"),
        ];
        all.iter().find(|(holds, _)| !holds).map(|(_, rule)| format!("quantity `{}`: {rule}", self.name.escape_debug()))
    }
}

impl core::ops::Deref for Quantity {
    type Target = Measure;

    fn deref(&self) -> &Measure {
        self.0
    }
}

impl PartialEq for Quantity {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl Eq for Quantity {}

impl fmt::Debug for Quantity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)
    }
}

impl Serialize for Quantity {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.name)
    }
}

impl JsonSchema for Quantity {
    fn schema_name() -> Cow<'static, str> {
        "Quantity".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string" })
    }
}

/// The name of one of the program's own, or all of a quantity that only this experiment has.
impl<'de> Deserialize<'de> for Quantity {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged)]
        enum Either {
            Known(String),
            Own(Measure),
        }
        match Either::deserialize(deserializer)? {
            Either::Known(name) => {
                [Self::TIME, Self::MEMORY].into_iter().find(|known| known.name == name).ok_or_else(|| {
                    serde::de::Error::custom(format!("unknown quantity `{name}`; say time, memory or a table"))
                })
            }
            Either::Own(measure) => Ok(Self(Box::leak(Box::new(measure)))),
        }
    }
}
