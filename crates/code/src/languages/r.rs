//! R.

use super::{CodeLanguage, Quote, Shape};
use crate::fold::NodeClass;
use crate::lexer::Lexer;

/// R.
pub static R: CodeLanguage = CodeLanguage::new(
    "r",
    &[".R", ".r"],
    "r",
    tree_sitter_r::LANGUAGE,
    Shape {
        names: "identifier dot_dot_i",
        numbers: "integer float complex",
        unread: "special",
        strings: "string",
        ignored: ";",
        words: "TRUE FALSE NULL Inf NaN break next , ...",
        soft: "L i special",
        line_comments: &["#"],
        block_comments: &[],
        quotes: &[Quote::DOUBLE, Quote::SINGLE],
        name_part: ".",
        spanning: true,
        special: Some(special),
        ends_lines: true,
        ..Shape::PLAIN
    },
);

/// Names with points, quoted names, raw strings and operators such as `%in%`.
fn special(lexer: &Lexer<'_>, at: usize) -> Option<(usize, NodeClass)> {
    let rest = lexer.rest(at);
    match rest.as_bytes()[0] {
        b'.' if !rest.starts_with("...")
            && rest[1..].starts_with(|c: char| c.is_alphabetic() || c == '_' || c == '.') =>
        {
            let len = rest.find(|c: char| !(c.is_alphanumeric() || c == '_' || c == '.')).unwrap_or(rest.len());
            Some((at + len, lexer.name()))
        }
        b'`' => Some((lexer.find_on_line(at + 1, b'`')?, lexer.name())),
        b'%' => {
            let end = lexer.find_on_line(at + 1, b'%')?;
            Some((end, lexer.literal(&lexer.text[at..end])))
        }
        b'r' | b'R' if rest[1..].starts_with(['"', '\'']) => raw_string(lexer, at),
        _ => None,
    }
}

/// `r"--(…)--"`, with any of three brackets.
fn raw_string(lexer: &Lexer<'_>, at: usize) -> Option<(usize, NodeClass)> {
    let rest = lexer.rest(at);
    let dashes = rest[2..].bytes().take(256).take_while(|byte| *byte == b'-').count();
    let bracket = match rest.as_bytes().get(2 + dashes)? {
        b'(' => ')',
        b'[' => ']',
        b'{' => '}',
        _ => return None,
    };
    let close = format!("{bracket}{}{}", "-".repeat(dashes), &rest[1..2]);
    Some((lexer.find_end(at + 3 + dashes, &close)?, lexer.string()))
}
