//! Tests of the way from files to shown places: a person sees what the matcher matched.

use crate::places::{Region, Ruler};
use crate::submissions::{Submission, TokenNumbers};
use crate::submitted_file::{with_one_quote, SubmittedFile, TextStretch, Tokens, TEXT};
use lookalike_core::matching::entry::{Entry, SEPARATOR};
use lookalike_core::matching::passages::PassageKind;
use lookalike_core::matching::score::MatchedPair;
use lookalike_core::matching::{Cohort, Comparison, MatchOutcome, MatchSettings};
use proptest::prelude::*;
use proptest::test_runner::{Config, RngSeed};
use std::ops::Range;
use std::sync::Arc;

const PROSE: (u32, u32) = (10, 20);
const CODE: (u32, u32) = (6, 12);

fn fixed(cases: u32) -> Config {
    Config { cases, rng_seed: RngSeed::Fixed(2003), failure_persistence: None, ..Config::default() }
}

fn stretch(language: &str, range: Range<usize>) -> TextStretch<'_> {
    TextStretch { language, range, lexed: None, values: None, thresholds: if language == TEXT { PROSE } else { CODE } }
}

fn read(language: &str, text: &str) -> Arc<SubmittedFile> {
    mixed(text, vec![stretch(language, 0..text.len())])
}

fn mixed(text: &str, stretches: Vec<TextStretch>) -> Arc<SubmittedFile> {
    Arc::new(SubmittedFile::read(text.to_owned(), &stretches, false).expect("short enough"))
}

fn submit(submissions: Vec<Vec<Arc<SubmittedFile>>>) -> (Vec<Submission>, Vec<Entry>) {
    let mut numbers = TokenNumbers::default();
    submissions.into_iter().enumerate().map(|(i, files)| numbers.entry(files, i as u32, false)).unzip()
}

fn compare(entries: Vec<Entry>) -> MatchOutcome {
    let settings = MatchSettings {
        max_sharing: None,
        min_score: 0.0,
        min_contained: 1.0,
        min_evidence: 0,
        min_bits: 0,
        max_pairs: usize::MAX,
        cluster_threshold: 1.0,
    };
    let cohort = Cohort::new(entries, &[], settings);
    let mut comparison = Comparison::default();
    while comparison.advance(&cohort, 10) {}
    comparison.finish()
}

fn pair(left: Vec<Arc<SubmittedFile>>, right: Vec<Arc<SubmittedFile>>) -> (Vec<Submission>, Option<MatchedPair>) {
    let (submissions, entries) = submit(vec![left, right]);
    (submissions, compare(entries).pairs.into_iter().next())
}

/// The text at a region.
fn shown(submission: &Submission, region: Region) -> String {
    let text = &submission.files[region.file as usize].text;
    text.chars().skip(region.start as usize).take((region.end - region.start) as usize).collect()
}

/// Texts with characters of one to four bytes and line ends of every kind.
fn messy() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        3 => "[ -~\n]{0,60}",
        2 => "\\PC{0,20}",
        1 => any::<String>(),
        1 => prop::sample::select(vec!["\r\n", "é\n日本語\n", "👩‍👩‍👧\n\n", "\u{2028}\u{85}\r", "ﬁ e\u{301}\n"]).prop_map(str::to_owned),
    ];
    prop::collection::vec(piece, 0..25).prop_map(|pieces| pieces.concat())
}

const PROGRAM: &str =
    "def total(prices):\n    result = 0\n    for price in prices:\n        result += price * 2\n    return result\n";

