//! Fields that this version of the protocol does not know: ignored when a probe is measured, told
//! when it is checked.

use crate::wire;
use serde::de::value::Error;
use serde::de::{Deserialize, Deserializer, Error as _, Visitor};
use serde_json::Value;
use switchcost_model as model;

/// Fields of a line that no reader looks at, as `message.field` or `message.field.field`, each with
/// the names that would be read there. None of a line that is not a message.
#[must_use]
pub fn unknown_fields(line: &str) -> Vec<(String, &'static [&'static str])> {
    serde_json::from_str(line).map(|message| in_message(&message)).unwrap_or_default()
}

/// Which message a line is; None: it is none.
#[must_use]
pub fn kind(line: &str) -> Option<String> {
    let message: Value = serde_json::from_str(line).ok()?;
    message.get("t")?.as_str().map(str::to_owned)
}

fn in_message(message: &Value) -> Vec<(String, &'static [&'static str])> {
    let kind = message["t"].as_str().unwrap_or_default();
    let parts: &[(&str, &'static [&'static str])] = match kind {
        "hello" => {
            &[("", known::<wire::Hello>()), ("clock", known::<model::Clock>()), ("counter", known::<wire::Counter>())]
        }
        "mechanism" => &[("", known::<wire::Mechanism>())],
        "plan" => &[("", known::<model::PlanEcho>())],
        "samples" => &[("", known::<model::Samples>())],
        "histogram" => &[("", known::<model::Histogram>())],
        "evidence" => &[
            ("", known::<model::Evidence>()),
            ("turns", known::<model::Turns>()),
            ("kernel", known::<model::KernelSwitches>()),
            ("hops", known::<model::Hops>()),
            ("page_faults", known::<model::PageFaults>()),
        ],
        "note" => &[("", known::<wire::Note>())],
        "end" => &[("", known::<model::End>())],
        _ => &[],
    };
    let mut unknown = Vec::new();
    for &(part, known) in parts {
        let object = if part.is_empty() { message } else { &message[part] };
        let foreign = object.as_object().into_iter().flatten().map(|(name, _)| name);
        let path = if part.is_empty() { kind.to_owned() } else { format!("{kind}.{part}") };
        let header =
            |name: &str| part.is_empty() && (name == "t" || name == "seq" && ["samples", "histogram"].contains(&kind));
        let foreign = foreign.filter(|name| !known.contains(&name.as_str()) && !header(name));
        unknown.extend(foreign.map(|name| (format!("{path}.{name}"), known)));
    }
    unknown
}

/// The names of a structure's fields, as its reader has them: no second list that could fall
/// behind.
fn known<T: for<'de> Deserialize<'de>>() -> &'static [&'static str] {
    let mut fields: &'static [&'static str] = &[];
    // It always fails: it holds nothing, and is only told what would be looked for.
    let _ = T::deserialize(Names(&mut fields)).map(drop);
    fields
}

struct Names<'a>(&'a mut &'static [&'static str]);

impl<'de> Deserializer<'de> for Names<'_> {
    type Error = Error;

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        fields: &'static [&'static str],
        _: V,
    ) -> Result<V::Value, Error> {
        *self.0 = fields;
        Err(Error::custom("only names are asked for"))
    }

    fn deserialize_any<V: Visitor<'de>>(self, _: V) -> Result<V::Value, Error> {
        Err(Error::custom("not a structure"))
    }

    serde::forward_to_deserialize_any! {
        bool i8 i16 i32 i64 u8 u16 u32 u64 f32 f64 char str string bytes byte_buf option unit unit_struct newtype_struct seq tuple tuple_struct
        map enum identifier ignored_any
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(line: &str, expected: &[&str]) {
        let unknown: Vec<String> = unknown_fields(line).into_iter().map(|(name, _)| name).collect();
        assert_eq!(unknown, expected, "{line}");
    }

    #[test]
    fn only_fields_that_nobody_reads_are_told() {
        check(r#"{"t":"evidence","units":3,"turns":{"total":3,"min":1,"max":2,"contexts":2},"counts":{"any":1}}"#, &[]);
        check(
            r#"{"t":"evidence","units":3,"turn":null,"hops":{"counts":3}}"#,
            &["evidence.turn", "evidence.hops.counts"],
        );
        check(r#"{"t":"hello","clock":{"tick":1},"counter":null}"#, &["hello.clock.tick"]);
        check(r#"{"t":"x_mine","anything":1}"#, &[]);
        check(r#"{"t":"plan","parameters":{"any":"1"}}"#, &[]);
    }

    #[test]
    fn the_good_fixtures_have_no_unknown_field_but_the_one_of_the_future() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../protocol/good");
        for entry in std::fs::read_dir(folder).unwrap() {
            for line in std::fs::read_to_string(entry.unwrap().path()).unwrap().lines() {
                let future: &[&str] =
                    if line.contains("a_field_of_the_future") { &["hello.a_field_of_the_future"] } else { &[] };
                check(line, future);
            }
        }
    }
}
