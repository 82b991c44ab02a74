//! Reads sound files by the grammar and by the lexer, and prints where their tokens differ, most frequent first.
//!
//! `cargo run --release -p lookalike-code --example agreement -- LANGUAGE [--worst N] FILE…`. A token agrees if both
//! have it at the same place with the same value, so the share is at most that of the longest common subsequence.
//!
//! Cost: one parse, one pass of the lexer, and one merge of the two columns.

use lookalike_code::{language, CodeOptions, CodeTokens};
use std::collections::BTreeMap;

/// A difference: the text of the tokens of each side.
type Differences = BTreeMap<(String, String), (usize, String)>;

fn rows(code: &CodeTokens) -> Vec<(u32, u32, u64)> {
    code.spans.iter().zip(&code.tokens).map(|(span, token)| (span.start, span.end, *token)).collect()
}

/// Whether two tokens begin at the same place and have the same value.
fn agree(one: Option<&(u32, u32, u64)>, other: Option<&(u32, u32, u64)>) -> bool {
    matches!((one, other), (Some(one), Some(other)) if (one.0, one.2) == (other.0, other.2))
}

fn shown(text: &str, code: &CodeTokens, rows: &[(u32, u32, u64)]) -> String {
    let kind = |row: &(u32, u32, u64)| {
        let at = code.spans.iter().position(|span| span.start == row.0);
        at.map_or(String::new(), |at| format!("{:?}", code.kinds[at]))
    };
    let word = |row: &(u32, u32, u64)| text[row.0 as usize..row.1 as usize].chars().take(24).collect::<String>();
    rows.iter()
        .take(4)
        .map(|row| format!("{}:{:04x}:{:?}", kind(row), row.2 & 0xffff, word(row)))
        .collect::<Vec<_>>()
        .join(" ")
}

/// Notes the differences of two readings; returns the number of equal tokens.
fn compare(text: &str, file: &str, tree: &CodeTokens, lexed: &CodeTokens, found: &mut Differences) -> usize {
    let (left, right) = (rows(tree), rows(lexed));
    let (mut i, mut j, mut equal) = (0, 0, 0);
    while i < left.len() || j < right.len() {
        if agree(left.get(i), right.get(j)) {
            (i, j, equal) = (i + 1, j + 1, equal + 1);
            continue;
        }
        let (from_i, from_j) = (i, j);
        // Both go on to the next token that they share.
        while !agree(left.get(i), right.get(j)) {
            match (left.get(i), right.get(j)) {
                (None, None) => break,
                (Some(one), Some(other)) if one.0 <= other.0 => i += 1,
                (Some(_), None) => i += 1,
                _ => j += 1,
            }
        }
        let key = (shown(text, tree, &left[from_i..i]), shown(text, lexed, &right[from_j..j]));
        let place = left.get(from_i).or(right.get(from_j)).map_or(0, |row| row.0 as usize);
        let line = text[..place].matches('\n').count();
        let entry = found
            .entry(key)
            .or_insert_with(|| (0, format!("{file}:{}: {}", line + 1, text.lines().nth(line).unwrap_or(""))));
        entry.0 += (i - from_i).max(j - from_j);
    }
    equal
}

fn main() {
    let mut args = std::env::args().skip(1);
    let language = args.next().and_then(|name| language(&name)).expect("a language");
    let (mut found, mut equal, mut all, mut files, mut broken, mut low) = (Differences::new(), 0, 0, 0, 0, Vec::new());
    for file in args {
        let Ok(text) = std::fs::read_to_string(&file) else { continue };
        let [tree, lexed] =
            [language.tokenize(&text, CodeOptions::default()), language.lex(&text, CodeOptions::default())]
                .map(|code| code.expect("the file is below 4 GiB"));
        if tree.degraded.is_some() {
            broken += 1;
            continue;
        }
        let (same, most) =
            (compare(&text, &file, &tree, &lexed, &mut found), tree.tokens.len().max(lexed.tokens.len()));
        (equal, all, files) = (equal + same, all + most, files + 1);
        if same * 1000 < most * 995 {
            low.push(same as f64 / most as f64);
        }
    }
    println!(
        "{}: {files} sound files ({broken} others), {equal} of {all} tokens agree: {:.3} %; {} files below 99.5 %",
        language.name,
        100.0 * equal as f64 / all.max(1) as f64,
        low.len()
    );
    let mut rows: Vec<_> = found.into_iter().collect();
    rows.sort_by_key(|(_, (count, _))| std::cmp::Reverse(*count));
    for ((tree, lexed), (count, place)) in rows.into_iter().take(25) {
        println!(
            "{count:6}  tree [{tree}]  lexer [{lexed}]\n          {}",
            place.chars().take(200).collect::<String>()
        );
    }
}
