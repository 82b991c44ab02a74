//! Python: code outside functions runs, classes included; methods run if their class and their name are used.

use super::outline::{Outliner, Plan};
use super::{hash, is_in, Definition, Rule};
use tree_sitter::Node;

pub(crate) static PYTHON: Plan = Plan {
    nodes: &[
        ("class_definition", class),
        ("function_definition", function),
        ("decorator", decorator),
        ("import_statement", apart),
        ("import_from_statement", apart),
        ("future_import_statement", apart),
        ("default_parameter", default_value),
        ("typed_default_parameter", default_value),
        ("expression_statement", statement),
        ("print_statement", statement),
        ("exec_statement", statement),
        ("assert_statement", statement),
        ("if_statement", statement),
        ("for_statement", statement),
        ("while_statement", statement),
        ("with_statement", statement),
        ("try_statement", statement),
        ("match_statement", statement),
    ],
    computed: &["getattr", "globals", "locals", "vars", "exec"],
    has_characters: false,
    calls_only: false,
    exporting: "",
};

/// Base classes that call no method of a class but those with names such as `__init__`.
const HARMLESS_BASES: &str = "object ABC Enum IntEnum StrEnum Flag IntFlag NamedTuple TypedDict Generic Protocol \
    BaseException";
/// Decorators that make nobody call a function.
const HARMLESS_DECORATORS: &str = "staticmethod classmethod property setter getter deleter cached_property \
    abstractmethod cache lru_cache wraps total_ordering dataclass contextmanager override overload final jit \
    njit";

fn class(outliner: &mut Outliner, node: &Node) {
    let is_decorated = std::mem::take(&mut outliner.is_decorated);
    let Some(named) = node.child_by_field_name("name") else { return };
    let name = hash(outliner.word(&named));
    outliner.declare(&named);
    if is_decorated {
        outliner.foreign(name);
    }
    if let Some(bases) = node.child_by_field_name("superclasses") {
        let mut cursor = bases.walk();
        for base in bases.named_children(&mut cursor) {
            let word = last_word(outliner, base);
            let is_harmless = ["Error", "Exception", "Warning"].iter().any(|end| word.ends_with(end))
                || is_in(HARMLESS_BASES, word)
                || base.kind() == "keyword_argument"
                || base.kind() == "comment";
            if !is_harmless {
                outliner.supertype(name, hash(word));
            }
        }
    }
    let class = Definition { name, class: name, rule: Rule::Implied, is_class: true, ..Definition::default() };
    outliner.define(node, class);
}

fn function(outliner: &mut Outliner, node: &Node) {
    let is_decorated = std::mem::take(&mut outliner.is_decorated);
    let Some(word) = node.child_by_field_name("name").map(|name| outliner.word(&name)) else { return };
    let (is_method, class) = (outliner.around().is_class, outliner.around().name);
    let rule = match word {
        _ if word.starts_with("test") => Rule::Outside,
        _ if is_decorated || word.starts_with("__") && word.ends_with("__") => Rule::Implied,
        _ => Rule::Named,
    };
    let class = if is_method { class } else { 0 };
    let (needs_class, may_override) = (is_method, is_method);
    let function = Definition { name: hash(word), class, rule, needs_class, may_override, ..Definition::default() };
    outliner.define(node, function);
}

fn decorator(outliner: &mut Outliner, node: &Node) {
    let word = node.named_child(0).map_or("", |inside| last_word(outliner, inside));
    outliner.is_decorated |= !is_in(HARMLESS_DECORATORS, word);
    apart(outliner, node);
}

/// Code that runs with the code around it, and is no sign that a program starts there.
fn apart(outliner: &mut Outliner, node: &Node) {
    outliner.define(node, Definition { rule: Rule::Implied, ..Definition::default() });
}

/// A default value is computed where the function is defined.
fn default_value(outliner: &mut Outliner, node: &Node) {
    let is_call = node.child_by_field_name("value").is_some_and(|value| value.kind() == "call");
    if is_call && outliner.above(1) == "parameters" {
        outliner.define_outside(node, Definition { rule: Rule::Implied, ..Definition::default() });
    }
}

fn statement(outliner: &mut Outliner, node: &Node) {
    let inside = node.child(0).map_or("", |child| child.kind());
    if outliner.above(1) == "module" && !matches!(inside, "assignment" | "augmented_assignment" | "concatenated_string")
    {
        outliner.acts();
    }
}

/// The last name of `a.b.c(…)[…]` before its brackets.
fn last_word<'a>(outliner: &Outliner<'a>, node: Node) -> &'a str {
    let mut node = node;
    loop {
        let inside = match node.kind() {
            "call" => node.child_by_field_name("function"),
            "subscript" => node.child_by_field_name("value"),
            "attribute" => node.child_by_field_name("attribute"),
            _ => None,
        };
        match inside {
            Some(inside) => node = inside,
            None => return outliner.word(&node),
        }
    }
}
