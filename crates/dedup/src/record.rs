//! Reads one line of JSON Lines: checks that it is an object and extracts the chosen columns.
//!
//! The parser finds the position of the text. The escapes are decoded here, into a buffer that is reused, because the
//! parser would allocate a new one for every line. Cost: about 0.7 ns per byte; the text is copied only if it has
//! escapes.

use serde::de::{DeserializeSeed, Deserializer as _, Error as _, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::fmt;

/// The columns that are read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RecordColumns {
    /// The column of the text.
    pub text: String,
    /// The column of the number that decides which row is kept, if any.
    pub number: Option<String>,
    /// The column of the name of the row, if any.
    pub name: Option<String>,
}

/// The content of a line.
#[derive(Clone, Debug, PartialEq)]
pub enum Record<'a> {
    /// A text, and the number if the line has one.
    Text(&'a str, Option<f64>),
    /// Only white space.
    Blank,
    /// An object whose text is missing or null.
    Missing,
    /// Anything else; the reason.
    Bad(String),
}

/// Reads a line and its name. The text borrows from the line, or from `buffer` if it has escapes. A name is a string
/// without its quotes, or the JSON of any other value; null is none.
pub fn read<'a>(line: &'a [u8], columns: &RecordColumns, buffer: &'a mut String) -> (Record<'a>, Option<Cow<'a, str>>) {
    if line.iter().all(u8::is_ascii_whitespace) {
        return (Record::Blank, None);
    }
    let mut parser = serde_json::Deserializer::from_slice(line);
    let parsed = parser.deserialize_any(Object { columns }).and_then(|found| parser.end().map(|()| found));
    match parsed {
        Ok(found) => (text_of(found.text, found.number, columns, buffer), found.name.and_then(name_of)),
        Err(error) => (Record::Bad(reason(&error)), None),
    }
}

fn name_of(raw: &str) -> Option<Cow<'_, str>> {
    match kind(raw) {
        ValueKind::Null => None,
        ValueKind::Other(_) => Some(Cow::Borrowed(raw)),
        ValueKind::String => {
            let inner = &raw[1..raw.len() - 1];
            if !inner.contains('\\') {
                return Some(Cow::Borrowed(inner));
            }
            let mut name = String::new();
            unescape(inner, &mut name).map(|()| Cow::Owned(name))
        }
    }
}

fn text_of<'a>(
    raw: Option<&'a str>,
    number: Option<f64>,
    columns: &RecordColumns,
    buffer: &'a mut String,
) -> Record<'a> {
    match (raw, kind(raw.unwrap_or("null"))) {
        (None, _) | (_, ValueKind::Null) => Record::Missing,
        (Some(raw), ValueKind::String) => {
            let inner = &raw[1..raw.len() - 1];
            match memchr::memchr(b'\\', inner.as_bytes()) {
                None => Record::Text(inner, number),
                Some(_) => match unescape(inner, buffer) {
                    Some(()) => Record::Text(buffer, number),
                    None => Record::Bad(format!("`{}` has an unpaired surrogate", columns.text)),
                },
            }
        }
        (_, ValueKind::Other(kind)) => Record::Bad(format!("`{}` is {kind}, not a string", columns.text)),
    }
}

/// The JSON of a column's value, if the line is an object in UTF-8; `null` if the column is missing.
pub fn value<'a>(line: &'a [u8], column: &str) -> Option<&'a str> {
    let columns = RecordColumns { text: column.to_owned(), number: None, name: None };
    let mut parser = serde_json::Deserializer::from_str(std::str::from_utf8(line).ok()?);
    let found = parser.deserialize_any(Object { columns: &columns }).ok()?;
    parser.end().ok()?;
    Some(found.text.unwrap_or("null"))
}

/// The type of a JSON value, from its first byte.
enum ValueKind {
    Null,
    String,
    Other(&'static str),
}

fn kind(raw: &str) -> ValueKind {
    match raw.as_bytes().first() {
        Some(b'n') => ValueKind::Null,
        Some(b'"') => ValueKind::String,
        Some(b'[') => ValueKind::Other("an array"),
        Some(b'{') => ValueKind::Other("an object"),
        Some(b't' | b'f') => ValueKind::Other("a boolean"),
        _ => ValueKind::Other("a number"),
    }
}

/// Decodes the escapes of the inside of a JSON string. Returns `None` for half a surrogate pair, which a string cannot
/// hold.
///
/// REQUIRES: the parser has checked the string.
fn unescape(inner: &str, out: &mut String) -> Option<()> {
    out.clear();
    let mut rest = inner;
    while let Some(at) = memchr::memchr(b'\\', rest.as_bytes()) {
        out.push_str(&rest[..at]);
        let escape = rest.as_bytes().get(at + 1)?;
        let mut used = 2;
        match escape {
            b'b' => out.push('\u{8}'),
            b'f' => out.push('\u{C}'),
            b'n' => out.push('\n'),
            b'r' => out.push('\r'),
            b't' => out.push('\t'),
            b'u' => {
                let unit = |from: usize| u16::from_str_radix(rest.get(from..from + 4)?, 16).ok();
                let first = unit(at + 2)?;
                let second = rest[at + 6..].starts_with("\\u").then(|| unit(at + 8)).flatten();
                let pair = [first, second.filter(|_| (0xD800..0xDC00).contains(&first)).unwrap_or(0)];
                let length = if pair[1] == 0 { 1 } else { 2 };
                out.push(char::decode_utf16(pair[..length].iter().copied()).next()?.ok()?);
                used = 6 * length;
            }
            plain => out.push(char::from(*plain)),
        }
        rest = &rest[at + used..];
    }
    out.push_str(rest);
    Some(())
}

/// The parser's message without the line number, which is always 1.
fn reason(error: &serde_json::Error) -> String {
    let whole = error.to_string();
    let what = whole.split(" at line ").next().unwrap_or(&whole);
    match error.is_data() {
        true => what.to_owned(),
        false => format!("not JSON: {what} at byte {}", error.column()),
    }
}

struct RecordFields<'a> {
    /// The JSON of the text.
    text: Option<&'a str>,
    number: Option<f64>,
    /// The JSON of the name.
    name: Option<&'a str>,
}

