//! C#.

use super::{CodeLanguage, Quote, Shape};
use crate::fold::NodeClass;
use crate::lexer::Lexer;

const VERBATIM: Quote = Quote { open: "@\"", escape: None, doubled: true, lines: true, ..Quote::DOUBLE };

/// C#.
pub static CSHARP: CodeLanguage = CodeLanguage::new(
    "csharp",
    &[".cs", ".csx"],
    "csharp",
    tree_sitter_c_sharp::LANGUAGE,
    Shape {
        names: "identifier discard",
        numbers: "integer_literal real_literal",
        strings: "string_literal verbatim_string_literal raw_string_literal interpolated_string_expression \
            character_literal",
        comments: "comment shebang_directive",
        unread: "preproc_arg",
        words: "bool byte char decimal double float int long object sbyte short string uint ulong ushort void nint \
            nuint null true false var dynamic",
        types: "decimal object sbyte uint ulong ushort nint nuint",
        imports: "using",
        soft: "_ add alias annotations assembly checksum disable enable equals field file group hidden managed \
            method module notnull on param property remove restore scoped type typevar unmanaged warning \
            warnings by record when with let into join ascending descending get set init value Cdecl Fastcall Stdcall Thiscall",
        quotes: &[
            Quote { open: "$@\"", hole: Some(("{", b'}')), ..VERBATIM },
            Quote { open: "@$\"", hole: Some(("{", b'}')), ..VERBATIM },
            VERBATIM,
            Quote { open: "$\"\"\"", hole: Some(("{", b'}')), ..Quote::TRIPLE },
            Quote { open: "$\"", hole: Some(("{", b'}')), ..Quote::DOUBLE },
            Quote::TRIPLE,
            Quote::DOUBLE,
            Quote::SINGLE,
        ],
        name_start: "@",
        generics: true,
        special: Some(special),
        ..Shape::PLAIN
    },
);

/// Directives.
fn special(lexer: &Lexer<'_>, at: usize) -> Option<(usize, NodeClass)> {
    lexer.directive(at)
}
