//! Decides what a leaf becomes: the policy is one function, and the tables are made from it once per language.
//!
//! A grammar numbers its node kinds. [`FoldTables`] holds the class of each number and the value of its token, so a
//! walk compares no strings. It hashes only the few leaves whose class is their own text.

use crate::languages::CodeLanguage;
use crate::reachable::Reader;
use crate::sequence::{class_value, FoldRules, NAME, TYPE};
use crate::TokenKind;
use std::collections::HashMap;

/// What a node becomes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NodeClass {
    /// Its children are read. If it has none, its own text is the class of a token.
    Inner,
    /// One token, with this value.
    Token(u64, TokenKind),
    /// A name, whatever its text.
    Variable,
    /// One comment.
    Comment,
    /// A comment if it holds nothing but a string; otherwise its children are read.
    Remark,
    /// Text that the grammar does not read, such as the body of a macro; the lexer reads it.
    Unread,
    /// Not a token.
    Ignored,
}

/// Signs that only separate. They make runs longer without adding information, and copies differ in them first. Braces
/// stay tokens: without those around single statements, independent programs gain more than copies (docs/limits.md).
const SEPARATORS: &str = "( ) , ; . ::";
/// Words that can be added to a declaration or removed without changing what it does.
const MODIFIERS: &str = "public private protected static final const";
/// Built-in types, beside those that a language lists. They are changed as easily as names.
const TYPES: &str = "int long short byte char float double boolean bool void string unsigned signed size_t";

fn is_one_of(set: &str, text: &str) -> bool {
    set.split(' ').any(|entry| entry == text)
}

/// The class of a node kind: this is the whole policy. `is_named` tells rules of the grammar from its literal texts.
fn fold(language: &CodeLanguage, kind: &str, is_named: bool) -> NodeClass {
    let shape = &language.shape;
    let is_in = |set: &str| set.split_whitespace().any(|entry| entry == kind);
    if is_in(shape.ignored) || kind.trim().is_empty() {
        return NodeClass::Ignored;
    }
    if is_in(shape.unread) {
        return NodeClass::Unread;
    }
    if !is_named {
        return match kind {
            // Two words, such as Python's `is not`, are nodes of their own. Only some grammars write two brackets as
            // one literal.
            _ if kind.contains(' ') => NodeClass::Inner,
            _ if kind.len() > 1 && is_brackets(kind) => NodeClass::Unread,
            _ => literal(language, kind),
        };
    }
    match () {
        () if !shape.keyword_rules.is_empty() && kind.starts_with(shape.keyword_rules) => {
            literal(language, &kind[shape.keyword_rules.len()..])
        }
        () if is_in(shape.variables) => NodeClass::Variable,
        () if is_in(shape.names) => NodeClass::Token(language.value(NAME), TokenKind::Name),
        () if is_in(shape.numbers) => NodeClass::Token(language.value("\u{1}number"), TokenKind::Number),
        () if is_in(shape.strings) => NodeClass::Token(language.value("\u{1}string"), TokenKind::String),
        () if is_in(shape.comments) => NodeClass::Comment,
        () if is_in(shape.remarks) => NodeClass::Remark,
        () => NodeClass::Inner,
    }
}

/// Whether a text consists of brackets and quotes only.
fn is_brackets(text: &str) -> bool {
    text.bytes().all(|byte| b"()[]{}\"'`".contains(&byte))
}

/// The class of a leaf whose class is its own text.
pub fn literal(language: &CodeLanguage, text: &str) -> NodeClass {
    if language.shape.case_blind && text.bytes().any(|byte| byte.is_ascii_uppercase()) {
        return literal(language, &text.to_ascii_lowercase());
    }
    if is_one_of(SEPARATORS, text) || is_one_of(MODIFIERS, text) {
        return NodeClass::Ignored;
    }
    if is_one_of(TYPES, text) || is_one_of(language.shape.types, text) {
        return NodeClass::Token(language.value(TYPE), TokenKind::Type);
    }
    let is_word = text.starts_with(|c: char| c.is_alphabetic() || matches!(c, '_' | '#' | '@'));
    NodeClass::Token(
        language.value(text),
        if is_word && text.len() > 1 { TokenKind::Keyword } else { TokenKind::Operator },
    )
}

