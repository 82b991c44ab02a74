//! C and C++: a program starts at `main`; global variables and macros belong to their file.
//!
//! A prototype or forward declaration is no use of its name. Constructors, destructors and operators belong to their
//! class, wherever they stand.

use super::outline::{Outliner, Plan};
use super::{hash, is_in, Definition, Rule};
use tree_sitter::Node;

pub(crate) static C: Plan = Plan {
    nodes: &[
        ("function_definition", function),
        ("function_declarator", prototype),
        ("class_specifier", class),
        ("struct_specifier", class),
        ("union_specifier", class),
        ("preproc_def", macro_),
        ("preproc_function_def", macro_),
    ],
    computed: &["dlsym", "GetProcAddress"],
    has_characters: true,
    calls_only: false,
    exporting: "",
};

/// Functions that the system calls.
const MAINS: &str = "main wmain _tmain WinMain wWinMain DllMain";
/// Functions that the language and its library call.
const CALLED_BACK: &str = "begin end cbegin cend rbegin rend swap hash_value";
/// Nodes around declarations that stand in no function.
const SCOPES: &str = "translation_unit declaration_list field_declaration_list template_declaration \
    friend_declaration linkage_specification preproc_if preproc_ifdef preproc_else preproc_elif";
/// Nodes between a declaration and the name that it declares.
const DECLARATORS: &str = "pointer_declarator reference_declarator attributed_declarator";

/// The name in a declarator, and whether it is that of a function that overrides another.
struct Declared<'a> {
    /// The last name; empty for operators and destructors.
    word: &'a str,
    /// The class before `::`.
    scope: Option<&'a str>,
    overrides: bool,
}

impl<'a> Declared<'a> {
    fn of(outliner: &Outliner<'a>, definition: &Node) -> Option<Self> {
        let (mut node, mut scope, mut overrides) = (definition.child_by_field_name("declarator")?, None, false);
        loop {
            let inside = match node.kind() {
                "qualified_identifier" => {
                    let named = node.child_by_field_name("scope");
                    scope = named.map(|named| plain_name(outliner, &named)).or(scope);
                    node.child_by_field_name("name")
                }
                "template_function" => node.child_by_field_name("name"),
                _ => {
                    overrides |= node.kind() == "function_declarator" && has_child(&node, "virtual_specifier");
                    node.child_by_field_name("declarator").or_else(|| {
                        let is_wrapped = matches!(node.kind(), "reference_declarator" | "parenthesized_declarator");
                        node.named_child(0).filter(|_| is_wrapped)
                    })
                }
            };
            match inside {
                Some(inside) => node = inside,
                None => break,
            }
        }
        let is_word = matches!(node.kind(), "identifier" | "field_identifier" | "type_identifier");
        Some(Self { word: if is_word { outliner.word(&node) } else { "" }, scope, overrides })
    }
}

fn has_child(node: &Node, kind: &str) -> bool {
    let mut cursor = node.walk();
    let found = node.children(&mut cursor).any(|child| child.kind() == kind);
    found
}

/// The name of a class without namespaces and arguments.
fn plain_name<'a>(outliner: &Outliner<'a>, node: &Node) -> &'a str {
    let mut node = *node;
    while let Some(inside) = node.child_by_field_name("name") {
        node = inside;
    }
    outliner.word(&node)
}

fn function(outliner: &mut Outliner, node: &Node) {
    let Some(declared) = Declared::of(outliner, node) else { return };
    let around = outliner.around();
    let member_of = if around.is_class { around.name } else { 0 };
    let class = declared.scope.map_or(member_of, hash);
    let has_type = node.child_by_field_name("type").is_some();
    let is_implied = declared.word.is_empty()
        || !has_type
        || declared.overrides
        || declared.scope == Some(declared.word)
        || is_in(CALLED_BACK, declared.word)
        || has_child(node, "attribute_specifier");
    let rule = match () {
        () if class == 0 && is_in(MAINS, declared.word) => Rule::Main,
        () if is_implied => Rule::Implied,
        () => Rule::Named,
    };
    let (needs_class, may_override) = (declared.scope.is_some(), class != 0);
    let name = hash(declared.word);
    define(outliner, node, Definition { name, class, rule, needs_class, may_override, ..Definition::default() });
}

/// A template begins with its parameters.
fn define(outliner: &mut Outliner, node: &Node, definition: Definition) {
    if outliner.above(1) == "template_declaration" {
        outliner.define_with_parent(node, definition);
    } else {
        outliner.define(node, definition);
    }
}

/// The name in a prototype is declared, not used.
fn prototype(outliner: &mut Outliner, node: &Node) {
    let levels = (1..).find(|levels| !is_in(DECLARATORS, outliner.above(*levels))).unwrap_or(1);
    let is_declaration = matches!(outliner.above(levels), "declaration" | "field_declaration");
    if is_declaration && is_in(SCOPES, outliner.above(levels + 1)) {
        let name = node.child_by_field_name("declarator");
        let is_plain = |name: &Node| matches!(name.kind(), "identifier" | "field_identifier");
        if let Some(name) = name.filter(is_plain) {
            outliner.declare(&name);
        }
    }
}

fn class(outliner: &mut Outliner, node: &Node) {
    let Some(named) = node.child_by_field_name("name") else { return };
    if node.child_by_field_name("body").is_none() {
        if is_in(SCOPES, outliner.above(1)) {
            outliner.declare(&named);
        }
        return;
    }
    let name = hash(plain_name(outliner, &named));
    let is_special = outliner.word(&named).contains('<');
    if is_special {
        outliner.foreign(name);
    }
    let mut cursor = node.walk();
    let clause = node.named_children(&mut cursor).find(|child| child.kind() == "base_class_clause");
    if let Some(clause) = clause {
        let mut cursor = clause.walk();
        for base in clause.named_children(&mut cursor) {
            if matches!(base.kind(), "type_identifier" | "qualified_identifier" | "template_type") {
                outliner.supertype(name, hash(plain_name(outliner, &base)));
            }
        }
    }
    let is_declarator = matches!(outliner.above(1), "declaration" | "field_declaration" | "type_definition");
    let rule = if is_special || is_declarator { Rule::Implied } else { Rule::Named };
    define(outliner, node, Definition { name, class: name, rule, is_class: true, ..Definition::default() });
}

/// A macro may be used anywhere, so the names in it are.
fn macro_(outliner: &mut Outliner, node: &Node) {
    outliner.define(node, Definition { rule: Rule::Outside, ..Definition::default() });
}
