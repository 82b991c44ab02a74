//! The languages, one file each: the grammar, the meaning of its nodes, and the table for the lexer.

mod bash;
mod c;
mod csharp;
mod ecmascript;
mod go;
mod java;
mod kotlin;
mod lua;
mod php;
mod python;
mod r;
mod ruby;
mod rust;
mod scala;
mod sql;
mod swift;

use crate::fold::{FoldTables, NodeClass};
use crate::lexer::Lexer;
use crate::reachable::Plan;
use std::sync::OnceLock;
use tree_sitter_language::LanguageFn;

/// All languages, in the order of their names.
pub static LANGUAGES: &[&CodeLanguage] = &[
    &bash::BASH,
    &c::C,
    &c::CPP,
    &csharp::CSHARP,
    &go::GO,
    &java::JAVA,
    &ecmascript::JAVASCRIPT,
    &kotlin::KOTLIN,
    &lua::LUA,
    &php::PHP,
    &python::PYTHON,
    &r::R,
    &ruby::RUBY,
    &rust::RUST,
    &scala::SCALA,
    &sql::SQL,
    &swift::SWIFT,
    &ecmascript::TSX,
    &ecmascript::TYPESCRIPT,
];

/// The language with this name.
pub fn language(name: &str) -> Option<&'static CodeLanguage> {
    LANGUAGES.iter().find(|language| language.name == name).copied()
}

/// A language that can be read.
pub struct CodeLanguage {
    /// Its name in lower case, as given to `--language`.
    pub name: &'static str,
    /// The suffixes of its file names, with the point.
    pub suffixes: &'static [&'static str],
    /// The group of languages whose tokens match each other; part of every token's value.
    pub family: &'static str,
    pub(crate) shape: Shape,
    entry: LanguageFn,
    grammar: OnceLock<tree_sitter::Language>,
    tables: OnceLock<FoldTables>,
}

impl CodeLanguage {
    const fn new(
        name: &'static str,
        suffixes: &'static [&'static str],
        family: &'static str,
        entry: LanguageFn,
        shape: Shape,
    ) -> Self {
        Self { name, suffixes, family, shape, entry, grammar: OnceLock::new(), tables: OnceLock::new() }
    }

    /// Whether unreachable code is looked for.
    pub fn is_analysed(&self) -> bool {
        self.shape.plan.is_some()
    }

    /// The grammar in the parser's form.
    pub(crate) fn grammar(&self) -> &tree_sitter::Language {
        self.grammar.get_or_init(|| tree_sitter::Language::new(self.entry))
    }

    /// The tables of folded nodes and words.
    pub(crate) fn tables(&self) -> &FoldTables {
        self.tables.get_or_init(|| FoldTables::new(self))
    }
}

