//! Makes one token of an import, include, package or using line; it equals only a line with the same target.
//!
//! Such a line begins with one of a language's words at the start of a statement. It ends with `;` or with its line;
//! line ends inside its brackets do not count, and where statements may go on over lines, it ends before a line that
//! begins with a keyword. A line with another sign than [`SIGNS`], a number, or in a using line `(`, is none: `using
//! (var file = …)`, `import(path)`. The class of the token is `0x01`, `import:`, the word, and the texts of the target's
//! tokens, with a blank only between two words.
//!
//! Names that the writer chooses are not part of the target: what follows `as` or `=>`, what stands before `=`, and in
//! ECMAScript the names outside braces. Brackets `( )` and commas before a closing bracket are not part of it either.
//! A block of Go is one token for each path.
//!
//! Cost: one pass over the tokens of such lines.

use crate::sequence::{FoldRules, RawToken, View};
use crate::{CodeTokens, TokenKind};
use lookalike_core::frontend::Span;

/// Signs that may stand in an import line.
const SIGNS: &[&str] =
    &[".", ",", "::", "*", "{", "}", "=", "=>", "<", ">", "\\", "[", "]", "&", "_", "/", "..", ":", "(", ")"];
/// Keywords that may begin a line inside the brackets of an import line.
const INSIDE: &[&str] = &["self", "super", "crate", "type", "default", "as", "function", "const"];
/// What may stand before an import line on its line.
const BEFORE: &[&str] = &[";", "{", "}", "]", ":", ">", "#", "@", "`", "<?php", "pub", "global", "testable"];

/// How a family of languages writes import lines.
pub struct Imports {
    /// Value and text of each word that begins one.
    words: Vec<(u64, Box<str>)>,
    /// Every string is an import of its own.
    has_blocks: bool,
    /// The target is a string; names outside braces are the writer's.
    has_bindings: bool,
}

impl Imports {
    /// Makes the table from words separated by blanks and the value of a keyword.
    pub fn new(family: &str, words: &str, value: impl Fn(&str) -> u64) -> Self {
        Self {
            words: words.split_whitespace().map(|word| (value(word), word.into())).collect(),
            has_blocks: family == "go",
            has_bindings: family == "ecmascript",
        }
    }

    fn word(&self, token: &RawToken) -> Option<&str> {
        let is_word = !matches!(token.kind, Some(TokenKind::Name | TokenKind::Number | TokenKind::String));
        self.words.iter().find(|(value, _)| is_word && *value == token.value).map(|(_, word)| &**word)
    }
}

/// The line being read.
struct Line<'a> {
    rules: &'a FoldRules,
    view: View<'a>,
    /// The word it begins with.
    word: &'a str,
    /// The token being read.
    at: usize,
    /// Open brackets.
    depth: usize,
    /// The texts of the target.
    target: Vec<&'a str>,
    /// Whether the target holds a string.
    has_string: bool,
    /// Whether the next token is a name of the writer's choice.
    is_alias: bool,
    /// The place of the token that is made of it.
    span: Span,
}

/// What a token means to the line.
enum Step {
    /// It is part of it.
    Take,
    /// It is the first after it.
    EndBefore,
    /// It is the last of it.
    EndWith,
    /// The line is no import.
    Refuse,
}

impl FoldRules {
    /// Reads the import line that begins at a token, if one does, and adds its tokens. Returns the token after it.
    pub(crate) fn import(&self, view: View<'_>, at: usize, code: &mut CodeTokens) -> Option<usize> {
        let token = &view.tokens[at];
        let word = self.imports.word(token)?;
        if !view.starts_line(at) && !BEFORE.contains(&view.word(at - 1)) {
            return None;
        }
        let line = Line {
            rules: self,
            view,
            word,
            at: at + 1,
            depth: 0,
            target: Vec::new(),
            has_string: false,
            is_alias: false,
            span: token.span,
        };
        let before = code.tokens.len();
        let end = line.read(code);
        if end.is_none() {
            // A block of Go adds its paths one by one, and may turn out to be none after some of them.
            code.truncate(before);
        }
        end
    }
}

