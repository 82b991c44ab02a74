//! Lua.

use super::{CodeLanguage, Quote, Shape};
use crate::fold::NodeClass;
use crate::lexer::Lexer;

/// Lua.
pub static LUA: CodeLanguage = CodeLanguage::new(
    "lua",
    &[".lua"],
    "lua",
    tree_sitter_lua::LANGUAGE,
    Shape {
        numbers: "number",
        strings: "string",
        comments: "comment hash_bang_line",
        ignored: ";",
        words: "true false nil break ...",
        soft: "global",
        line_comments: &["--"],
        block_comments: &[],
        quotes: &[Quote::DOUBLE, Quote::SINGLE],
        special: Some(special),
        ends_lines: true,
        ..Shape::PLAIN
    },
);

/// Long brackets of strings and comments.
fn special(lexer: &Lexer<'_>, at: usize) -> Option<(usize, NodeClass)> {
    let rest = lexer.rest(at);
    if rest.starts_with("#!") && at == 0 {
        return Some((lexer.line_end(at), NodeClass::Comment));
    }
    let inside = if rest.starts_with("--") { 2 } else { 0 };
    let equals = rest[inside..].strip_prefix('[')?.bytes().take(256).take_while(|byte| *byte == b'=').count();
    rest[inside + 1 + equals..].strip_prefix('[')?;
    let end = lexer.find_end(at + inside + 2 + equals, &format!("]{}]", "=".repeat(equals)))?;
    Some((end, if inside == 0 { lexer.string() } else { NodeClass::Comment }))
}
