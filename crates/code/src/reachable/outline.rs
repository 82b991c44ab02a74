//! Makes the outline of a file while its syntax tree is walked.
//!
//! The walk reports each inner node that it enters and leaves. A [`Plan`] names the kinds of nodes that matter in a
//! language. Afterwards one pass over the tokens gives each name to the innermost definition around it. Nothing here
//! recurses.

use super::{called, hash, Definition, Outline, Rule};
use crate::languages::CodeLanguage;
use crate::sequence::RawToken;
use crate::{CodeTokens, TokenKind};
use tree_sitter::Node;

/// Reads a node that the walk enters.
pub(crate) type Reader = fn(&mut Outliner, &Node);

/// What the analysis knows of a language.
pub(crate) struct Plan {
    /// Kinds of nodes that matter, and how they are read.
    pub nodes: &'static [(&'static str, Reader)],
    /// Names that find code by computed names.
    pub computed: &'static [&'static str],
    /// Whether text in single quotes is a character.
    pub has_characters: bool,
    /// Whether methods are used only by calls and method references.
    pub calls_only: bool,
    /// The name of the object that others import, if the language has one.
    pub exporting: &'static str,
}

impl Plan {
    /// The reader of each node kind, by its number.
    pub fn readers(&self, language: &CodeLanguage) -> Vec<Option<Reader>> {
        let grammar = language.grammar();
        let reader = |id: u16| {
            let kind = grammar.node_kind_for_id(id).filter(|_| grammar.node_kind_is_named(id))?;
            self.nodes.iter().find(|(name, _)| *name == kind).map(|(_, reader)| *reader)
        };
        (0..grammar.node_kind_count() as u16).map(reader).collect()
    }
}

/// An outline that is being made.
pub(crate) struct Outliner<'a> {
    language: &'a CodeLanguage,
    plan: &'static Plan,
    /// The text of the file.
    pub text: &'a str,
    outline: Outline,
    /// Kind and first byte of each open node, the root first, and whether it is a definition.
    open: Vec<(u16, u32, bool)>,
    /// Open definitions.
    within: Vec<u32>,
    /// Whether the node that is being entered became a definition.
    is_definition: bool,
    /// Whether a decorator was read that something outside may act on, and not yet what it decorates.
    pub is_decorated: bool,
    /// First bytes of names that are declared without being used, ascending.
    declared: Vec<u32>,
}

impl<'a> Outliner<'a> {
    /// Starts with the file itself; `None` if the language is not analysed.
    pub fn new(language: &'a CodeLanguage, text: &'a str) -> Option<Self> {
        let plan = language.shape.plan?;
        let file = Definition { end: text.len() as u32, rule: Rule::Outside, ..Definition::default() };
        let outline = Outline { definitions: vec![file], computed: plan.computed, ..Outline::default() };
        let (open, within, declared) = (Vec::new(), vec![0], Vec::new());
        let (is_definition, is_decorated) = (false, false);
        Some(Self { language, plan, text, outline, open, within, is_definition, is_decorated, declared })
    }

    /// Enters a node that has children.
    pub fn enter(&mut self, node: &Node) {
        let kind = node.kind_id();
        if let Some(reader) = self.language.tables().readers.get(usize::from(kind)).copied().flatten() {
            reader(self, node);
        }
        self.open.push((kind, node.start_byte() as u32, std::mem::take(&mut self.is_definition)));
    }

    /// Leaves the node that was entered last.
    pub fn leave(&mut self) {
        if let Some((_, _, true)) = self.open.pop() {
            self.within.pop();
        }
    }