proptest! {
    #![proptest_config(fixed(300))]

    #[test]
    fn characters_and_lines_match_naive(text in messy()) {
        let ruler = Ruler::new(&text);
        for (at, _) in text.char_indices().chain([(text.len(), ' ')]) {
            let before = &text[..at];
            prop_assert_eq!(ruler.character(at as u32) as usize, before.chars().count(), "byte {}", at);
            prop_assert_eq!(ruler.line(at as u32) as usize, 1 + before.matches('\n').count(), "byte {}", at);
        }
    }

    #[test]
    fn no_offset_is_too_wild_for_a_ruler(text in messy(), at in any::<u32>()) {
        let ruler = Ruler::new(&text);
        prop_assert!(ruler.character(at) as usize <= text.chars().count());
        prop_assert!(ruler.line(at) as usize <= 1 + text.matches('\n').count());
    }

    #[test]
    fn rows_of_a_lexer_may_point_anywhere(
        text in messy(), rows in prop::collection::vec((any::<u16>(), any::<u16>(), 0u32..7, any::<bool>()), 0..60),
    ) {
        let wild = |at: u16, is_wild: bool| if is_wild { u32::MAX - u32::from(at) } else { u32::from(at) % 400 };
        let rows = rows.into_iter().map(|(start, end, class, is_wild)| [wild(start, is_wild), wild(end, is_wild), class]);
        let lexed = Some(rows.collect::<Vec<_>>());
        let file = mixed(&text, vec![TextStretch { language: "lisp", range: 0..text.len(), lexed, values: None, thresholds: CODE }]);
        let (submissions, entries) = submit(vec![vec![file.clone()], vec![file]]);
        let count = text.chars().count() as u32;
        let (submission, flags) = (&submissions[0], vec![true; entries[0].tokens.len()]);
        if !entries[0].tokens.is_empty() {
            let rulers = submission.rulers();
            for token in 0..entries[0].tokens.len() as u32 {
                let region = submission.region(&rulers, token, token + 1);
                prop_assert!(region.start <= region.end && region.end <= count, "{:?}", region);
                prop_assert!(region.start_line <= region.end_line, "{:?}", region);
            }
        }
        for [start, end, _] in submission.marks(0, &flags, &flags, &[]) {
            prop_assert!(start <= end && end <= count);
        }
        compare(entries);
    }

    #[test]
    fn stretches_may_be_anywhere(
        text in messy(), ranges in prop::collection::vec((0usize..300, 0usize..300, any::<bool>()), 0..5),
    ) {
        let stretches = ranges.into_iter().map(|(start, end, is_code)| stretch(if is_code { "python" } else { TEXT }, start..end));
        let file = mixed(&text, stretches.collect());
        let (submissions, entries) = submit(vec![vec![file]]);
        let (rulers, count) = (submissions[0].rulers(), text.chars().count() as u32);
        for part in &entries[0].parts {
            let region = submissions[0].region(&rulers, part.start, part.end);
            prop_assert!(region.start <= region.end && region.end <= count, "{:?}", region);
        }
        let flags = vec![true; entries[0].tokens.len()];
        submissions[0].marks(0, &flags, &flags, &[]);
    }

    #[test]
    fn a_token_of_prose_is_shown_where_it_stands(text in messy()) {
        let (submissions, entries) = submit(vec![vec![read(TEXT, &text)]]);
        let rulers = submissions[0].rulers();
        for (token, code) in entries[0].tokens.iter().enumerate().filter(|(_, code)| **code < 0x80) {
            let written = shown(&submissions[0], submissions[0].region(&rulers, token as u32, token as u32 + 1));
            prop_assert!(!written.is_empty());
            if written.is_ascii() {
                prop_assert_eq!(written.to_lowercase(), char::from_u32(*code).map(String::from).unwrap_or_default());
            }
        }
    }
}

#[test]
fn a_token_of_code_is_shown_where_it_stands_though_prose_comes_first() {
    let prose = "Naïve Überlegung: 日本語のテキスト 👩‍👩‍👧 says it all.\n";
    let text = format!("{prose}{PROGRAM}{prose}");
    let (start, end) = (prose.len(), prose.len() + PROGRAM.len());
    let file =
        mixed(&text, vec![stretch(TEXT, 0..start), stretch("python", start..end), stretch(TEXT, end..text.len())]);
    let (submissions, entries) = submit(vec![vec![read(TEXT, "first"), file]]);
    let (submission, rulers) = (&submissions[0], submissions[0].rulers());
    let code = entries[0].parts[2];
    let words: Vec<String> =
        (code.start..code.end).map(|token| shown(submission, submission.region(&rulers, token, token + 1))).collect();
    assert_eq!(words[..3], ["def", "total", "prices"]);
    assert_eq!(words.last().map(String::as_str), Some("result"));
    let whole = submission.region(&rulers, code.start, code.end);
    assert_eq!((whole.file, whole.start_line, whole.end_line), (1, 2, 6));
    assert_eq!(shown(submission, whole), PROGRAM.trim_end());
    let after = submission.region(&rulers, entries[0].parts[3].start, entries[0].parts[3].start + 5);
    assert_eq!((shown(submission, after).as_str(), after.start_line), ("Naïve", 7));
}

