//! Cells of CSV: quoted if necessary, and guarded so that no spreadsheet runs them as formulas.
//!
//! A text that begins like a formula, and is no plain number, gets a leading apostrophe; so does one that begins with
//! apostrophes before that. So what was guarded is told from what was not, and is read back as it was.

use std::borrow::Cow;

/// The beginnings of formulas, as `FORMULA` of `lookalike.params` has them.
const FORMULA: [char; 12] = ['=', '+', '-', '@', '\t', '\r', '\n', '\0', '＝', '＋', '－', '＠'];

/// Whether a text is a plain number: a sign, digits, and a fraction.
fn is_number(text: &str) -> bool {
    let digits = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    match unsigned.split_once('.') {
        Some((whole, fraction)) => digits(whole) && digits(fraction),
        None => digits(unsigned),
    }
}

/// Whether a cell needs one more apostrophe.
fn is_guarded(text: &str) -> bool {
    let bare = text.trim_start_matches('\'');
    bare.starts_with(FORMULA) && !is_number(bare)
}

/// The text of a cell that may have been guarded.
pub fn unguarded(cell: &str) -> &str {
    cell.strip_prefix('\'').filter(|text| is_guarded(text)).unwrap_or(cell)
}

/// Appends a text as a cell.
pub fn push_cell(out: &mut Vec<u8>, text: &str) {
    let guarded: Cow<'_, str> = match is_guarded(text) {
        true => Cow::Owned(format!("'{text}")),
        false => Cow::Borrowed(text),
    };
    match guarded.contains([',', '"', '\r', '\n']) {
        true => {
            out.push(b'"');
            out.extend(guarded.replace('"', "\"\"").as_bytes());
            out.push(b'"');
        }
        false => out.extend(guarded.as_bytes()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn cell(text: &str) -> String {
        let mut out = Vec::new();
        push_cell(&mut out, text);
        String::from_utf8(out).expect("UTF-8")
    }

    #[test]
    fn formulas_are_guarded_and_numbers_are_not() {
        let cells =
            [("=1", "'=1"), ("-1", "-1"), ("+1.5", "+1.5"), ("-1-1", "'-1-1"), ("@a,b", "\"'@a,b\""), ("'=1", "''=1")];
        for (text, expected) in cells {
            assert_eq!(cell(text), expected);
        }
        assert_eq!(cell("a\"b"), "\"a\"\"b\"");
        assert_eq!((unguarded("'a"), unguarded("'-1"), unguarded("'=1")), ("'a", "'-1", "=1"));
    }

    proptest! {
        #[test]
        fn a_guarded_text_is_read_back(text in "['=+\\-@a1.＝\t]{0,6}") {
            let guarded = match is_guarded(&text) { true => format!("'{text}"), false => text.clone() };
            prop_assert_eq!(unguarded(&guarded), text);
        }
    }
}