    /// The kind of the node `levels` above the one that is being entered; 1 is its parent.
    pub fn above(&self, levels: usize) -> &'static str {
        let id = self.open.len().checked_sub(levels).and_then(|at| self.open.get(at)).map(|(kind, _, _)| *kind);
        id.and_then(|id| self.language.grammar().node_kind_for_id(id)).unwrap_or("")
    }

    /// The kind of the nearest node above the one that is being entered that is of none of these kinds.
    pub fn beyond(&self, kinds: &[&str]) -> &'static str {
        (1..=self.open.len()).map(|levels| self.above(levels)).find(|kind| !kinds.contains(kind)).unwrap_or("")
    }

    /// The definition around the node that is being entered.
    pub fn around(&self) -> &Definition {
        &self.outline.definitions[self.within.last().copied().unwrap_or(0) as usize]
    }

    /// The text of a node.
    pub fn word(&self, node: &Node) -> &'a str {
        self.text.get(node.start_byte()..node.end_byte()).unwrap_or("")
    }

    /// Makes a definition of the node that is being entered. Its place and parent are filled in.
    pub fn define(&mut self, node: &Node, definition: Definition) {
        let parent = self.within.last().copied().unwrap_or(0);
        self.add(node.start_byte() as u32, node, parent, definition);
    }

    /// As `define`, from the start of the node above on.
    pub fn define_with_parent(&mut self, node: &Node, definition: Definition) {
        let parent = self.within.last().copied().unwrap_or(0);
        let start = self.open.last().map_or(node.start_byte() as u32, |(_, start, _)| *start);
        self.add(start, node, parent, definition);
    }

    /// As `define`, for code that runs where the definition around it is made.
    pub fn define_outside(&mut self, node: &Node, definition: Definition) {
        let parent = self.around().parent;
        self.add(node.start_byte() as u32, node, parent, definition);
    }

    fn add(&mut self, start: u32, node: &Node, parent: u32, definition: Definition) {
        let end = node.end_byte() as u32;
        self.within.push(self.outline.definitions.len() as u32);
        self.outline.definitions.push(Definition { start, end, parent, ..definition });
        self.is_definition = true;
    }

    /// Notes a supertype of a class.
    pub fn supertype(&mut self, class: u64, supertype: u64) {
        self.outline.supertypes.push((class, supertype));
    }

    /// Notes that a class has a supertype that no submission defines.
    pub fn foreign(&mut self, class: u64) {
        self.supertype(class, 0);
    }

    /// Notes a name that is declared here; this is not a use.
    pub fn declare(&mut self, name: &Node) {
        self.declared.push(name.start_byte() as u32);
    }

    /// Notes that the outermost code does something.
    pub fn acts(&mut self) {
        self.outline.acts = true;
    }

    /// Notes that others may import what the file defines.
    pub fn exports(&mut self) {
        self.outline.exports = true;
    }

    /// Gives the names in the tokens to the definitions. REQUIRES: the walk is over.
    pub fn collect(&mut self, tokens: &[RawToken]) {
        self.declared.sort_unstable();
        let mut within = vec![0u32];
        let mut next = 1;
        for (at, token) in tokens.iter().enumerate() {
            let definitions = &self.outline.definitions;
            while definitions.get(next).is_some_and(|definition| definition.start <= token.span.start) {
                within.push(next as u32);
                next += 1;
            }
            while within.len() > 1 && definitions[within[within.len() - 1] as usize].end <= token.span.start {
                within.pop();
            }
            let user = within[within.len() - 1];
            let word = self.text.get(token.span.start as usize..token.span.end as usize).unwrap_or("");
            match token.kind {
                Some(TokenKind::Name) if self.declared.binary_search(&token.span.start).is_err() => {
                    let is_call = || self.is_sign(tokens.get(at + 1), "(");
                    let is_reference = || at > 0 && self.is_sign(tokens.get(at - 1), "::");
                    let is_called = self.plan.calls_only && (is_call() || is_reference());
                    self.note(user, word, is_called);
                }
                Some(TokenKind::String) if !(self.plan.has_characters && word.starts_with('\'')) => {
                    words(word).for_each(|word| self.note(user, word, self.plan.calls_only));
                }
                _ => {}
            }
        }
        self.outline.uses.sort_unstable();
        self.outline.uses.dedup();
        if !self.plan.exporting.is_empty() && self.outline.uses.binary_search(&(0, hash(self.plan.exporting))).is_ok() {
            self.export_classes();
        }
    }

    /// Notes that others may call all methods of the file's classes.
    fn export_classes(&mut self) {
        self.exports();
        let classes = self.outline.definitions.iter().filter(|definition| definition.is_class);
        self.outline.supertypes.extend(classes.map(|class| (class.name, 0)));
    }

    fn is_sign(&self, token: Option<&RawToken>, sign: &str) -> bool {
        token.is_some_and(|token| self.text.get(token.span.start as usize..token.span.end as usize) == Some(sign))
    }

    fn note(&mut self, user: u32, word: &str, is_called: bool) {
        let name = hash(word);
        self.outline.uses.push((user, name));
        if is_called {
            self.outline.uses.push((user, called(name)));
        }
    }

    /// The outline, with tokens instead of bytes.
    pub fn finish(mut self, code: &CodeTokens) -> Outline {
        let token = |byte: u32| code.spans.partition_point(|span| span.start < byte) as u32;
        for definition in &mut self.outline.definitions {
            (definition.start, definition.end) = (token(definition.start), token(definition.end));
        }
        self.outline.tokens = code.tokens.len() as u32;
        self.outline
    }
}

/// The names in a string literal: none if it holds a blank, unless code is interpolated into it. Letters of escapes and
/// formats are none.
fn words(literal: &str) -> impl Iterator<Item = &str> {
    let open = literal.find(['"', '\'', '`']).unwrap_or(0);
    let (prefix, inside) = literal.split_at(open);
    let is_code = inside.starts_with('`') || prefix.contains(['f', 'F', 't', 'T']);
    let is_read = is_code || !inside.contains(char::is_whitespace);
    let is_word = |c: char| c.is_alphanumeric() || matches!(c, '_' | '$');
    let inside = if is_read { inside } else { "" };
    inside.split(move |c| !is_word(c)).filter(move |word| {
        let before = word.as_ptr() as usize - inside.as_ptr() as usize;
        let is_letter = inside[..before].ends_with(['\\', '%']);
        !word.is_empty() && !word.starts_with(|c: char| c.is_ascii_digit()) && !is_letter
    })
}