impl Line<'_> {
    fn read(mut self, code: &mut CodeTokens) -> Option<usize> {
        let has_blocks = self.rules.imports.has_blocks && self.word == "import";
        while let Some(token) = self.view.tokens.get(self.at) {
            let step = self.step(token);
            match step {
                Step::Refuse => return None,
                Step::EndBefore => break,
                Step::Take | Step::EndWith => self.at += 1,
            }
            if self.span.end == 0 {
                self.span.start = token.span.start;
            }
            self.span.end = token.span.end;
            if matches!(step, Step::EndWith) {
                break;
            }
            self.take(token.kind);
            if has_blocks && token.kind == Some(TokenKind::String) {
                self.add(code);
            }
        }
        let is_import =
            if has_blocks || self.rules.imports.has_bindings { self.has_string } else { !self.target.is_empty() };
        if is_import && !has_blocks {
            self.add(code);
        }
        is_import.then_some(self.at)
    }

    /// Adds the token of what was read.
    fn add(&mut self, code: &mut CodeTokens) {
        let is_word = |c: char| c.is_alphanumeric() || c == '_';
        let mut class = format!("\u{1}import:{}", self.word);
        for piece in std::mem::take(&mut self.target) {
            if class.ends_with(is_word) && piece.starts_with(is_word) {
                class.push(' ');
            }
            class.push_str(piece);
        }
        code.push(self.rules.value(&class), self.span, TokenKind::Import);
        self.span.end = 0;
    }

    fn step(&self, token: &RawToken) -> Step {
        let word = self.view.word(self.at);
        if word == ";" {
            return Step::EndWith;
        }
        let begins = self.rules.imports.word(token).is_some() && !(self.word == "from" && word == "import");
        let goes_on = self.rules.imports.has_bindings && !self.has_string;
        let closes = matches!(word, ")" | "}") && self.depth == 0 && !goes_on;
        let opens_body = word == "{" && self.word == "package";
        if begins || closes || opens_body || self.ends_line(token, word) {
            return Step::EndBefore;
        }
        let is_fit = match token.kind {
            Some(TokenKind::Number | TokenKind::Plain | TokenKind::Import) => false,
            Some(TokenKind::Operator) | None => SIGNS.contains(&word) || word.starts_with(char::is_alphabetic),
            Some(_) => true,
        };
        let is_call = word == "(" && (self.word == "using" || self.rules.imports.has_bindings);
        match () {
            () if is_fit && !is_call => Step::Take,
            () if self.view.starts_line(self.at) => Step::EndBefore,
            () => Step::Refuse,
        }
    }

    /// Whether the line ended before this token.
    fn ends_line(&self, token: &RawToken, word: &str) -> bool {
        let goes_on = self.rules.imports.has_bindings && !self.has_string;
        let is_keyword = match token.kind {
            None => word.starts_with(char::is_alphabetic),
            kind => kind == Some(TokenKind::Keyword),
        };
        let ends = match self.depth {
            0 => self.rules.ends_lines && !goes_on || self.word.starts_with('#') || is_keyword,
            _ => is_keyword && !INSIDE.contains(&word),
        };
        ends && self.view.starts_line(self.at)
    }

    /// Adds the token before `at` to the target, if it is part of it.
    fn take(&mut self, kind: Option<TokenKind>) {
        let word = self.view.word(self.at - 1);
        self.has_string |= kind == Some(TokenKind::String);
        let is_alias = std::mem::take(&mut self.is_alias) && kind != Some(TokenKind::String);
        if is_alias || kind == Some(TokenKind::Comment) {
            return;
        }
        match word {
            "(" | "{" => self.depth += 1,
            ")" | "}" => self.depth = self.depth.saturating_sub(1),
            _ => {}
        }
        let is_bound = self.rules.imports.has_bindings && self.depth == 0 && word.starts_with(char::is_alphabetic);
        if self.rules.imports.has_blocks && kind == Some(TokenKind::String) {
            self.target.clear();
        }
        match word {
            "as" | "=>" => self.is_alias = true,
            "=" => self.target.clear(),
            "(" => {}
            ")" | "}" => {
                self.target.pop_if(|last| *last == ",");
                self.target.extend((word == "}").then_some(word));
            }
            _ if is_bound => {}
            _ => self.target.push(word),
        }
    }
}