/// The tables of a language that the walk and the lexer look things up in.
pub struct FoldTables {
    /// The class of every node kind, by its number.
    pub classes: Vec<NodeClass>,
    /// The keywords.
    pub words: HashMap<&'static str, NodeClass>,
    /// The operators by their first byte, longest first.
    pub operators: Vec<Vec<(&'static str, NodeClass)>>,
    /// The class of an identifier.
    pub name: NodeClass,
    /// The class of a number.
    pub number: NodeClass,
    /// The class of a string.
    pub string: NodeClass,
    /// How tokens are folded.
    pub rules: FoldRules,
    /// The reader of definitions of every node kind, by its number.
    pub readers: Vec<Option<Reader>>,
}

impl FoldTables {
    /// Asks the grammar for its node kinds and folds each of them.
    pub fn new(language: &CodeLanguage) -> Self {
        let grammar = language.grammar();
        let mut tables = Self {
            classes: Vec::new(),
            words: HashMap::new(),
            operators: vec![Vec::new(); 128],
            name: NodeClass::Token(language.value(NAME), TokenKind::Name),
            number: NodeClass::Token(language.value("\u{1}number"), TokenKind::Number),
            string: NodeClass::Token(language.value("\u{1}string"), TokenKind::String),
            rules: FoldRules::new(language.family, language.shape.ends_lines, language.shape.imports),
            readers: language.shape.plan.map_or(Vec::new(), |plan| plan.readers(language)),
        };
        for id in 0..grammar.node_kind_count() as u16 {
            let kind = grammar.node_kind_for_id(id).unwrap_or("");
            let is_named = grammar.node_kind_is_named(id);
            let class = fold(language, kind, is_named);
            tables.classes.push(class);
            let rule =
                kind.strip_prefix(language.shape.keyword_rules).filter(|rule| is_named && rule.len() < kind.len());
            if let Some(keyword) = rule {
                tables.add(keyword, class);
            } else if !is_named && grammar.node_kind_is_visible(id) {
                tables.add(kind, class);
            }
        }
        for word in language.shape.words.split_whitespace() {
            tables.add(word, fold(language, word, false));
        }
        for word in language.shape.soft.split_whitespace() {
            tables.words.remove(word);
            tables.operators.iter_mut().for_each(|operators| operators.retain(|(text, _)| *text != word));
        }
        for operators in &mut tables.operators {
            operators.sort_by_key(|(text, _)| (std::cmp::Reverse(text.len()), *text));
            operators.dedup();
        }
        tables
    }

    /// The class of a text that is one of the keywords or operators.
    pub fn exact(&self, text: &str, case_blind: bool) -> Option<NodeClass> {
        // No keyword is longer than 40 bytes, so a very long word is not copied whole.
        let lower = (case_blind && text.len() <= 40).then(|| text.to_ascii_lowercase());
        let text = lower.as_deref().unwrap_or(text);
        let operator = || {
            let first = usize::from(*text.as_bytes().first()?);
            self.operators.get(first)?.iter().find(|(operator, _)| *operator == text).map(|(_, class)| *class)
        };
        self.words.get(text).copied().or_else(operator)
    }

    /// Adds a literal text of the grammar to the tables of the lexer.
    fn add(&mut self, text: &'static str, class: NodeClass) {
        let first = match text.as_bytes() {
            [first, ..] if first.is_ascii() => *first,
            _ => return,
        };
        if first.is_ascii_alphabetic() || first == b'_' {
            self.words.insert(text, class);
        } else if (text.len() == 1 || !is_brackets(text)) && !text.contains(char::is_whitespace) {
            self.operators[usize::from(first)].push((text, class));
        }
    }
}

impl CodeLanguage {
    /// The value of the token of a class.
    pub(crate) fn value(&self, class: &str) -> u64 {
        class_value(self.family, class)
    }
}
