//! The texts in what a run says, changed one by one.

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

/// Changes every text in a reason or a disturbance. If the result were another thing than that, it
/// stays as it was.
pub fn change_texts<T: Serialize + DeserializeOwned>(told: &mut T, change: &mut dyn FnMut(&mut String)) {
    change_within(told, change, &mut |_| ());
}

/// The same, and the names that texts and numbers have, by `rename`.
pub(crate) fn change_within<T: Serialize + DeserializeOwned>(
    told: &mut T,
    change: &mut dyn FnMut(&mut String),
    rename: &mut dyn FnMut(&mut String),
) {
    fn walk(value: &mut Value, change: &mut dyn FnMut(&mut String), rename: &mut dyn FnMut(&mut String)) {
        match value {
            Value::String(text) => change(text),
            Value::Array(all) => all.iter_mut().for_each(|value| walk(value, change, rename)),
            Value::Object(fields) => {
                for (mut name, mut value) in std::mem::take(fields) {
                    if !matches!(name.as_str(), "code" | "kind") {
                        walk(&mut value, change, rename);
                    }
                    rename(&mut name);
                    fields.insert(name, value);
                }
            }
            _ => {}
        }
    }
    let mut data = serde_json::to_value(&*told).unwrap_or_default();
    walk(&mut data, change, rename);
    if let Ok(changed) = serde_json::from_value(data) {
        *told = changed;
    }
}