/// The meaning of a grammar's nodes, and how the lexer reads the language. Sets are words separated by blanks.
pub(crate) struct Shape {
    /// Node kinds that are identifiers.
    pub names: &'static str,
    /// Node kinds that are identifiers even where their text is a keyword or a sign.
    pub variables: &'static str,
    /// Node kinds that are numbers.
    pub numbers: &'static str,
    /// Node kinds that are strings or similar, with everything inside them.
    pub strings: &'static str,
    /// Node kinds that are comments.
    pub comments: &'static str,
    /// Node kinds that are comments if they hold nothing but a string.
    pub remarks: &'static str,
    /// Node kinds whose text the lexer reads.
    pub unread: &'static str,
    /// Node kinds and literal texts that are not tokens, such as optional terminators.
    pub ignored: &'static str,
    /// Keywords that are rules of the grammar, so that it does not list them as literal texts.
    pub words: &'static str,
    /// Keywords that are built-in types, beside the usual ones.
    pub types: &'static str,
    /// Keywords that begin an import, include, package or using line.
    pub imports: &'static str,
    /// Keywords that are mostly identifiers, and operators that are mostly two operators: the lexer reads them as
    /// those.
    pub soft: &'static str,
    /// The prefix of keyword rules, in a grammar that has one rule per keyword.
    pub keyword_rules: &'static str,
    /// Whether a statement usually ends with its line.
    pub ends_lines: bool,
    /// Whether keywords may be written in either case.
    pub case_blind: bool,
    /// The openings of comments that end with the line.
    pub line_comments: &'static [&'static str],
    /// The openings and closings of other comments.
    pub block_comments: &'static [(&'static str, &'static str)],
    /// Whether block comments contain block comments.
    pub comments_nest: bool,
    /// The kinds of strings, the longest opening first.
    pub quotes: &'static [Quote],
    /// Whether any string may hold line ends. The lexer reads strings so if all of them are closed then; otherwise a quote
    /// is missing, and every string ends with its line.
    pub spanning: bool,
    /// Characters beyond letters and `_` that begin a name.
    pub name_start: &'static str,
    /// Characters beyond letters, digits and `_` that continue a name.
    pub name_part: &'static str,
    /// Characters one of which may end a name.
    pub name_end: &'static str,
    /// Whether a sign may be part of a number.
    pub signed_numbers: bool,
    /// Whether `>>` may close two lists of type arguments.
    pub generics: bool,
    /// Whether the scanner of the grammar has room for everything that a text opens at once. It has [`SCANNER_BYTES`];
    /// some scanners abort or write beyond them.
    pub fits: Option<fn(&str) -> bool>,
    /// Reads what only this language has at an offset: its end and class, or `None`.
    pub special: Option<Special>,
    /// How definitions are read, if unreachable code is looked for.
    pub plan: Option<&'static Plan>,
}

/// Bytes that a grammar's scanner has for its state: a constant of tree-sitter.
const SCANNER_BYTES: usize = 1_024;

/// Reads the tokens that only one language has.
pub(crate) type Special = fn(&Lexer<'_>, usize) -> Option<(usize, NodeClass)>;

impl Shape {
    /// The default: comments and quotes of C, nothing special.
    const PLAIN: Self = Self {
        names: "identifier",
        variables: "",
        numbers: "",
        strings: "",
        comments: "comment",
        remarks: "",
        unread: "",
        ignored: "",
        words: "",
        types: "",
        imports: "",
        soft: "",
        keyword_rules: "",
        ends_lines: false,
        case_blind: false,
        line_comments: &["//"],
        block_comments: &[("/*", "*/")],
        comments_nest: false,
        quotes: &[Quote::DOUBLE, Quote::SINGLE],
        spanning: false,
        name_start: "",
        name_part: "",
        name_end: "",
        signed_numbers: false,
        generics: false,
        fits: None,
        special: None,
        plan: None,
    };
}

/// A kind of string.
pub(crate) struct Quote {
    /// Its opening.
    pub open: &'static str,
    /// Its closing.
    pub close: &'static str,
    /// The byte that escapes the next one.
    pub escape: Option<u8>,
    /// Whether a doubled closing quote is a quote inside the string.
    pub doubled: bool,
    /// Whether it often holds line ends. If line ends are merely allowed, the lexer ends the string with the line:
    /// otherwise one missing quote would swap code and strings in the rest of the file.
    pub lines: bool,
    /// The opening and closing of code inside the string.
    pub hole: Option<(&'static str, u8)>,
    /// Words that may stand directly before the opening.
    pub prefixes: &'static [&'static str],
    /// Whether such a word is required.
    pub needs_prefix: bool,
}

impl Quote {
    const DOUBLE: Self = Self {
        open: "\"",
        close: "\"",
        escape: Some(b'\\'),
        doubled: false,
        lines: false,
        hole: None,
        prefixes: &[],
        needs_prefix: false,
    };
    const SINGLE: Self = Self { open: "'", close: "'", ..Self::DOUBLE };
    const TRIPLE: Self = Self { open: "\"\"\"", close: "\"\"\"", lines: true, ..Self::DOUBLE };
}
