//! Conditions on the meta data of documents: `--where year=2025`.
//!
//! A condition names a key and a value. The key is looked up among the `fields` of the meta data, then at its top level.
//! Strings are compared as they are, numbers and truth values by their JSON. A wanted value that ends in `*` is met by every
//! value that begins with what stands before it. All conditions must be met. The Python twin is `archive/where.py`. Cost: the
//! meta data is parsed once per document; without conditions nothing is.

use crate::snapshot::Snapshot;
use lookalike_table::Result;
use serde_json::Value;

/// Keys and values that meta data must have.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Conditions(Vec<(String, String)>);

impl Conditions {
    /// All of these must be met.
    pub fn new(all: Vec<(String, String)>) -> Self {
        Self(all)
    }

    /// Whether there are no conditions.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether meta data meet all conditions. What is no JSON object meets none.
    pub fn are_met(&self, meta: &[u8]) -> bool {
        if self.is_empty() {
            return true;
        }
        let Ok(Value::Object(meta)) = serde_json::from_slice::<Value>(meta) else { return false };
        let fields = meta.get("fields").and_then(Value::as_object);
        let value = |key: &str| fields.and_then(|fields| fields.get(key)).or_else(|| meta.get(key));
        self.0.iter().all(|(key, wanted)| match value(key) {
            Some(Value::String(found)) => is_met(found, wanted),
            Some(found @ (Value::Number(_) | Value::Bool(_))) => is_met(&found.to_string(), wanted),
            _ => false,
        })
    }

    /// Number of documents of a snapshot that meet all conditions; neither shadows nor starter code. Errors: damaged. Cost:
    /// linear in all documents.
    pub fn count(&self, snapshot: &Snapshot) -> Result<u64> {
        let mut count = 0;
        for number in (0..snapshot.rows()).filter(|number| snapshot.is_live(*number)) {
            // Shadows and starter code have flags.
            let is_told = snapshot.flags(number)? == 0;
            count += u64::from(is_told && (self.is_empty() || self.are_met(&snapshot.meta(number)?)));
        }
        Ok(count)
    }
}

/// Whether a value is the wanted one, or begins with it up to a `*` at its end.
fn is_met(found: &str, wanted: &str) -> bool {
    wanted.strip_suffix('*').map_or(found == wanted, |start| found.starts_with(start))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_come_before_the_top_level() {
        let meta = br#"{"label":"2024","person":"ann","fields":{"label":"2025","year":2025,"ok":true,"x":1.5}}"#;
        let table = [
            (vec![], true),
            (vec![("label", "2025")], true),
            (vec![("label", "2024")], false),
            (vec![("person", "ann"), ("year", "2025"), ("ok", "true"), ("x", "1.5")], true),
            (vec![("person", "ann"), ("year", "2024")], false),
            (vec![("missing", "")], false),
            (vec![("fields", "")], false),
            (vec![("label", "202*"), ("year", "20*"), ("person", "*")], true),
            (vec![("label", "2024*")], false),
            (vec![("label", "2*5")], false),
            (vec![("missing", "*")], false),
        ];
        for (all, expected) in table {
            let all: Vec<_> = all.into_iter().map(|(key, value)| (key.to_owned(), value.to_owned())).collect();
            assert_eq!(Conditions::new(all.clone()).are_met(meta), expected, "{all:?}");
        }
    }

    #[test]
    fn what_is_no_object_meets_no_condition() {
        let one = Conditions::new(vec![("a".to_owned(), "1".to_owned())]);
        for meta in [&b""[..], b"[]", b"{", b"1"] {
            assert!(!one.are_met(meta) && Conditions::default().are_met(meta));
        }
    }
}
