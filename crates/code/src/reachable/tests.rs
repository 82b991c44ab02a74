//! Programs of each language in `crates/code/reachable`: tokens on lines that end with the comment `dead` cannot run, all
//! others can.

use super::{sweep, Everything, Outline};
use crate::{language, CodeOptions, CodeTokens};
use std::path::{Path, PathBuf};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("reachable")
}

fn code(language_name: &str, text: &str) -> CodeTokens {
    let known = language(language_name).expect("the language is known");
    known.tokenize(text, CodeOptions::default()).expect("the text is short")
}

fn swept(language_name: &str, texts: &[&str]) -> Result<Vec<Vec<bool>>, Everything> {
    let files: Vec<CodeTokens> = texts.iter().map(|text| code(language_name, text)).collect();
    let outlines: Vec<&Outline> = files.iter().map(|file| file.outline.as_ref().expect("it is parsed")).collect();
    sweep(&outlines)
}

/// Whether each line that has tokens cannot run; lines with tokens of both sorts are left out.
fn lines(text: &str, code: &CodeTokens, marks: &[bool]) -> Vec<(usize, Option<bool>)> {
    let mut found: Vec<(usize, Option<bool>)> = Vec::new();
    for (span, mark) in code.spans.iter().zip(marks) {
        let line = text[..span.start as usize].matches('\n').count() + 1;
        match found.last_mut() {
            Some((last, state)) if *last == line => *state = state.filter(|state| state == mark),
            _ => found.push((line, Some(*mark))),
        }
    }
    found
}

fn check(language_name: &str, names: &[&str]) {
    let texts: Vec<String> =
        names.iter().map(|name| std::fs::read_to_string(folder().join(name)).expect("a sample")).collect();
    let borrowed: Vec<&str> = texts.iter().map(String::as_str).collect();
    let marks = swept(language_name, &borrowed).expect("it is analysed");
    for ((name, text), marks) in names.iter().zip(&borrowed).zip(&marks) {
        for (line, is_dead) in lines(text, &code(language_name, text), marks) {
            let written = text.lines().nth(line - 1).unwrap_or("");
            let wanted = match written.rsplit_once(['#', '/']).map(|(_, comment)| comment.trim()) {
                Some("dead") => Some(true),
                Some("mixed") => None,
                _ => Some(false),
            };
            assert_eq!(is_dead, wanted, "{name}, line {line}: {written}");
        }
    }
}

#[test]
fn dead_lines_of_java() {
    check("java", &["contest.java"]);
    check("java", &["window.java"]);
    check("java", &["java_two_files/Main.java", "java_two_files/Helper.java"]);
}

#[test]
fn dead_lines_of_python() {
    check("python", &["program.py"]);
    check("python", &["framework.py"]);
    check("python", &["python_two_files/main.py", "python_two_files/helper.py", "python_two_files/shapes.py"]);
}

#[test]
fn dead_lines_of_c_and_cpp() {
    check("c", &["program.c"]);
    check("cpp", &["program.cpp"]);
}

#[test]
fn dead_lines_of_javascript_and_typescript() {
    check("javascript", &["program.js"]);
    check("javascript", &["module.js"]);
    check("typescript", &["program.ts"]);
}

/// Statements that make a program long enough, each of 5 or more tokens.
fn long(statement: &str) -> String {
    statement.repeat(20)
}

#[test]
fn without_an_entry_point_everything_is_reachable() {
    let methods = format!("class A {{ void a() {{ {} }} int b() {{ return 1; }} }}", long("int x = 1; "));
    assert_eq!(swept("java", &[&methods]), Err(Everything::NoEntry));
    let functions = format!("TABLE = [1, 2]\n\ndef a():\n    return b()\n\n\ndef b():\n{}", long("    x = [1, 2]\n"));
    assert_eq!(swept("python", &[&functions]), Err(Everything::NoEntry));
    let functions = format!("function a() {{ return b(); }}\nfunction b() {{ {} }}", long("let x = 1 + 2; "));
    assert_eq!(swept("javascript", &[&functions]), Err(Everything::NoEntry));
    let library = format!("int a() {{ {} }}\nint b() {{ return a(); }}", long("int x = 1; "));
    assert_eq!(swept("c", &[&library]), Err(Everything::NoEntry));
}

#[test]
fn with_too_few_reachable_tokens_everything_is_reachable() {
    let program = |length: usize| format!("int main() {{ {} }}\nint b() {{ return 1; }}", "int x = 1; ".repeat(length));
    assert_eq!(swept("c", &[&program(12)]), Err(Everything::TooLittle));
    let marks = swept("c", &[&program(14)]).expect("it is analysed");
    assert_eq!(marks[0].iter().filter(|is_dead| !**is_dead).count(), 4 + 14 * 4);
}

#[test]
fn computed_names_in_code_that_runs_make_everything_reachable() {
    let body = long("    total = total + 1\n");
    let uses = |at: &str| {
        format!("def run(name):\n    total = 0\n{body}    {at}\n\n\ndef unused(n):\n    getattr(n, n)\n\n\nrun(1)\n")
    };
    assert_eq!(swept("python", &[&uses("return getattr(total, name)()")]), Err(Everything::Computed));
    assert!(swept("python", &[&uses("return total")]).expect("it is analysed")[0].contains(&true));
}

#[test]
fn a_script_without_definitions_is_all_reachable() {
    let marks = swept("python", &[&long("print(a + 2)\n")]).expect("it is analysed");
    assert!(!marks[0].contains(&true));
}
