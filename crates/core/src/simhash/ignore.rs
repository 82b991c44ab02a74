//! Removes parts of a text that are not compared: counters, dates, addresses, advertisements (Manku, Jain, Das Sarma
//! 2007, §6 D).
//!
//! A match becomes a space, so that the words around it stay separate. Patterns are those of the `regex` crate: it has
//! no look-around and no back-references, and its time is linear in the text. The compiled patterns together have a
//! size limit.
//!
//! Cost: one search through the text, and a copy if anything matches.

use crate::error::{Error, Result};
use regex::{Regex, RegexBuilder};
use std::borrow::Cow;

/// The named patterns.
pub const NAMED: [(&str, &str); 3] = [
    ("dates", DATES),
    ("numbers", r"[+-]?\p{Nd}+(?:[.,:/'\u{A0}\u{202F}-]?\p{Nd}+)*%?"),
    ("urls", r#"(?i:\b(?:[a-z][a-z0-9+.-]*://|www\.)[^\s<>"]+)"#),
];

macro_rules! month {
    () => {
        r"(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)\b"
    };
}

/// Days as numbers, days with the name of an English month before or after them, and times of day. ISO weeks are not
/// included.
const DATES: &str = concat!(
    r"\b\p{Nd}{4}-\p{Nd}{1,2}-\p{Nd}{1,2}(?:T\p{Nd}{2}:\p{Nd}{2}(?::\p{Nd}{2})?(?:\.\p{Nd}+)?(?:Z|[+-]\p{Nd}{2}:?\p{Nd}{2})?)?\b",
    r"|\b\p{Nd}{1,2}[./-]\p{Nd}{1,2}[./-]\p{Nd}{2,4}\b",
    r"|(?i:\b\p{Nd}{1,2}(?:st|nd|rd|th)?\.?\s+",
    month!(),
    r"\.?,?(?:\s+\p{Nd}{4})?\b)",
    r"|(?i:\b",
    month!(),
    r"\.?\s+\p{Nd}{1,2}(?:st|nd|rd|th)?(?:,?\s+\p{Nd}{4})?\b)",
    r"|(?i:\b\p{Nd}{1,2}:\p{Nd}{2}(?::\p{Nd}{2})?(?:\s?[ap]\.?m\b\.?)?)",
);

/// Most bytes that all compiled patterns together may take.
const SIZE_LIMIT: usize = 1 << 22;

/// Compiled patterns.
#[derive(Clone, Debug)]
pub struct Ignore {
    given: Vec<String>,
    regex: Regex,
}

impl PartialEq for Ignore {
    fn eq(&self, other: &Self) -> bool {
        self.given == other.given
    }
}

impl Ignore {
    /// Compiles patterns, or names of [`NAMED`]; `None` if there are none. Errors: an invalid or too large pattern.
    pub fn new(given: &[String]) -> Result<Option<Self>> {
        let mut alternatives = Vec::new();
        for pattern in given {
            let named = NAMED.iter().find(|(name, _)| name == pattern).map(|(_, named)| *named);
            // Each pattern is compiled alone first: the message then names it, and it cannot reach into the next
            // alternative.
            let whole = named.unwrap_or(pattern);
            if compile(whole).map_err(|error| refused(pattern, &error))?.is_match("") {
                let reason = "it matches the empty text".to_owned();
                return Err(Error::Pattern { pattern: pattern.clone(), reason });
            }
            alternatives.push(format!("(?:{whole})"));
        }
        if alternatives.is_empty() {
            return Ok(None);
        }
        let regex = compile(&alternatives.join("|")).map_err(|error| refused(&given.join(" "), &error))?;
        Ok(Some(Self { given: given.to_vec(), regex }))
    }

    /// Replaces every match in the text by a space.
    pub fn strip<'t>(&self, text: &'t str) -> Cow<'t, str> {
        let mut kept = String::new();
        let mut at = 0;
        for found in self.regex.find_iter(text).filter(|found| !found.is_empty()) {
            kept.push_str(&text[at..found.start()]);
            kept.push(' ');
            at = found.end();
        }
        if at == 0 {
            return Cow::Borrowed(text);
        }
        kept.push_str(&text[at..]);
        Cow::Owned(kept)
    }
}

fn compile(pattern: &str) -> std::result::Result<Regex, regex::Error> {
    RegexBuilder::new(pattern).size_limit(SIZE_LIMIT).build()
}

/// Makes an error from the last line of the compiler's message, which has the reason.
fn refused(pattern: &str, error: &regex::Error) -> Error {
    let whole = error.to_string();
    let reason = whole.lines().last().unwrap_or(&whole).trim().trim_start_matches("error: ").to_owned();
    Error::Pattern { pattern: pattern.to_owned(), reason }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn strip(patterns: &[&str], text: &str) -> String {
        let given: Vec<String> = patterns.iter().map(|pattern| (*pattern).to_owned()).collect();
        Ignore::new(&given)
            .expect("patterns")
            .expect("some")
            .strip(text)
            .split_whitespace()
            .collect::<Vec<_>>()
            .join(" ")
    }

    #[test]
    fn named_patterns_are_what_they_are_called() {
        assert_eq!(strip(&["dates"], "On 2026-11-16T12:30:00Z, 3.4.2025 and 12/31/99 it rained"), "On , and it rained");
        assert_eq!(
            strip(&["dates"], "From March 3rd, 2024 to 4 Apr 2024 at 10:30 pm, or mayhem 7"),
            "From to at , or mayhem 7"
        );
        assert_eq!(strip(&["numbers"], "12,345 visitors, 3.5% more, -7 and ٣٤ in v2"), "visitors, more, and in v");
        assert_eq!(strip(&["urls"], "see https://example.org/a?b=1 or www.example.com now"), "see or now");
    }

    #[test]
    fn a_match_parts_words_and_nothing_is_copied_without_one() {
        assert_eq!(strip(&["x+"], "axxb"), "a b");
        assert_eq!(strip(&["x+", "y"], "axby"), "a b");
        let ignore = Ignore::new(&["zzz".to_owned()]).expect("a pattern").expect("one");
        assert!(matches!(ignore.strip("abc"), Cow::Borrowed("abc")));
        assert_eq!(Ignore::new(&[]), Ok(None));
    }

    #[test]
    fn what_is_no_pattern_is_refused() {
        let message = |pattern: &str| Ignore::new(&[pattern.to_owned()]).expect_err("refused").to_string();
        assert!(message("(").starts_with("pattern `(` cannot be used: unclosed group"), "{}", message("("));
        assert!(message("(a)\\1").contains("backreferences are not supported"));
        assert!(message("(?:\\w{1000}){1000}").contains("exceeds size limit"));
        assert!(message("a)|(b").contains("unopened group"));
        assert!(message("x*").contains("it matches the empty text"));
    }
}
