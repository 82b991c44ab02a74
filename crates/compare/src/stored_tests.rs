//! Tests of stored files: what comes back is what was read, and no bytes end the program.

use crate::stored::{packed, restore, short_key, store, unpacked};
use crate::submissions::{Submission, TokenNumbers};
use crate::submitted_file::{SubmittedFile, TextStretch, TEXT};
use lookalike_core::matching::entry::Entry;
use proptest::prelude::*;
use proptest::test_runner::{Config, RngSeed};
use std::sync::Arc;

const JAVA: &str = "import java.util.*;\n/* all */ public class A {\n  int dead(int q) { return q * 2 + 7; }\n  public static \
    void main(String[] args) {\n    int a = 1; // one\n    System.out.println(\"so much is said here\" + a + 'c');\n    \
    for (int i = 0; i < 10; i++) { a += i * i; a -= 3; a *= 2; if (a > 7) { a = a / 2; } }\n    while (a > 0) { a = a \
    - 1; a = a - 2; System.out.println(a); a = a % 3; a = a + 1; a = 2 * a; a = a - 7; a = a - a; }\n  }\n}\n";
const PYTHON: &str = "import os\ndef f(x):\n    return \"a phrase of words\" + str(x)\n\nprint(f(3), 'é 日本')\n";

fn fixed(cases: u32) -> Config {
    Config { cases, rng_seed: RngSeed::Fixed(2003), failure_persistence: None, ..Config::default() }
}

fn read(stretches: &[(&str, &str)]) -> Arc<SubmittedFile> {
    let text: String = stretches.iter().map(|(_, text)| *text).collect();
    let mut start = 0;
    let asked: Vec<TextStretch> = stretches
        .iter()
        .map(|(language, text)| {
            let range = start..start + text.len();
            start = range.end;
            let lexed = (*language == "own").then(|| vec![[range.start as u32, range.end as u32, 2]]);
            TextStretch { language, range, lexed, values: None, thresholds: (4, 6) }
        })
        .collect();
    Arc::new(SubmittedFile::read(text, &asked, false).expect("short enough"))
}

fn restored(files: &[Arc<SubmittedFile>]) -> Vec<Arc<SubmittedFile>> {
    let bytes = store(files, b"facts").expect("memory");
    let found = restore(&bytes, files.iter().map(|file| file.text.clone()).collect()).expect("what was stored");
    assert_eq!(found.facts, b"facts");
    found.files.into_iter().map(Arc::new).collect()
}

/// All that a comparison takes of files.
fn taken(files: Vec<Arc<SubmittedFile>>) -> (String, Vec<Vec<[u32; 3]>>) {
    let (submission, entry): (Submission, Entry) = TokenNumbers::default().entry(files, 3, true);
    let marks = |file: usize| submission.marks(file as u32, &[], &[], &entry.unreachable);
    let marks = (0..submission.files.len()).map(marks).collect();
    let regions: Vec<_> = (0..entry.tokens.len() as u32)
        .filter(|at| entry.parts.iter().any(|part| (part.start..part.end).contains(at)))
        .map(|at| submission.region(&submission.rulers(), at, at + 1))
        .collect();
    (format!("{entry:?} {:?} {:?} {regions:?}", submission.parts, submission.everything), marks)
}

fn piece() -> impl Strategy<Value = (&'static str, String)> {
    let code = prop::sample::select(vec![("java", JAVA), ("python", PYTHON), ("c", "int main() { return 'x'; }")]);
    let cut = (code, 0usize..400).prop_map(|((language, text), from)| {
        let start = text.char_indices().map(|(at, _)| at).find(|at| *at >= from).unwrap_or(0);
        (language, text[start..].to_owned())
    });
    prop_oneof![
        3 => cut,
        1 => Just(("java", JAVA.to_owned())),
        2 => "\\PC{0,120}".prop_map(|text| (TEXT, text)),
        1 => "[a-z ]{0,30}".prop_map(|text| ("own", text)),
    ]
}

fn submission() -> impl Strategy<Value = Vec<Arc<SubmittedFile>>> {
    let file = prop::collection::vec(piece(), 0..4).prop_map(|pieces| {
        let pieces: Vec<(&str, &str)> = pieces.iter().map(|(language, text)| (*language, text.as_str())).collect();
        read(&pieces)
    });
    prop::collection::vec(file, 0..4)
}

#[test]
fn code_that_cannot_run_is_remembered() {
    let files = [read(&[("java", JAVA)])];
    let (_, entry) = TokenNumbers::default().entry(restored(&files), 0, false);
    assert!(entry.is_analysed && entry.unreachable.contains(&true));
    assert_eq!(taken(restored(&files)), taken(files.to_vec()));
}

#[test]
fn only_submissions_without_a_selected_gram_have_a_key_of_their_own() {
    let key = |pieces: &[(&str, &str)]| short_key(&[read(pieces)]);
    assert_eq!(key(&[(TEXT, "abc")]), key(&[(TEXT, "A, b: c!")]));
    assert_ne!(key(&[(TEXT, "abc")]), key(&[(TEXT, "abd")]));
    assert!(key(&[(TEXT, "abc")]).is_some());
    assert_eq!(key(&[(TEXT, "abcd")]), None);
    assert_eq!(key(&[(TEXT, " ")]), None);
    assert_eq!(short_key(&[]), None);
}

proptest! {
    #![proptest_config(fixed(500))]

    #[test]
    fn files_come_back_as_they_were(files in submission()) {
        prop_assert_eq!(taken(restored(&files)), taken(files.clone()));
        let again = restored(&restored(&files));
        prop_assert_eq!(taken(again), taken(files));
    }

    #[test]
    fn damaged_bytes_are_refused_or_read_as_some_files(
        files in submission(),
        at in any::<prop::sample::Index>(),
        bit in 0u8..8,
        cut in any::<bool>(),
    ) {
        let mut bytes = store(&files, b"").expect("memory");
        let place = at.index(bytes.len());
        let texts: Vec<String> = files.iter().map(|file| file.text.clone()).collect();
        if cut {
            prop_assert!(restore(&bytes[..place], texts).is_none());
            return Ok(());
        }
        bytes[place] ^= 1 << bit;
        let mut plain = unpacked(&store(&files, b"").expect("memory")).expect("what was stored");
        let place = at.index(plain.len());
        plain[place] ^= 1 << bit;
        if let Some(found) = restore(&packed(&plain).expect("memory"), texts.clone()) {
            taken(found.files.into_iter().map(Arc::new).collect());
        }
        if let Some(found) = restore(&bytes, texts) {
            taken(found.files.into_iter().map(Arc::new).collect());
        }
    }

    #[test]
    fn bytes_of_other_texts_are_refused_or_read_as_some_files(files in submission(), text in "\\PC{0,60}") {
        let bytes = store(&files, b"").expect("memory");
        if let Some(found) = restore(&bytes, vec![text; files.len()]) {
            taken(found.files.into_iter().map(Arc::new).collect());
        }
    }
}
