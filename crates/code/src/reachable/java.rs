//! Java: what starts a program, what a library calls, and what belongs to a class.
//!
//! Fields, initialisers and constructors belong to their class, members of anonymous classes to the code around them.
//! Methods are used by calls and method references only, so that a variable of the same name is no use.

use super::outline::{Outliner, Plan};
use super::{hash, is_in, Definition, Rule};
use tree_sitter::Node;

pub(crate) static JAVA: Plan = Plan {
    nodes: &[
        ("class_declaration", class),
        ("interface_declaration", class),
        ("enum_declaration", class),
        ("record_declaration", class),
        ("annotation_type_declaration", class),
        ("method_declaration", method),
    ],
    computed: &["getMethod", "getMethods", "getDeclaredMethod", "getDeclaredMethods"],
    has_characters: true,
    calls_only: true,
    exporting: "",
};

/// Methods that the language and its library call on objects of any class.
const CALLED_BACK: &str = "equals hashCode toString clone finalize compareTo compare run call iterator hasNext \
    next close get accept apply test getMessage readObject writeObject readResolve";
/// Types of the library that call no other method of a class.
const HARMLESS_TYPES: &str = "Object Runnable Thread Callable Comparable Comparator Iterable Iterator \
    Serializable Cloneable Closeable AutoCloseable Throwable Error Exception RuntimeException Supplier Consumer \
    Function Predicate";
/// Annotations that make nobody call a method.
const HARMLESS_NOTES: &str = "SuppressWarnings SafeVarargs Deprecated FunctionalInterface Nullable NonNull \
    NotNull";

fn class(outliner: &mut Outliner, node: &Node) {
    let Some(name) = node.child_by_field_name("name").map(|name| hash(outliner.word(&name))) else { return };
    let notes = Notes::of(outliner, node);
    if notes.is_noted {
        outliner.foreign(name);
    }
    let mut cursor = node.walk();
    for child in node.named_children(&mut cursor) {
        if matches!(child.kind(), "superclass" | "super_interfaces" | "extends_interfaces") {
            supertypes(outliner, name, &child);
        }
    }
    let rule = if notes.is_noted { Rule::Outside } else { Rule::Named };
    outliner.define(node, Definition { name, class: name, rule, is_class: true, ..Definition::default() });
}

/// Notes the types in `extends A<B>` or `implements C, D.E`.
fn supertypes(outliner: &mut Outliner, class: u64, clause: &Node) {
    let mut cursor = clause.walk();
    let lists: Vec<Node> = clause.named_children(&mut cursor).collect();
    for one in lists {
        let mut cursor = one.walk();
        let types: Vec<Node> =
            if one.kind() == "type_list" { one.named_children(&mut cursor).collect() } else { vec![one] };
        for written in types {
            let plain = if written.kind() == "generic_type" { written.named_child(0) } else { Some(written) };
            let word = plain.map_or("", |node| outliner.word(&node)).rsplit('.').next().unwrap_or("").trim();
            if !is_in(HARMLESS_TYPES, word) {
                outliner.supertype(class, hash(word));
            }
        }
    }
}

fn method(outliner: &mut Outliner, node: &Node) {
    let class = outliner.around();
    let is_anonymous = matches!(outliner.above(2), "object_creation_expression" | "enum_constant");
    if is_anonymous || !class.is_class {
        return;
    }
    let class = class.name;
    let Some(word) = node.child_by_field_name("name").map(|name| outliner.word(&name)) else { return };
    let notes = Notes::of(outliner, node);
    let rule = match word {
        "main" => Rule::Main,
        _ if notes.is_noted => Rule::Outside,
        _ if notes.overrides || is_in(CALLED_BACK, word) => Rule::Implied,
        _ => Rule::Called,
    };
    let may_override = !notes.is_hidden;
    outliner.define(node, Definition { name: hash(word), class, rule, may_override, ..Definition::default() });
}

/// What stands before a declaration.
#[derive(Default)]
struct Notes {
    /// Whether it has an annotation that a framework may act on.
    is_noted: bool,
    /// Whether it says that it overrides a method.
    overrides: bool,
    /// Whether it is static or private, so that it overrides none.
    is_hidden: bool,
}

impl Notes {
    fn of(outliner: &Outliner, node: &Node) -> Self {
        let mut notes = Self::default();
        let Some(modifiers) = node.child(0).filter(|child| child.kind() == "modifiers") else { return notes };
        let mut cursor = modifiers.walk();
        for one in modifiers.children(&mut cursor) {
            match one.kind() {
                "static" | "private" => notes.is_hidden = true,
                "marker_annotation" | "annotation" => {
                    let name = one.child_by_field_name("name").map_or("", |name| outliner.word(&name));
                    let word = name.rsplit('.').next().unwrap_or("");
                    notes.overrides |= word == "Override";
                    notes.is_noted |= word != "Override" && !is_in(HARMLESS_NOTES, word);
                }
                _ => {}
            }
        }
        notes
    }
}
