//! Folds the tokens that a reader found: classes of names, constant expressions, import lines, and no separators.
//!
//! Both readers, the tree and the lexer, and the lexers of other programs leave every token in a [`Sequence`], with the
//! signs that are dropped here. What a name is for is decided from its neighbours in that sequence and from nothing
//! else, so a sound file and a broken one give the same classes.
//!
//! | a name | class |
//! |---|---|
//! | the next token is `(` | call: it stands before an argument or parameter list |
//! | the next token is a name, or a name follows `<…>` or pairs of `[]` | type |
//! | else | name |
//!
//! Built-in types are of the class type wherever they stand, and do not make the name before them a type. Only blanks
//! and comments may stand between the tokens; where statements end with their line, no line end. Between `<` and `>`
//! may be names, built-in types, keywords, numbers and `. , :: ? & * [ ]`, and further `<…>`.
//!
//! Cost: one pass from the end to the start, which knows what follows each token, and one from the start to the end.

use crate::imports::Imports;
use crate::{CodeTokens, TokenKind};
use lookalike_core::frontend::Span;
use lookalike_core::hash::identity::token_value;

/// The class of a name before an argument or parameter list.
pub const CALL: &str = "\u{1}call";
/// The class of a name that is used as a type, and of every built-in type.
pub const TYPE: &str = "\u{1}type";
/// The class of any other name.
pub const NAME: &str = "\u{1}name";

/// Signs between the numbers of a constant expression.
const ARITHMETIC: [&str; 5] = ["+", "-", "*", "/", "%"];
/// Signs that may bind a number beside them more tightly than the signs inside a constant expression, in any language.
const BINDING: [&str; 14] = ["+", "-", "*", "/", "%", "**", "//", "<<", ">>", ">>>", "&", "|", "^", "~"];

/// A token before it is folded.
#[derive(Clone, Copy, Debug)]
pub struct RawToken {
    /// Its value, if nothing in its neighbourhood changes it.
    pub value: u64,
    /// Its place in the text.
    pub span: Span,
    /// Its kind; `None` for a separator or modifier, which is dropped.
    pub kind: Option<TokenKind>,
}

/// All tokens and comments of a text, in its order.
#[derive(Clone, Debug, Default)]
pub struct Sequence {
    /// The tokens, separators included.
    pub tokens: Vec<RawToken>,
    /// The comments.
    pub comments: Vec<Span>,
}

impl Sequence {
    /// Adds a token.
    pub fn push(&mut self, value: u64, start: usize, end: usize, kind: TokenKind) {
        self.add(value, start, end, Some(kind));
    }

    /// Adds a sign or word that is dropped in the end. The end of a continued line is none.
    pub fn separator(&mut self, text: &str, start: usize, end: usize) {
        if !text[start..end].starts_with('\\') {
            self.add(0, start, end, None);
        }
    }

    fn add(&mut self, value: u64, start: usize, end: usize, kind: Option<TokenKind>) {
        self.tokens.push(RawToken { value, span: Span { start: start as u32, end: end as u32 }, kind });
    }
}

/// What folding must know of a language.
pub struct FoldRules {
    family: Box<str>,
    /// Values of the classes call, type and name.
    call: u64,
    kind: u64,
    name: u64,
    /// Whether a statement usually ends with its line.
    pub(crate) ends_lines: bool,
    pub(crate) imports: Imports,
}

impl FoldRules {
    /// The rules of a family of languages; `imports` are the words that begin an import line.
    pub fn new(family: &str, ends_lines: bool, imports: &str) -> Self {
        let value = |class: &str| class_value(family, class);
        Self {
            family: family.into(),
            call: value(CALL),
            kind: value(TYPE),
            name: value(NAME),
            ends_lines,
            imports: Imports::new(family, imports, value),
        }
    }

    /// The value of a class in this family.
    pub fn value(&self, class: &str) -> u64 {
        class_value(&self.family, class)
    }

    /// Folds a sequence of tokens of `text`.
    pub fn fold(&self, text: &str, mut found: Sequence) -> CodeTokens {
        self.class_names(text, &mut found.tokens);
        let mut code = CodeTokens { comments: found.comments, ..CodeTokens::with_capacity(found.tokens.len()) };
        let view = View { text, tokens: &found.tokens };
        let mut at = 0;
        while let Some(token) = found.tokens.get(at) {
            if let Some(next) = self.import(view, at, &mut code) {
                at = next;
                continue;
            }
            let last = self.constant_end(view, at);
            if let Some(kind) = token.kind {
                code.push(token.value, Span { end: found.tokens[last].span.end, ..token.span }, kind);
            }
            at = last + 1;
        }
        code
    }

