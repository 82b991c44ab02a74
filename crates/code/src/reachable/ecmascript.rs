//! JavaScript and TypeScript: code outside functions runs, classes included; exports are entry points.
//!
//! A function is a definition if it has a name of its own or is the value of a variable. All other functions, such as
//! those in arguments and objects, belong to the code around them.

use super::outline::{Outliner, Plan};
use super::{hash, is_in, Definition, Rule};
use tree_sitter::Node;

pub(crate) static ECMASCRIPT: Plan = Plan {
    nodes: &[
        ("function_declaration", function),
        ("generator_function_declaration", function),
        ("function_signature", function),
        ("variable_declarator", variable),
        ("class_declaration", class),
        ("abstract_class_declaration", class),
        ("class", class),
        ("method_definition", method),
        ("method_signature", method),
        ("abstract_method_signature", method),
        ("import_statement", apart),
        ("export_statement", export),
        ("expression_statement", statement),
        ("if_statement", statement),
        ("for_statement", statement),
        ("for_in_statement", statement),
        ("while_statement", statement),
        ("do_statement", statement),
        ("switch_statement", statement),
        ("try_statement", statement),
    ],
    computed: &["eval", "Function"],
    has_characters: false,
    calls_only: false,
    exporting: "exports",
};

/// Methods that the language calls.
const CALLED_BACK: &str = "constructor toString valueOf toJSON then";

/// Whether a declaration is exported.
fn is_exported(outliner: &Outliner) -> bool {
    outliner.beyond(&["lexical_declaration", "variable_declaration"]) == "export_statement"
}

fn name_of<'a>(outliner: &Outliner<'a>, node: &Node) -> Option<&'a str> {
    node.child_by_field_name("name").map(|name| outliner.word(&name))
}

fn function(outliner: &mut Outliner, node: &Node) {
    let Some(word) = name_of(outliner, node) else { return };
    let rule = if is_exported(outliner) { Rule::Outside } else { Rule::Named };
    outliner.define(node, Definition { name: hash(word), rule, ..Definition::default() });
}

fn variable(outliner: &mut Outliner, node: &Node) {
    let value = node.child_by_field_name("value").map_or("", |value| value.kind());
    if matches!(value, "arrow_function" | "function_expression" | "generator_function" | "class") {
        function(outliner, node);
    }
}

fn class(outliner: &mut Outliner, node: &Node) {
    let variable = if outliner.above(1) == "variable_declarator" { outliner.around().name } else { 0 };
    let name = name_of(outliner, node).map_or(variable, hash);
    if let Some(named) = node.child_by_field_name("name") {
        outliner.declare(&named);
    }
    let mut cursor = node.walk();
    for child in node.named_children(&mut cursor) {
        match child.kind() {
            "class_heritage" => heritage(outliner, name, &child),
            "decorator" => outliner.foreign(name),
            _ => {}
        }
    }
    if is_exported(outliner) {
        outliner.foreign(name);
    }
    let class = Definition { name, class: name, rule: Rule::Implied, is_class: true, ..Definition::default() };
    outliner.define(node, class);
}

/// Notes the class in `extends a.B`.
fn heritage(outliner: &mut Outliner, class: u64, node: &Node) {
    let clause = node.named_child(0);
    let value = clause.and_then(|clause| clause.child_by_field_name("value")).or(clause);
    let word = value.map_or("", |value| outliner.word(&value)).rsplit('.').next().unwrap_or("");
    if !matches!(word, "Error" | "Object") {
        outliner.supertype(class, hash(word));
    }
}

fn method(outliner: &mut Outliner, node: &Node) {
    let class = outliner.around();
    if !class.is_class || outliner.above(1) != "class_body" {
        return;
    }
    let class = class.name;
    let name = node.child_by_field_name("name");
    let is_plain =
        name.is_some_and(|name| matches!(name.kind(), "property_identifier" | "private_property_identifier"));
    let word = name.map_or("", |name| outliner.word(&name));
    let is_implied = class == 0 || !is_plain || is_in(CALLED_BACK, word);
    let rule = if is_implied { Rule::Implied } else { Rule::Named };
    let (needs_class, may_override) = (class != 0, true);
    let name = hash(word);
    outliner.define(node, Definition { name, class, rule, needs_class, may_override, ..Definition::default() });
}

/// Code that runs with the code around it, and is no sign that a program starts there.
fn apart(outliner: &mut Outliner, node: &Node) {
    outliner.define(node, Definition { rule: Rule::Implied, ..Definition::default() });
}

fn export(outliner: &mut Outliner, _: &Node) {
    outliner.exports();
}

fn statement(outliner: &mut Outliner, node: &Node) {
    let inside = node.child(0).map_or("", |child| child.kind());
    if outliner.above(1) == "program" && inside != "string" {
        outliner.acts();
    }
}
