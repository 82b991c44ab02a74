//! Turns source code into tokens that survive renaming, new layout and new comments, each with its span in the text.
//!
//! ```text
//! text ─▶ syntax tree ─▶ leaves ─┐
//!    └──▶ lexer (broken, deep or costly code) ─┴─▶ sequence ─▶ fold ─▶ tokens, spans, kinds
//! ```
//!
//! `languages/` holds one table per language, `lexed.rs` what is known of languages that other programs read.
//!
//! # What a token is (version [`CODE_VERSION`])
//!
//! The tokens are the leaves of the syntax tree in the order of the text, folded. The value of a token is XXH3-64 with
//! seed 0 of the bytes *family*, `0x00`, *class*. The family names a group of languages whose tokens match each other:
//! C and C++ are `c-family`; JavaScript, TypeScript and TSX are `ecmascript`; every other language is its own family.
//! The class is:
//!
//! | leaf | class |
//! |---|---|
//! | one of `( ) , ; . ::`, or of `public private protected static final const` | none; not a token |
//! | another keyword, operator or bracket, or a built-in constant | its text |
//! | an identifier of any sort before `(` | `0x01` `call` |
//! | an identifier used as a type, or a built-in type | `0x01` `type` |
//! | any other identifier | `0x01` `name` |
//! | a number, or a constant expression: numbers with `+ - * / %` between them | `0x01` `number` |
//! | a string, character, template, regular expression or heredoc, with everything inside it | `0x01` `string` |
//! | an import, include, package or using line, with everything in it | `0x01` `import:`, its word and its target |
//! | a comment, or a Python statement that is nothing but a string | none; with [`CodeOptions::comments`] each word in it is `0x01` `comment:` and the word in lower case |
//!
//! A word is a keyword by its text, wherever it stands, except for the words that a language lists as mostly names:
//! `record` and `match` are one token each, whatever they mean at their place. So code that parses and code that does not
//! give the same tokens. The text of a keyword is the one in the grammar: lower case where the language ignores case, `#include` however it
//! is spaced. Layout, the mark that ends a heredoc, and optional terminators are not tokens. The class of a name comes
//! from its neighbours (`sequence.rs`), that of an import line from its tokens (`imports.rs`), both after the text is
//! cut into tokens and whatever cut it. A lexer reads files that are broken, too deep or too costly to parse. It makes
//! the same tokens from the same tables; [`CodeTokens`] then gives the reason in `degraded`.
//!
//! Nothing here recurses, whatever the input. Time is linear in the text: the lexer is linear, and parsing stops at a
//! budget of bytes and parser steps, not of seconds.

mod fold;
mod imports;
pub mod languages;
pub mod lexed;
mod lexer;
pub mod reachable;
mod sequence;
mod tree;

pub use languages::{language, CodeLanguage, LANGUAGES};

use lookalike_core::error::Error;
use lookalike_core::frontend::{check_length, Span};
use std::fmt;

/// The version of the definition of a token. Stored values can be compared only within one version.
pub const CODE_VERSION: u32 = 4;

/// How code becomes tokens.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CodeOptions {
    /// Whether the words of comments are tokens too.
    pub comments: bool,
}

/// The kind of a token, for colouring; it is not part of the token's value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum TokenKind {
    /// A character with no meaning in the language.
    Plain = 0,
    /// A keyword, or a built-in constant or type.
    Keyword = 1,
    /// An identifier.
    Name = 2,
    /// A numeric literal.
    Number = 3,
    /// A string, character, template, regular expression or heredoc.
    String = 4,
    /// A word of a comment.
    Comment = 5,
    /// An operator or a bracket.
    Operator = 6,
    /// A built-in type: coloured as a keyword, folded as a name.
    Type = 9,
    /// An import, include, package or using line.
    Import = 10,
}

/// The reason why a file was not read by its grammar.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Degraded {
    /// The text breaks the grammar's rules.
    Syntax {
        /// Number of errors.
        errors: u32,
        /// Line of the first error, from 1.
        first_line: u32,
        /// Share of the bytes that belong to no sound construct, in thousandths.
        share_permille: u32,
    },
    /// The syntax tree is deeper than `depth` levels.
    Nesting {
        /// The deepest level that is read.
        depth: u32,
    },
    /// The text is too long to be parsed, or parsing took more steps than any sound text of its length.
    Budget,
}

impl fmt::Display for Degraded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Syntax { errors, first_line, .. } => write!(
                f,
                "{errors} syntax {}, the first on line {first_line}; the file is compared as plain words and symbols",
                if *errors == 1 { "error" } else { "errors" },
            ),
            Self::Nesting { depth } => {
                write!(f, "nested deeper than {depth} levels; the file is compared as plain words and symbols")
            }
            Self::Budget => {
                write!(f, "too long or too complex to be parsed; the file is compared as plain words and symbols")
            }
        }
    }
}

/// A text as tokens: three columns of one length, the comments, and how it was read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CodeTokens {
    /// The value of each token.
    pub tokens: Vec<u64>,
    /// The span of each token: ascending, disjoint, never empty.
    pub spans: Vec<Span>,
    /// The kind of each token.
    pub kinds: Vec<TokenKind>,
    /// The spans of the comments, whether they are tokens or not.
    pub comments: Vec<Span>,
    /// The reason why the grammar was not followed, if it was not.
    pub degraded: Option<Degraded>,
    /// Its definitions and the names they use, if it was parsed and its language is analysed.
    pub outline: Option<reachable::Outline>,
}

impl CodeTokens {
    fn with_capacity(tokens: usize) -> Self {
        Self {
            tokens: Vec::with_capacity(tokens),
            spans: Vec::with_capacity(tokens),
            kinds: Vec::with_capacity(tokens),
            ..Self::default()
        }
    }

    fn push(&mut self, value: u64, span: Span, kind: TokenKind) {
        self.tokens.push(value);
        self.spans.push(span);
        self.kinds.push(kind);
    }

    /// Keeps the first tokens only.
    fn truncate(&mut self, tokens: usize) {
        self.tokens.truncate(tokens);
        self.spans.truncate(tokens);
        self.kinds.truncate(tokens);
    }
}

impl CodeLanguage {
    /// Reads a text as tokens of this language. Cost: one parse and one walk, or one pass of the lexer.
    ///
    /// Errors: a text of 4 GiB or more.
    pub fn tokenize(&self, text: &str, options: CodeOptions) -> Result<CodeTokens, Error> {
        check_length(text.len())?;
        match tree::read(self, text, options) {
            Ok(code) => Ok(code),
            Err(why) => Ok(CodeTokens { degraded: Some(why), ..self.lex(text, options)? }),
        }
    }

    /// Reads a text with the lexer alone, as broken files are read. Cost: one pass.
    ///
    /// Errors: a text of 4 GiB or more.
    pub fn lex(&self, text: &str, options: CodeOptions) -> Result<CodeTokens, Error> {
        check_length(text.len())?;
        Ok(self.tables().rules.fold(text, lexer::Lexer::new(self, text, options).all()))
    }
}

#[cfg(test)]
mod tests;