    /// The last token of the constant expression that begins with this token: numbers with arithmetic signs between
    /// them, and no sign on either side that could take one of its numbers away. `60 * 60` is as much a number as
    /// `3600`. Any other token is its own end.
    fn constant_end(&self, view: View<'_>, first: usize) -> usize {
        let is_number = |at: usize| view.tokens.get(at).is_some_and(|token| token.kind == Some(TokenKind::Number));
        let binds = |at: usize| at < view.tokens.len() && BINDING.contains(&view.word(at));
        let goes_on = |at: usize| {
            is_number(at + 2)
                && ARITHMETIC.contains(&view.word(at + 1))
                && !(self.ends_lines && (view.starts_line(at + 1) || view.starts_line(at + 2)))
        };
        if !is_number(first) || first.checked_sub(1).is_some_and(binds) {
            return first;
        }
        let mut last = first;
        while goes_on(last) {
            last += 2;
        }
        if binds(last + 1) {
            first
        } else {
            last
        }
    }

    /// Gives every name its class, from the last token to the first.
    fn class_names(&self, text: &str, tokens: &mut [RawToken]) {
        let mut ahead = Ahead::default();
        let mut next = text.len() as u32;
        for token in tokens.iter_mut().rev() {
            if token.kind == Some(TokenKind::Comment) {
                continue;
            }
            if self.ends_lines && ahead.matters() && has_line_end(text, token.span.end, next) {
                ahead.is_cut();
            }
            next = token.span.start;
            match token.kind {
                Some(TokenKind::Name) => {
                    token.value = match ahead.what {
                        Following::List => self.call,
                        Following::Name => self.kind,
                        Following::Other => self.name,
                    };
                    ahead.name();
                }
                Some(TokenKind::Type | TokenKind::Keyword | TokenKind::Number) => ahead.other(),
                Some(TokenKind::String) => ahead.end(),
                _ => ahead.sign(&text.as_bytes()[token.span.start as usize..token.span.end as usize]),
            }
        }
    }
}

/// The value of a class of a family.
pub(crate) fn class_value(family: &str, class: &str) -> u64 {
    token_value(&[family.as_bytes(), &[0], class.as_bytes()].concat())
}

/// What decides the class of a name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Following {
    /// `(`.
    List,
    /// A name.
    Name,
    #[default]
    Other,
}

/// What follows the token being read, in a pass from the end.
#[derive(Default)]
struct Ahead {
    what: Following,
    /// What follows the `]` just read.
    after_square: Option<Following>,
    /// What follows each open `>`.
    angles: Vec<Following>,
}

impl Ahead {
    /// Whether a line end would change anything.
    fn matters(&self) -> bool {
        self.what != Following::Other || self.after_square.is_some()
    }

    fn is_cut(&mut self) {
        (self.what, self.after_square) = (Following::Other, None);
    }

    fn name(&mut self) {
        (self.what, self.after_square) = (Following::Name, None);
    }

    /// A token that says nothing and may stand in a list of type arguments.
    fn other(&mut self) {
        self.is_cut();
    }

    /// A token that may not stand in a list of type arguments.
    fn end(&mut self) {
        self.is_cut();
        self.angles.clear();
    }

    fn sign(&mut self, sign: &[u8]) {
        let (what, after_square) = (self.what, self.after_square.take());
        let name_only = |what| if what == Following::Name { Following::Name } else { Following::Other };
        self.what = Following::Other;
        match sign {
            b"(" => {
                self.angles.clear();
                self.what = Following::List;
            }
            b"]" => self.after_square = Some(name_only(what)),
            b"[" => self.what = after_square.unwrap_or_default(),
            b">" | b">>" | b">>>" => {
                self.angles.push(name_only(what));
                self.angles.resize(self.angles.len() + sign.len() - 1, Following::Other);
            }
            b"<" => self.what = self.angles.pop().unwrap_or_default(),
            b"." | b"," | b"::" | b"?" | b"&" | b"*" => {}
            // A modifier is a word.
            [first, ..] if first.is_ascii_alphabetic() => {}
            _ => self.angles.clear(),
        }
    }
}

/// Tokens and the text they are of.
#[derive(Clone, Copy)]
pub(crate) struct View<'a> {
    pub text: &'a str,
    pub tokens: &'a [RawToken],
}

impl<'a> View<'a> {
    /// The text of a token.
    pub fn word(&self, at: usize) -> &'a str {
        let span = self.tokens[at].span;
        self.text.get(span.start as usize..span.end as usize).unwrap_or("")
    }

    /// Whether a token is the first on its line.
    pub fn starts_line(&self, at: usize) -> bool {
        let before = if at == 0 { 0 } else { self.tokens[at - 1].span.end };
        at == 0 || has_line_end(self.text, before, self.tokens[at].span.start)
    }
}

/// Whether a line ends between two places, other than after a backslash.
fn has_line_end(text: &str, from: u32, to: u32) -> bool {
    let gap = text.as_bytes().get(from as usize..to as usize).unwrap_or(&[]);
    let is_end = |(at, byte): (usize, &u8)| match byte {
        b'\n' => !gap[..at].ends_with(b"\\") && !gap[..at].ends_with(b"\\\r"),
        b'\r' => !gap[..at].ends_with(b"\\"),
        _ => false,
    };
    gap.iter().enumerate().any(is_end)
}
