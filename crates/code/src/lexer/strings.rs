//! Finds where strings, templates and regular expressions end, with code inside them.
//!
//! Cost: one pass over each; searches that fail are counted (`Lexer::patiently`).

use super::{is_line_end, Lexer};
use crate::languages::Quote;

impl Lexer<'_> {
    /// End of the string at `at`, its prefix included, if there is one.
    pub fn string_end(&self, at: usize) -> Option<usize> {
        let prefix = self.rest(at).bytes().take(2).take_while(u8::is_ascii_alphabetic).count();
        self.language.shape.quotes.iter().find_map(|quote| self.quote_end(quote, at, at + prefix))
    }

    /// End of the string that begins at `start`, if its quote is at `at`; between them is its prefix.
    pub(super) fn quote_end(&self, quote: &'static Quote, start: usize, at: usize) -> Option<usize> {
        if !self.rest(at).starts_with(quote.open) {
            return None;
        }
        let prefix = &self.text[start..at];
        let is_known = if prefix.is_empty() { !quote.needs_prefix } else { quote.prefixes.contains(&prefix) };
        if !is_known {
            return None;
        }
        let inside = at + quote.open.len();
        if self.spans && !quote.lines {
            if let Some(end) = self.patiently(inside, || self.closed(quote, inside, false)) {
                return Some(end);
            }
            self.unclosed.set(true);
        }
        if !quote.lines {
            return Some(self.closed(quote, inside, true).unwrap_or_else(|line_end| line_end));
        }
        Some(self.patiently(inside, || self.closed(quote, inside, false)).unwrap_or(inside))
    }

    /// End of a string whose inside begins at `at`. Errors: the string is not closed; the value says where the search
    /// ended.
    ///
    /// Code inside a string may hold strings, so a stack keeps what is open.
    fn closed(&self, quote: &'static Quote, at: usize, stays_on_line: bool) -> Result<usize, usize> {
        let bytes = &self.text.as_bytes()[..self.to];
        let mut at = at;
        let mut open = vec![OpenContext::String(quote)];
        while at < bytes.len() {
            let rest = &bytes[at..];
            match open.last() {
                None => break,
                Some(OpenContext::String(quote)) if quote.escape == Some(rest[0]) && !quote.opens_hole(rest) => {
                    // An escaped line end carries a string over to the next line.
                    at += if rest.starts_with(b"\\\r\n") { 3 } else { 2 };
                }
                Some(_) if stays_on_line && is_line_end(rest[0]) => return Err(at),
                Some(OpenContext::String(quote)) if rest.starts_with(quote.close.as_bytes()) => {
                    at += quote.close.len();
                    if quote.doubled && bytes[at..].starts_with(quote.close.as_bytes()) {
                        at += quote.close.len();
                        continue;
                    }
                    open.pop();
                    if open.is_empty() {
                        return Ok(at);
                    }
                }
                Some(OpenContext::String(Quote { hole: Some((start, end)), .. }))
                    if rest.starts_with(start.as_bytes()) =>
                {
                    open.push(OpenContext::Hole(*end));
                    at += start.len();
                }
                // A shell writes code inside a string in three ways.
                Some(OpenContext::String(Quote { hole: Some(("$(", _)), .. }))
                    if rest[0] == b'`' || rest.starts_with(b"${") =>
                {
                    open.push(OpenContext::Hole(if rest[0] == b'`' { b'`' } else { b'}' }));
                    at += if rest[0] == b'`' { 1 } else { 2 };
                }
                Some(OpenContext::String(_)) => at += 1,
                Some(OpenContext::Hole(end)) => {
                    let begins = |quote: &&Quote| !quote.needs_prefix && rest.starts_with(quote.open.as_bytes());
                    let inner = self.language.shape.quotes.iter().find(begins);
                    at += inner.map_or(1, |quote| quote.open.len());
                    match (inner, rest[0]) {
                        (Some(quote), _) => open.push(OpenContext::String(quote)),
                        (None, byte) if byte == *end => drop(open.pop()),
                        (None, b'(') if *end == b')' => open.push(OpenContext::Hole(b')')),
                        (None, b'{') if *end == b'}' => open.push(OpenContext::Hole(b'}')),
                        _ => {}
                    }
                }
            }
        }
        Err(self.to)
    }

    /// End of the regular expression that begins with the slash at `at`, with its flags, if it ends on its line.
    pub fn regex_end(&self, at: usize) -> Option<usize> {
        let bytes = &self.text.as_bytes()[..self.to];
        self.patiently(at, || {
            let (mut end, mut in_class) = (at + 1, false);
            while end < bytes.len() && !is_line_end(bytes[end]) {
                match bytes[end] {
                    b'\\' => end += 1,
                    b'[' => in_class = true,
                    b']' => in_class = false,
                    b'/' if !in_class => {
                        let flags = bytes[end + 1..].iter().take_while(|byte| byte.is_ascii_alphabetic()).count();
                        return Ok(end + 1 + flags);
                    }
                    _ => {}
                }
                end += 1;
            }
            Err(end.min(bytes.len()))
        })
    }
}

/// What is open inside a string.
enum OpenContext {
    /// The string itself, or one inside a hole.
    String(&'static Quote),
    /// Code inside a string, up to this closing byte.
    Hole(u8),
}

impl Quote {
    /// Whether code begins here with the byte that otherwise escapes.
    fn opens_hole(&self, rest: &[u8]) -> bool {
        self.hole.is_some_and(|(start, _)| rest.starts_with(start.as_bytes()))
    }
}
