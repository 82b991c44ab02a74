//! PHP and the text around it.

use super::{CodeLanguage, Quote, Shape};
use crate::fold::NodeClass;
use crate::lexer::Lexer;

/// PHP.
pub static PHP: CodeLanguage = CodeLanguage::new(
    "php",
    &[".php", ".phtml", ".php5", ".inc"],
    "php",
    tree_sitter_php::LANGUAGE_PHP,
    Shape {
        names: "name variable_name",
        numbers: "integer float",
        strings: "string encapsed_string heredoc nowdoc shell_command_expression",
        unread: "text",
        words: "<?php <?= ?> true false null callable iterable mixed void never int var",
        types: "callable iterable mixed never",
        imports: "use include include_once require require_once",
        soft: "encoding ticks list object enum self parent",
        case_blind: true,
        line_comments: &["//", "#"],
        quotes: &[
            Quote { hole: Some(("{$", b'}')), ..Quote::DOUBLE },
            Quote::SINGLE,
            Quote { open: "`", close: "`", ..Quote::DOUBLE },
        ],
        name_start: "$",
        spanning: true,
        special: Some(special),
        ..Shape::PLAIN
    },
);

/// Attributes and heredocs.
fn special(lexer: &Lexer<'_>, at: usize) -> Option<(usize, NodeClass)> {
    let rest = lexer.rest(at);
    if rest.starts_with("#[") {
        return Some((at + 2, lexer.literal("#[")));
    }
    if rest.starts_with('$') && !rest[1..].starts_with(|c: char| c.is_alphabetic() || c == '_') {
        return Some((at + 1, lexer.literal("$")));
    }
    let after = rest.strip_prefix("<<<")?.trim_start_matches([' ', '"', '\'']);
    let len = after.bytes().take_while(|byte| byte.is_ascii_alphanumeric() || *byte == b'_').count();
    // The mark at the opening is not alone on its line, so it does not end the string.
    let (_, end) = lexer.line_of(at, &after[..len], true).filter(|_| len > 0)?;
    Some((end, lexer.string()))
}
