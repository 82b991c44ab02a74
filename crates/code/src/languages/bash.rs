//! Bash and other shells.

use super::{CodeLanguage, Quote, Shape};
use crate::fold::NodeClass;
use crate::lexer::Lexer;

/// Bash.
pub static BASH: CodeLanguage = CodeLanguage::new(
    "bash",
    &[".sh", ".bash", ".ksh", ".zsh"],
    "bash",
    tree_sitter_bash::LANGUAGE,
    Shape {
        names: "word",
        variables: "variable_name special_variable_name",
        numbers: "number file_descriptor",
        strings: "string raw_string ansi_c_string heredoc_body",
        unread: "regex extglob_pattern",
        ignored: "; heredoc_start heredoc_end",
        words: TESTS,
        soft: "A E K L P Q U a k u",
        line_comments: &[],
        block_comments: &[],
        quotes: &[
            Quote { hole: Some(("$(", b')')), ..Quote::DOUBLE },
            Quote { escape: None, ..Quote::SINGLE },
            Quote { open: "$'", ..Quote::SINGLE },
        ],
        spanning: true,
        special: Some(special),
        ends_lines: true,
        ..Shape::PLAIN
    },
);

/// Test operators that are written as words, except those that commands take as options.
const TESTS: &str = "-lt -gt -le -ge -eq -ne -nt -ot -ef -z";

/// Characters that end a word.
const ENDS: &str = " \t\r\n\"'<>{}[]()`$|&;\\#";

/// Signs before a default value, as in `${name:-value}`.
const DEFAULTS: &[&str] = &[":-", ":=", ":+", ":?"];

/// Whether a text ends before a default value.
fn is_default(before: &str) -> bool {
    DEFAULTS.iter().any(|sign| before.ends_with(sign))
}

/// Comments, words, expansions and heredocs. `state` counts the open `((` of arithmetic, where words end at operators.
fn special(lexer: &Lexer<'_>, at: usize) -> Option<(usize, NodeClass)> {
    let rest = lexer.rest(at);
    let before = lexer.text[..at].chars().next_back().unwrap_or('\n');
    match rest.as_bytes()[0] {
        _ if lexer.heredoc.get().is_some() && opens_heredoc(&lexer.text[..at]) => {
            Some((at + heredoc_mark(rest), NodeClass::Ignored))
        }
        b'"' | b'\'' if before == '$' => None,
        _ if before == '$' || lexer.text[..at].ends_with("${") => {
            let len = rest.bytes().take_while(|byte| byte.is_ascii_alphanumeric() || *byte == b'_').count();
            (!rest.starts_with(['(', '{'])).then(|| (at + len.max(first_len(rest)), lexer.name()))
        }
        first if is_default(&lexer.text[..at]) && first.is_ascii_alphanumeric() => {
            let len = rest.bytes().take_while(|byte| byte.is_ascii_alphanumeric() || *byte == b'_').count();
            Some((at + len, lexer.name()))
        }
        b':' if DEFAULTS.iter().any(|sign| rest.starts_with(sign)) => Some((at + 2, lexer.literal(&rest[..2]))),
        _ if lexer.text[..at].trim_end_matches([' ', '\t']).ends_with("=~") && !rest.starts_with(['"', '\'', '$']) => {
            let end = regex_end(lexer, at);
            (end > at).then(|| (end, lexer.string()))
        }
        b'#' if before.is_whitespace() || before == ';' => Some((lexer.line_end(at), NodeClass::Comment)),
        b'(' if rest.starts_with("((") => {
            lexer.state.set(lexer.state.get() + 1);
            None
        }
        b')' if rest.starts_with("))") => {
            lexer.state.set(lexer.state.get().saturating_sub(1));
            None
        }
        b'<' if rest.starts_with("<<") && !rest.starts_with("<<<") && lexer.state.get() == 0 => heredoc(lexer, at),
        b'\\' if !rest[1..].starts_with(['\n', '\r']) => Some(word(lexer, at)),
        b'"' | b'\'' | b'#' | b'\\' | b'`' | b'<' | b'>' | b'|' | b'&' | b';' => None,
        b'$' => (rest.starts_with("$((")).then(|| {
            lexer.state.set(lexer.state.get() + 1);
            (at + 3, lexer.literal("$(("))
        }),
        b'(' | b')' | b'{' | b'}' | b'[' | b']' => None,
        _ if lexer.state.get() > 0 => None,
        _ => Some(word(lexer, at)),
    }
}

/// Length of the first character.
fn first_len(text: &str) -> usize {
    text.chars().next().map_or(0, char::len_utf8)
}

/// A word of a command: a name, a number, a keyword, or the variable of an assignment.
fn word(lexer: &Lexer<'_>, at: usize) -> (usize, NodeClass) {
    let rest = lexer.rest(at);
    let mut is_escaped = false;
    let ends = |c: char| {
        let is_end = (c.is_whitespace() || c.is_control() || ENDS.contains(c)) && !is_escaped;
        is_escaped = c == '\\' && !is_escaped;
        is_end && !is_escaped
    };
    let len = rest.find(ends).unwrap_or(rest.len()).max(first_len(rest));
    let text = &rest[..len];
    let variable = text.bytes().take_while(|byte| byte.is_ascii_alphanumeric() || *byte == b'_').count();
    if text.starts_with('=') && lexer.keyword(text).is_none() {
        return (at + 1, lexer.literal("="));
    }
    if variable > 0 && (text[variable..].starts_with('=') || text[variable..].starts_with("+=")) {
        return (at + variable, lexer.name());
    }
    let digits = text.strip_prefix('-').unwrap_or(text);
    if !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return (at + len, lexer.number());
    }
    (at + len, lexer.keyword(text).unwrap_or(lexer.name()))
}

/// End of the regular expression at `at`: the first blank outside its brackets.
fn regex_end(lexer: &Lexer<'_>, at: usize) -> usize {
    let (mut depth, mut is_escaped) = (0i32, false);
    let ends = |c: char| {
        let is_end = !is_escaped && (c == '\n' || depth <= 0 && (c.is_whitespace() || c == ';'));
        depth += i32::from(matches!(c, '(' | '[') && !is_escaped) - i32::from(matches!(c, ')' | ']') && !is_escaped);
        is_escaped = c == '\\' && !is_escaped;
        is_end
    };
    lexer.rest(at).find(ends).map_or(lexer.to, |len| at + len)
}

/// Whether a text ends with the sign of a heredoc.
fn opens_heredoc(before: &str) -> bool {
    let before = before.trim_end_matches(' ');
    before.ends_with("<<") || before.ends_with("<<-")
}

/// Length of the mark of a heredoc, with its quotes.
fn heredoc_mark(rest: &str) -> usize {
    rest.find(|c: char| c.is_whitespace() || matches!(c, ';' | '|' | '&' | ')' | '>' | '<')).unwrap_or(rest.len())
}

/// `<<MARK`: the body is on the lines below.
fn heredoc(lexer: &Lexer<'_>, at: usize) -> Option<(usize, NodeClass)> {
    let rest = lexer.rest(at);
    let sign = if rest.starts_with("<<-") { "<<-" } else { "<<" };
    let mark = rest[sign.len()..].trim_start_matches([' ', '"', '\'', '\\']);
    let len = mark.bytes().take_while(|byte| byte.is_ascii_alphanumeric() || *byte == b'_').count();
    if len == 0 {
        return None;
    }
    lexer.heredoc.set(Some((&mark[..len], sign == "<<-")));
    Some((at + sign.len(), lexer.literal(sign)))
}
