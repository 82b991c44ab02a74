//! The metadata of a line of JSON Lines: its small scalar values, as one JSON object.
//!
//! Cost: one pass over the line; the text is passed over.

use lookalike_json::{members, ValueKind};
use std::fmt::Write;

/// Longest value that is kept, in bytes of JSON.
pub const MAX_FIELD_BYTES: usize = 1024;

/// Appends `"key":value` of every small scalar of a line, separated by commas, but not of the columns `without`. A key
/// that occurs twice has its last value. A line that is no object has none.
pub fn put_fields(line: &[u8], without: &[&str], out: &mut String) {
    let mut found: Vec<(String, &str)> = Vec::new();
    let read = members(
        line,
        |key| !without.contains(&key),
        |key, raw| {
            let is_scalar = !raw.starts_with(['{', '[']) && ValueKind::of(raw) != ValueKind::Null;
            found.retain(|(other, _)| other != key);
            if is_scalar && raw.len() <= MAX_FIELD_BYTES && key.len() <= MAX_FIELD_BYTES {
                found.push((key.to_owned(), raw));
            }
        },
    );
    if read.is_err() {
        return;
    }
    for (number, (key, raw)) in found.iter().enumerate() {
        let comma = if number > 0 { "," } else { "" };
        // Writing to a string cannot fail.
        let _ = write!(out, "{comma}{}:{raw}", serde_json::Value::from(key.as_str()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fields(line: &str) -> String {
        let mut out = String::new();
        put_fields(line.as_bytes(), &["text", "id"], &mut out);
        out
    }

    #[test]
    fn small_scalars_are_kept() {
        let long = "x".repeat(MAX_FIELD_BYTES);
        let line = format!(
            r#"{{"text":"t","id":1,"year":2025,"ok":true,"none":null,"list":[1],"object":{{"a":1}},"long":"{long}","say \"x\"":"é\n"}}"#
        );
        assert_eq!(fields(&line), r#""year":2025,"ok":true,"say \"x\"":"é\n""#);
    }

    #[test]
    fn the_last_of_equal_keys_counts() {
        assert_eq!(fields(r#"{"a":1,"b":2,"a":3}"#), r#""b":2,"a":3"#);
        assert_eq!(fields(r#"{"a":1,"a":[]}"#), "");
    }

    #[test]
    fn what_is_no_object_has_no_fields() {
        for line in ["", "[1]", "{\"a\":1", "{\"a\":1} 2"] {
            assert_eq!(fields(line), "", "{line}");
        }
    }
}
