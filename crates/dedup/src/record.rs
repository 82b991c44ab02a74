//! Reads one line of JSON Lines: checks that it is an object and extracts the chosen columns.
//!
//! The parser finds the position of the text. The escapes are decoded here, into a buffer that is reused, because the
//! parser would allocate a new one for every line. Cost: about 0.7 ns per byte; the text is copied only if it has
//! escapes.

use lookalike_json::{members, reason, ValueKind};
use std::borrow::Cow;

/// The columns that are read. A name that is no key of a line leads into its objects: `doc.text`; the longest key that
/// it begins with counts.
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
    /// The same, of a text with halves of surrogate pairs, which are no characters: each became U+FFFD.
    Mended(&'a str, Option<f64>),
    /// Only white space.
    Blank,
    /// An object whose text is missing or null.
    Missing,
    /// Anything else; the reason.
    Bad(String),
}

/// The name of a row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RowName<'a> {
    /// A string without its quotes, or the JSON of any other value.
    pub text: Cow<'a, str>,
    /// Whether it is a string.
    pub is_string: bool,
}

/// Reads a line and its name. The text borrows from the line, or from `buffer` if it has escapes. Null is no
/// name.
pub fn read<'a>(line: &'a [u8], columns: &RecordColumns, buffer: &'a mut String) -> (Record<'a>, Option<RowName<'a>>) {
    if line.iter().all(u8::is_ascii_whitespace) {
        return (Record::Blank, None);
    }
    let paths = [Some(&*columns.text), columns.name.as_deref(), columns.number.as_deref()];
    match values(line, &paths) {
        Ok([text, name, number]) => {
            let number = number.and_then(number_of);
            (text_of(text, number, columns, buffer), name.and_then(name_of))
        }
        Err(error) => (Record::Bad(reason(&error)), None),
    }
}

/// A number, or a string that is one, as tables without types have them.
fn number_of(raw: &str) -> Option<f64> {
    match ValueKind::of(raw) {
        ValueKind::Number => raw.parse().ok(),
        ValueKind::String => written_number(&string_of(&raw[1..raw.len() - 1])),
        _ => None,
    }
}

/// A decimal number between blanks of ASCII, by the rule of `corpora/written.py`: `inf` and `nan` are names.
fn written_number(text: &str) -> Option<f64> {
    let bare = text.trim_matches([' ', '\t', '\n', '\u{b}', '\u{c}', '\r']);
    let is_decimal = bare.bytes().all(|byte| byte.is_ascii_digit() || b"+-.eE".contains(&byte));
    bare.parse().ok().filter(|_| is_decimal)
}

/// The characters between the quotes of a string.
fn string_of(inner: &str) -> Cow<'_, str> {
    if !inner.contains('\\') {
        return Cow::Borrowed(inner);
    }
    let mut text = String::new();
    unescape(inner, &mut text);
    Cow::Owned(text)
}

fn name_of(raw: &str) -> Option<RowName<'_>> {
    match ValueKind::of(raw) {
        ValueKind::Null => None,
        ValueKind::Number | ValueKind::Other(_) => Some(RowName { text: Cow::Borrowed(raw), is_string: false }),
        ValueKind::String => Some(RowName { text: string_of(&raw[1..raw.len() - 1]), is_string: true }),
    }
}

fn text_of<'a>(
    raw: Option<&'a str>,
    number: Option<f64>,
    columns: &RecordColumns,
    buffer: &'a mut String,
) -> Record<'a> {
    match (raw, ValueKind::of(raw.unwrap_or("null"))) {
        (None, _) | (_, ValueKind::Null) => Record::Missing,
        (Some(raw), ValueKind::String) => {
            let inner = &raw[1..raw.len() - 1];
            match memchr::memchr(b'\\', inner.as_bytes()) {
                None => Record::Text(inner, number),
                Some(_) => match unescape(inner, buffer) {
                    0 => Record::Text(buffer, number),
                    _ => Record::Mended(buffer, number),
                },
            }
        }
        (_, ValueKind::Number) => Record::Bad(format!("`{}` is a number, not a string", columns.text)),
        (_, ValueKind::Other(kind)) => Record::Bad(format!("`{}` is {kind}, not a string", columns.text)),
    }
}

/// The JSON of a column's value, if the line is an object in UTF-8; `null` if the column is missing.
pub fn value<'a>(line: &'a [u8], column: &str) -> Option<&'a str> {
    let line = std::str::from_utf8(line).ok()?;
    let [found, ..] = values(line.as_bytes(), &[Some(column), None, None]).ok()?;
    Some(found.unwrap_or("null"))
}

/// Decodes the escapes of the inside of a JSON string. Returns how many halves of surrogate pairs it has, which a string
/// cannot hold: each becomes U+FFFD.
///
/// REQUIRES: the parser has checked the string.
fn unescape(inner: &str, out: &mut String) -> usize {
    out.clear();
    let (mut rest, mut halves) = (inner, 0);
    while let Some(at) = memchr::memchr(b'\\', rest.as_bytes()) {
        out.push_str(&rest[..at]);
        let mut used = 2;
        match rest.as_bytes().get(at + 1) {
            Some(b'b') => out.push('\u{8}'),
            Some(b'f') => out.push('\u{C}'),
            Some(b'n') => out.push('\n'),
            Some(b'r') => out.push('\r'),
            Some(b't') => out.push('\t'),
            Some(b'u') => {
                let unit = |from: usize| u16::from_str_radix(rest.get(from..from + 4)?, 16).ok();
                let second = || rest.get(at + 6..)?.starts_with("\\u").then(|| unit(at + 8)).flatten();
                let first = unit(at + 2).unwrap_or(0xD800);
                let pair = second().and_then(|second| char::decode_utf16([first, second]).next()?.ok());
                let is_pair = pair.is_some_and(|found| found > '\u{FFFF}');
                let found = if is_pair { pair } else { char::from_u32(u32::from(first)) };
                halves += usize::from(found.is_none());
                out.push(found.unwrap_or(char::REPLACEMENT_CHARACTER));
                used = if is_pair { 12 } else { 6 };
            }
            plain => out.push(plain.map_or(char::REPLACEMENT_CHARACTER, |byte| char::from(*byte))),
        }
        rest = rest.get(at + used..).unwrap_or("");
    }
    out.push_str(rest);
    halves
}