struct Object<'c> {
    columns: &'c RecordColumns,
}

impl<'de> Visitor<'de> for Object<'_> {
    type Value = RecordFields<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<RecordFields<'de>, A::Error> {
        let mut found = RecordFields { text: None, number: None, name: None };
        while let Some(key) = map.next_key_seed(Key)? {
            if key == self.columns.text.as_str() {
                found.text = Some(map.next_value::<&'de RawValue>()?.get());
                // One column may be both text and name.
                if self.columns.name.as_deref() == Some(&*key) {
                    found.name = found.text;
                }
            } else if self.columns.name.as_deref() == Some(&*key) {
                let raw = map.next_value::<&'de RawValue>()?.get();
                found.name = Some(raw);
                if self.columns.number.as_deref() == Some(&*key) {
                    found.number = raw.parse().ok();
                }
            } else if self.columns.number.as_deref() == Some(&*key) {
                found.number = map.next_value::<&'de RawValue>()?.get().parse().ok();
            } else {
                map.next_value::<IgnoredAny>()?;
            }
        }
        Ok(found)
    }

    fn visit_str<E: serde::de::Error>(self, _: &str) -> Result<RecordFields<'de>, E> {
        Err(E::custom("the line is a string, not an object"))
    }

    fn visit_unit<E: serde::de::Error>(self) -> Result<RecordFields<'de>, E> {
        Err(E::custom("the line is null, not an object"))
    }

    fn visit_bool<E: serde::de::Error>(self, _: bool) -> Result<RecordFields<'de>, E> {
        Err(E::custom("the line is a boolean, not an object"))
    }

    fn visit_u64<E: serde::de::Error>(self, _: u64) -> Result<RecordFields<'de>, E> {
        Err(E::custom("the line is a number, not an object"))
    }

    fn visit_i64<E: serde::de::Error>(self, _: i64) -> Result<RecordFields<'de>, E> {
        self.visit_u64(0)
    }

    fn visit_f64<E: serde::de::Error>(self, _: f64) -> Result<RecordFields<'de>, E> {
        self.visit_u64(0)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, _: A) -> Result<RecordFields<'de>, A::Error> {
        Err(A::Error::custom("the line is an array, not an object"))
    }
}

/// Reads a key; borrows it unless it has escapes.
struct Key;

impl<'de> DeserializeSeed<'de> for Key {
    type Value = Cow<'de, str>;

    fn deserialize<D: serde::Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl<'de> Visitor<'de> for Key {
    type Value = Cow<'de, str>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a key")
    }

    fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Self::Value, E> {
        Ok(Cow::Borrowed(text))
    }

    fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
        Ok(Cow::Owned(text.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::fixed;
    use proptest::prelude::*;

    fn columns() -> RecordColumns {
        RecordColumns { text: "text".to_owned(), number: Some("stars".to_owned()), name: Some("id".to_owned()) }
    }

    fn name(line: &str) -> Option<String> {
        read(line.as_bytes(), &columns(), &mut String::new()).1.map(Cow::into_owned)
    }

    #[test]
    fn a_name_is_a_string_or_what_stands_there() {
        assert_eq!(name(r#"{"id":"a\u00e9\n","text":"a"}"#).as_deref(), Some("aé\n"));
        assert_eq!(name(r#"{"text":3,"id":0012.50}"#), None, "what is no JSON has no name");
        assert_eq!(name(r#"{"text":3,"id":12.50}"#).as_deref(), Some("12.50"));
        assert_eq!(name(r#"{"id":null,"text":"a"}"#), None);
        assert_eq!(name(r#"{"text":"a"}"#), None);
        assert_eq!(name(r#"{"id":[1, 2],"text":"a"}"#).as_deref(), Some("[1, 2]"));
    }

    fn text(line: &str) -> Record<'_> {
        read(line.as_bytes(), &columns(), Box::leak(Box::default())).0
    }

    fn bad(line: &str) -> String {
        match text(line) {
            Record::Bad(reason) => reason,
            other => format!("{other:?}"),
        }
    }

    #[test]
    fn a_text_is_found_wherever_it_stands() {
        assert_eq!(text(r#"{"id":1,"text":"a b"}"#), Record::Text("a b", None));
        assert_eq!(text(r#" {"stars": 4.5, "text":"\u0061\n"} "#), Record::Text("a\n", Some(4.5)));
        assert_eq!(text(r#"{"a":{"text":"no"},"b":[1,{"text":2}],"te\u0078t":"yes"}"#), Record::Text("yes", None));
        assert_eq!(text(r#"{"text":"first","text":"last"}"#), Record::Text("last", None));
    }

    #[test]
    fn what_has_no_text_says_so() {
        assert_eq!(text(" \t\r\n"), Record::Blank);
        assert_eq!(text(r#"{"text":null}"#), Record::Missing);
        assert_eq!(text(r#"{"body":"a"}"#), Record::Missing);
        assert_eq!(bad(r#"{"text":3}"#), "`text` is a number, not a string");
        assert_eq!(bad(r#"{"text":["a"]}"#), "`text` is an array, not a string");
        assert_eq!(bad(r#"{"text":{"a":1}}"#), "`text` is an object, not a string");
    }

    #[test]
    fn what_is_no_object_says_what_it_is() {
        assert_eq!(bad("[1]"), "the line is an array, not an object");
        assert_eq!(bad("\"a\""), "the line is a string, not an object");
        assert_eq!(bad("null"), "the line is null, not an object");
        assert_eq!(bad("-1"), "the line is a number, not an object");
        assert_eq!(bad("NaN"), "not JSON: expected value at byte 1");
        assert_eq!(bad(r#"{"text":NaN}"#), "not JSON: expected value at byte 9");
        assert_eq!(bad(r#"{"text":"a"} x"#), "not JSON: trailing characters at byte 14");
        assert!(bad(r#"{"text":"a"#).starts_with("not JSON: EOF while parsing a string"));
        assert_eq!(bad(r#"{"text":"\ud800"}"#), "`text` has an unpaired surrogate");
        assert_eq!(bad(r#"{"text":"\udc00\ud800"}"#), "`text` has an unpaired surrogate");
        let mut buffer = String::new();
        let found = read(b"{\"text\":\"\xff\"}", &columns(), &mut buffer).0;
        assert!(matches!(found, Record::Bad(reason) if reason.starts_with("not JSON: invalid unicode")));
    }

    #[test]
    fn a_value_is_told_as_it_stands() {
        assert_eq!(value(br#" {"a": 1e400 ,"b":[ 1,"\u00e9"]}"#, "a"), Some("1e400"));
        assert_eq!(value(br#"{"a": 1, "b":[ 1,"\u00e9"]}"#, "b"), Some(r#"[ 1,"\u00e9"]"#));
        assert_eq!(value(br#"{"a":1,"a":"\ud800"}"#, "a"), Some(r#""\ud800""#));
        assert_eq!(value(br#"{"b":1}"#, "a"), Some("null"));
        for line in [&b"[1]"[..], b"{\"a\":NaN}", b"{\"a\":1} 2", b"{\"a\":1,\"b\":\"\xff\"}", b""] {
            assert_eq!(value(line, "a"), None, "{line:?}");
        }
    }

    #[test]
    fn depth_costs_no_stack() {
        let deep = format!(r#"{{"a":{}1{},"text":"a"}}"#, "[".repeat(100_000), "]".repeat(100_000));
        assert_eq!(text(&deep), Record::Text("a", None));
        let text_deep = format!(r#"{{"text":{}{}}}"#, "[".repeat(100_000), "]".repeat(100_000));
        assert_eq!(bad(&text_deep), "`text` is an array, not a string");
    }

    proptest! {
        #![proptest_config(fixed(300))]

        #[test]
        fn the_text_is_what_a_full_parser_finds(value in any::<String>(), other in any::<Vec<Option<i32>>>()) {
            let line = serde_json::json!({"a": other, "text": value, "z": {"text": other}}).to_string();
            prop_assert_eq!(text(&line), Record::Text(&value, None));
            let escaped: String = value.encode_utf16().map(|unit| format!("\\u{unit:04x}")).collect();
            let line = format!("{{\"text\":\"{escaped}\"}}");
            prop_assert_eq!(text(&line), Record::Text(&value, None));
        }

        #[test]
        fn no_bytes_make_it_fail(line in prop::collection::vec(any::<u8>(), 0..80), start in "\\{\"text\":[\"\\[{1n]?") {
            let mut buffer = String::new();
            let _ = read(&line, &columns(), &mut buffer);
            let _ = read(&[start.as_bytes(), &line].concat(), &columns(), &mut buffer);
        }
    }
}