#[test]
fn marks_colour_code_and_what_is_nobodys_own() {
    let prose = "Überschrift\n";
    let text = format!("{prose}{PROGRAM}# a comment\n");
    let file = mixed(&text, vec![stretch(TEXT, 0..prose.len()), stretch("python", prose.len()..text.len())]);
    let (submissions, entries) = submit(vec![vec![file]]);
    let mut template = vec![false; entries[0].tokens.len()];
    let code = entries[0].parts[1];
    template[code.start as usize..code.start as usize + 3].fill(true);
    let mut common = vec![false; template.len()];
    common[2..5].fill(true);
    let marks = submissions[0].marks(0, &template, &common, &[]);
    assert!(marks.windows(2).all(|two| two[0] <= two[1]));
    let texts = |class: u32| {
        let of_class = marks.iter().filter(move |mark| mark[2] == class);
        of_class
            .map(|mark| text.chars().take(mark[1] as usize).skip(mark[0] as usize).collect::<String>())
            .collect::<Vec<_>>()
    };
    assert_eq!(texts(1), ["def", "for", "in", "return"]);
    assert_eq!(texts(3), ["0", "2"]);
    assert_eq!(texts(5), ["# a comment"]);
    assert_eq!(texts(7), ["def total(prices"]);
    assert_eq!(texts(8), ["ers"]);
}

#[test]
fn prose_and_code_of_the_same_text_have_nothing_in_common() {
    let (_, entries) =
        submit(vec![vec![read(TEXT, PROGRAM)], vec![read("python", PROGRAM)], vec![read("ruby", PROGRAM)]]);
    let [prose, python, ruby] = [0, 1, 2].map(|i| entries[i].tokens.clone());
    assert!(prose.iter().all(|token| *token <= u32::from(char::MAX)));
    assert!(python.iter().chain(&ruby).all(|token| *token > u32::from(char::MAX) && *token != SEPARATOR));
    assert!(python.iter().all(|token| !ruby.contains(token)));
    assert_eq!(compare(entries).pairs, []);
}

#[test]
fn a_lexer_outside_and_a_grammar_are_different_languages() {
    let row = |(at, word): (usize, &str)| [at as u32, (at + word.len()) as u32, 0];
    let lexed = Some(PROGRAM.match_indices(char::is_alphabetic).map(row).collect());
    let other = mixed(
        PROGRAM,
        vec![TextStretch { language: "lisp", range: 0..PROGRAM.len(), lexed, values: None, thresholds: CODE }],
    );
    assert_eq!(pair(vec![read("python", PROGRAM)], vec![other]).1, None);
}

#[test]
fn no_passage_crosses_a_file() {
    let [one, two] = ["def one(a, b, c):\n    return a * b + c\n", "for x in range(9):\n    print(x, x + 1, x + 2)\n"];
    let apart = vec![read("python", one), read("python", two)];
    let together = vec![read("python", &[one, two].concat())];
    let (_, entries) = submit(vec![apart.clone(), together.clone()]);
    let (submissions, found) = pair(apart, together);
    let found = found.expect("the same program");
    assert_eq!(found.coverage, [1.0, 1.0]);
    assert!(!found.passages.is_empty());
    for passage in &found.passages {
        let files = [passage.start[0], passage.end[0] - 1].map(|token| entries[0].part_of(token));
        assert_eq!(files[0], files[1], "{passage:?}");
        let rulers = [0, 1].map(|i| submissions[i].rulers());
        let sides =
            [0, 1].map(|i| shown(&submissions[i], submissions[i].region(&rulers[i], passage.start[i], passage.end[i])));
        assert_eq!(sides[0], sides[1]);
    }
}

#[test]
fn the_order_of_submissions_changes_numbers_but_no_score() {
    let texts =
        [PROGRAM.to_owned(), PROGRAM.replace("total", "summe"), format!("import os\n\n{PROGRAM}print(total([1]))\n")];
    let scores = |order: [usize; 3]| {
        let (_, entries) = submit(order.iter().map(|i| vec![read("python", &texts[*i])]).collect());
        let name = |pair: &MatchedPair| {
            let [a, b] = [pair.left, pair.right].map(|i| order[i as usize]);
            (a.min(b), a.max(b), pair.measures.score.to_bits())
        };
        let mut scores: Vec<_> = compare(entries).pairs.iter().map(name).collect();
        scores.sort_unstable();
        scores
    };
    assert_eq!(scores([0, 1, 2]).len(), 3);
    assert_eq!(scores([0, 1, 2]), scores([2, 0, 1]));
    assert_eq!(scores([0, 1, 2]), scores([2, 1, 0]));
}

