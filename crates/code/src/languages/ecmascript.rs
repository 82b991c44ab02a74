//! JavaScript with JSX, TypeScript and TSX, whose tokens match each other.

use super::{CodeLanguage, Quote, Shape};
use crate::fold::NodeClass;
use crate::lexer::Lexer;
use crate::reachable;

const TEMPLATE: Quote = Quote { open: "`", close: "`", lines: true, hole: Some(("${", b'}')), ..Quote::DOUBLE };

const SHAPE: Shape = Shape {
    names: "identifier property_identifier private_property_identifier shorthand_property_identifier \
        shorthand_property_identifier_pattern statement_identifier type_identifier",
    numbers: "number",
    strings: "string template_string template_literal_type regex",
    comments: "comment html_comment hash_bang_line",
    unread: "jsx_text html_character_reference",
    ignored: ";",
    words: "true false null undefined this super import ?.",
    types: "any number never unknown",
    imports: "import",
    soft: "get set meta target using",
    quotes: &[Quote::DOUBLE, Quote::SINGLE, TEMPLATE],
    name_start: "$#",
    name_part: "$",
    special: Some(special),
    ends_lines: true,
    plan: Some(&reachable::ECMASCRIPT),
    ..Shape::PLAIN
};

const TYPED: Shape = Shape {
    soft:
        "?: +?: -?: get set meta target using accessor assert asserts declare global infer is module namespace object \
        require symbol unique override",
    generics: true,
    ..SHAPE
};

/// JavaScript, with JSX.
pub static JAVASCRIPT: CodeLanguage = CodeLanguage::new(
    "javascript",
    &[".js", ".jsx", ".mjs", ".cjs"],
    "ecmascript",
    tree_sitter_javascript::LANGUAGE,
    SHAPE,
);

/// TypeScript.
pub static TYPESCRIPT: CodeLanguage = CodeLanguage::new(
    "typescript",
    &[".ts", ".mts", ".cts"],
    "ecmascript",
    tree_sitter_typescript::LANGUAGE_TYPESCRIPT,
    TYPED,
);

/// TypeScript with JSX.
pub static TSX: CodeLanguage =
    CodeLanguage::new("tsx", &[".tsx"], "ecmascript", tree_sitter_typescript::LANGUAGE_TSX, TYPED);

/// Regular expressions: a slash that follows no operand begins one.
fn special(lexer: &Lexer<'_>, at: usize) -> Option<(usize, NodeClass)> {
    let rest = lexer.rest(at);
    if rest.starts_with("#!") && at == 0 {
        return Some((lexer.line_end(at), NodeClass::Comment));
    }
    let begins = rest.starts_with('/') && !rest.starts_with("//") && !rest.starts_with("/*") && !rest.starts_with("/>");
    if !begins || lexer.follows_operand() || lexer.text[..at].ends_with('<') {
        return None;
    }
    Some((lexer.regex_end(at)?, lexer.string()))
}