/// The JSON of the values at the paths that are asked for, where the line has them.
type Values<'a> = [Option<&'a str>; 3];

/// Whether a path can begin with a key, by a look that is cheap: nearly all keys of a line differ in their first byte.
#[inline]
fn may_lead(path: &str, key: &str) -> bool {
    path.len() >= key.len() && path.as_bytes().first() == key.as_bytes().first()
}

/// What is left of a path behind a key: nothing if the key is the whole path.
fn rest_of<'c>(path: &'c str, key: &str) -> Option<&'c str> {
    match path.strip_prefix(key)? {
        "" => Some(""),
        rest => rest.strip_prefix('.'),
    }
}

/// The value at a path inside a value, if that is an object and has it.
fn inside<'a>(raw: &'a str, path: &str) -> Option<&'a str> {
    if path.is_empty() {
        return Some(raw);
    }
    let [found, ..] = values(raw.as_bytes(), &[Some(path), None, None]).ok()?;
    found
}

/// The values at these paths. Errors: the bytes are not one JSON object.
fn values<'a>(object: &'a [u8], paths: &[Option<&str>; 3]) -> serde_json::Result<Values<'a>> {
    let mut found = [None; 3];
    // How much of each path is left behind the key that was taken for it.
    let mut left = [usize::MAX; 3];
    let wants = |key: &str| paths.iter().flatten().any(|path| may_lead(path, key));
    members(object, wants, |key, raw| {
        for (at, path) in paths.iter().enumerate() {
            let rest = path.and_then(|path| rest_of(path, key)).filter(|rest| rest.len() <= left[at]);
            if let Some(rest) = rest {
                (found[at], left[at]) = (inside(raw, rest), rest.len());
            }
        }
    })?;
    Ok(found)
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
        read(line.as_bytes(), &columns(), &mut String::new()).1.map(|name| name.text.into_owned())
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
    fn a_number_may_be_a_string() {
        assert_eq!(text(r#"{"stars": "4.5", "text":"a"}"#), Record::Text("a", Some(4.5)));
        assert_eq!(text(r#"{"stars": " -1e3 ", "text":"a"}"#), Record::Text("a", Some(-1000.0)));
        assert_eq!(text(r#"{"stars": "\t\u0037\u002e", "text":"a"}"#), Record::Text("a", Some(7.0)));
        for value in [
            r#""high""#,
            r#""2024-01-01""#,
            r#""""#,
            r#""inf""#,
            r#""nan""#,
            r#""1_0""#,
            r#""+""#,
            "true",
            "[1]",
            "null",
        ] {
            assert_eq!(text(&format!(r#"{{"stars": {value}, "text":"a"}}"#)), Record::Text("a", None), "{value}");
        }
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
        assert!(bad(&r#"{"text":"a"}"#[..10]).starts_with("not JSON: EOF while parsing a string"));
        let mut buffer = String::new();
        let found = read(b"{\"text\":\"\xff\"}", &columns(), &mut buffer).0;
        assert!(matches!(found, Record::Bad(reason) if reason.starts_with("not JSON: invalid unicode")));
    }

    #[test]
    fn half_a_surrogate_pair_becomes_a_mark() {
        assert_eq!(text(r#"{"text":"a\ud800b"}"#), Record::Mended("a\u{FFFD}b", None));
        assert_eq!(text(r#"{"text":"\udc00\ud800"}"#), Record::Mended("\u{FFFD}\u{FFFD}", None));
        assert_eq!(text(r#"{"text":"\ud800\u0061"}"#), Record::Mended("\u{FFFD}a", None));
        assert_eq!(text(r#"{"text":"\ud83d\ude00\u00e9"}"#), Record::Text("\u{1F600}é", None));
    }

    #[test]
    fn a_path_leads_into_objects() {
        let columns = RecordColumns {
            text: "doc.text".to_owned(),
            number: Some("meta.s.x".to_owned()),
            name: Some("meta.id".to_owned()),
        };
        let read = |line: &str| {
            let (record, name) = read(line.as_bytes(), &columns, Box::leak(Box::default()));
            (format!("{record:?}"), name.map(|name| name.text.into_owned()))
        };
        let told = |record: &str, name: Option<&str>| (record.to_owned(), name.map(str::to_owned));
        let whole = r#"{"doc":{"a":1,"text":"yes"},"meta":{"id":7,"s":{"x":2}},"text":"no"}"#;
        assert_eq!(read(whole), told(r#"Text("yes", Some(2.0))"#, Some("7")));
        assert_eq!(read(r#"{"doc.text":"flat","doc":{"text":"deep"}}"#), told(r#"Text("flat", None)"#, None));
        assert_eq!(read(r#"{"doc":{"text":"deep"},"doc.text":"flat"}"#), told(r#"Text("flat", None)"#, None));
        assert_eq!(read(r#"{"doc":"no object","docs":{"text":"no"}}"#), told("Missing", None));
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