#[test]
fn a_renamed_program_is_found_and_is_not_exact() {
    let renamed = PROGRAM.replace("price", "kosten").replace("result", "summe").replace("total", "rechne");
    let found = pair(vec![read("python", PROGRAM)], vec![read("python", &renamed)]).1.expect("a renamed copy");
    assert!(found.measures.score > 0.7 && found.measures.score < 1.0, "{}", found.measures.score);
    assert!(found.passages.iter().all(|passage| !passage.exact));
}

#[test]
fn kinds_of_quotes_are_one_text() {
    let text = |quoted: &str| with_one_quote(quoted.as_bytes()).into_owned();
    for same in [&["'a'", "\"a\"", "`a`"], &["b'a'", "b\"\"\"a\"\"\"", "b\"a\""]] {
        assert!(same.iter().all(|one| text(one) == text(same[0])), "{same:?}");
    }
    assert_eq!(text("''"), text("\"\""));
    let different = ["''", "'", "a", "'a", "'a\"", "'a'b", "'b'", "b'a'", "'\"a\"'"];
    let texts: std::collections::HashSet<_> = different.iter().map(|one| text(one)).collect();
    assert_eq!(texts.len(), different.len());
}

#[test]
fn string_literals_with_words_are_kept_and_shared_ones_told() {
    let sentence = "\"the quick brown fox, 42 times\"";
    let file = read("python", &format!("x = {sentence}\ny = \"ab\"\nz = \"...---...\"\nx = {sentence}\n"));
    assert!(matches!(&file.parts[0].tokens, Tokens::Hashed(tokens) if tokens.len() == file.parts[0].verbatim.len()));
    assert_eq!(file.parts[0].literals.iter().map(|literal| literal.words).collect::<Vec<_>>(), [6, 6]);
    let (_, entries) = submit(vec![vec![file]]);
    assert_eq!(entries[0].literals.len(), 1, "a literal that stands twice counts once");

    let [left, right] = [
        ("while True:\n    print(", ")\n    break\nelse:\n    pass\n"),
        ("assert f(1, 2, ", ") is None and g[0] < 7 or True\n"),
    ]
    .map(|(before, after)| vec![read("python", PROGRAM), read("python", &[before, sentence, after].concat())]);
    let (submissions, found) = pair(left, right);
    let passages = found.expect("a shared file").passages;
    let told: Vec<_> = passages.iter().filter(|passage| passage.kind == PassageKind::Literal).collect();
    assert_eq!(told.len(), 1, "{passages:?}");
    for (side, submission) in submissions.iter().enumerate() {
        let region = submission.region(&submission.rulers(), told[0].start[side], told[0].end[side]);
        assert_eq!(shown(submission, region), sentence);
    }
}

#[test]
fn an_empty_file_has_no_part_and_harms_nobody() {
    let files = vec![read(TEXT, ""), read("python", "# nothing\n"), read("python", PROGRAM), read(TEXT, "  \n")];
    let (submissions, entries) = submit(vec![files, vec![read("python", PROGRAM)], Vec::new(), vec![read(TEXT, "")]]);
    assert_eq!(entries.iter().map(|entry| entry.parts.len()).collect::<Vec<_>>(), [1, 1, 0, 0]);
    assert_eq!(submissions[0].parts, [(2, 0, 0)]);
    assert_eq!(submissions[3].marks(0, &[], &[], &[]), Vec::<[u32; 3]>::new());
    let outcome = compare(entries);
    assert_eq!(
        outcome.pairs.iter().map(|pair| (pair.left, pair.right, pair.measures.score)).collect::<Vec<_>>(),
        [(0, 1, 1.0)]
    );
}

#[test]
fn thresholds_out_of_range_are_refused() {
    let wrong = TextStretch { language: TEXT, range: 0..3, lexed: None, values: None, thresholds: (9, 3) };
    let refused = SubmittedFile::read("abc".to_owned(), &[wrong], false).expect_err("t < k");
    assert!(refused.to_string().contains("smaller than k"), "{refused}");
}
