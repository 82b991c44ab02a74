//! Ruby.

use super::{CodeLanguage, Quote, Shape, SCANNER_BYTES};
use crate::fold::NodeClass;
use crate::lexer::Lexer;

const HOLE: Option<(&str, u8)> = Some(("#{", b'}'));

/// Ruby.
pub static RUBY: CodeLanguage = CodeLanguage::new(
    "ruby",
    &[".rb", ".rake", ".gemspec"],
    "ruby",
    tree_sitter_ruby::LANGUAGE,
    Shape {
        names: "identifier constant instance_variable class_variable global_variable simple_symbol hash_key_symbol",
        numbers: "integer float rational complex",
        strings: "string character regex subshell string_array symbol_array delimited_symbol heredoc_beginning \
            heredoc_body",
        comments: "comment uninterpreted",
        ignored: ";",
        words: "true false nil self super __FILE__ __LINE__ __ENCODING__",
        soft: "i r ri",
        line_comments: &["#"],
        block_comments: &[("=begin", "=end")],
        quotes: &[
            Quote { hole: HOLE, ..Quote::DOUBLE },
            Quote::SINGLE,
            Quote { open: "`", close: "`", hole: HOLE, ..Quote::DOUBLE },
        ],
        name_end: "?!",
        fits: Some(fits),
        spanning: true,
        special: Some(special),
        ends_lines: true,
        ..Shape::PLAIN
    },
);

/// Whether the scanner has room for the open literals and heredocs: five bytes per literal, four and the mark per
/// heredoc. The scanner itself checks literals only, and counts marks in one byte. This function overestimates the
/// number of open literals.
fn fits(text: &str) -> bool {
    let bytes = text.as_bytes();
    let is_word = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte >= 0x80;
    let (mut literals, mut heredocs) = (0, 0);
    for (i, byte) in bytes.iter().enumerate() {
        literals += usize::from(b"\"'`/%:?".contains(byte));
        if *byte != b'<' || !bytes[..i].ends_with(b"<") {
            continue;
        }
        let after = &bytes[i + 1..];
        let after = &after[usize::from(matches!(after.first(), Some(b'-' | b'~')))..];
        let len = match after.first() {
            Some(quote @ (b'"' | b'\'' | b'`')) => {
                after[1..].iter().take(256).position(|other| other == quote).unwrap_or(256)
            }
            _ => after.iter().take(256).take_while(|byte| is_word(**byte)).count(),
        };
        if len > 255 {
            return false;
        }
        heredocs += if len > 0 { 4 + len } else { 0 };
    }
    heredocs == 0 || 2 + 5 * literals + heredocs < SCANNER_BYTES - 4
}

/// Variables, symbols, regular expressions, heredocs and `%` literals.
fn special(lexer: &Lexer<'_>, at: usize) -> Option<(usize, NodeClass)> {
    let rest = lexer.rest(at);
    let bytes = rest.as_bytes();
    let next = |i: usize| bytes.get(i).copied().unwrap_or(b' ');
    let is_word = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte >= 0x80;
    let name = |skip: usize| {
        let len = rest[skip..].find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(rest.len() - skip);
        let end = skip + len + usize::from(matches!(next(skip + len), b'?' | b'!') && next(skip + len + 1) != b'=');
        Some((at + if bytes[0] == b':' { end } else { skip + len }, lexer.name()))
    };
    match bytes[0] {
        b'@' if next(1) == b'@' => name(2),
        b'@' | b'$' if is_word(next(1)) => name(1),
        b'$' if !next(1).is_ascii_whitespace() && next(1).is_ascii() => Some((at + 2, lexer.name())),
        b':' if is_word(next(1)) && !next(1).is_ascii_digit() && !lexer.text[..at].ends_with(':') => name(1),
        b'/' if !lexer.follows_operand() => Some((lexer.regex_end(at)?, lexer.string())),
        b'%' if !lexer.follows_operand() || begins_argument(lexer, at) => percent(lexer, at),
        b'<' if rest.starts_with("<<") => heredoc(lexer, at),
        _ => None,
    }
}

/// Whether a literal stands after a blank, as in `puts %w[a b]`; a remainder has a blank on both sides or on none.
fn begins_argument(lexer: &Lexer<'_>, at: usize) -> bool {
    let after = &lexer.rest(at).as_bytes()[1..];
    let is_literal =
        matches!(after, [letter, bracket, ..] if b"wWiIqQrsx".contains(letter) && b"([{<|!".contains(bracket));
    is_literal && lexer.text[..at].ends_with([' ', '\t'])
}

/// `%w[…]` and similar literals, without brackets inside.
fn percent(lexer: &Lexer<'_>, at: usize) -> Option<(usize, NodeClass)> {
    let bytes = lexer.rest(at).as_bytes();
    let letter = usize::from(bytes.get(1).is_some_and(|byte| b"wWiIqQrsx".contains(byte)));
    let close = match bytes.get(1 + letter)? {
        b'(' => ")",
        b'[' => "]",
        b'{' => "}",
        b'<' => ">",
        b'|' => "|",
        b'!' => "!",
        _ => return None,
    };
    Some((lexer.find_end(at + 2 + letter, close)?, lexer.string()))
}

/// `<<~MARK`: the body is on the lines below.
fn heredoc(lexer: &Lexer<'_>, at: usize) -> Option<(usize, NodeClass)> {
    let rest = lexer.rest(at);
    let after = rest[2..].trim_start_matches(['-', '~']);
    let bare = after.trim_start_matches(['"', '\'']);
    let len = bare.bytes().take_while(|byte| byte.is_ascii_alphanumeric() || *byte == b'_').count();
    if len == 0 || !bare.starts_with(|c: char| c.is_ascii_uppercase()) || after.len() - bare.len() > 1 {
        return None;
    }
    lexer.heredoc.set(Some((&bare[..len], true)));
    let quotes = 2 * (after.len() - bare.len());
    Some((at + (2 + rest[2..].len() - after.len() + len + quotes).min(rest.len()), lexer.string()))
}
