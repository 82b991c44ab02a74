//! Tests that days one by one, each after the archive of those before it, are all days at once.

use crate::archive::{Archive, Found};
use crate::corpus::Corpus;
use crate::job::{decide, DedupOutcome, DedupSettings, Failure, Grouping, Keep, Link, SearchMethod};
use crate::later::decide_after;
use crate::reader::GivenText;
use crate::sign::{RowState, Sketching};
use crate::simhash_judge::Nearness;
use crate::testing::fixed;
use crate::tests::{corpora, reading, settings, Folder};
use lookalike_core::clustering::{Earlier, Reach, SeenHolders};
use lookalike_core::frontend::{Options, Unit};
use lookalike_core::hash::mix64;
use lookalike_core::simhash::hashing::SimhashRecipe;
use lookalike_core::sketch::features::Features;
use lookalike_table::Result;
use proptest::prelude::*;
use std::sync::atomic::AtomicBool;

const FILTER: (usize, usize, usize) = (16, 2, 1);

fn signed(texts: &[String], sketching: &Sketching, folder: &Folder) -> Corpus {
    let mut corpus = Corpus::new(reading(sketching.clone()), 1 << 20, &folder.0).expect("in range");
    let text = |row: usize| Some(GivenText::new(texts[row].as_bytes(), true));
    corpus.push_texts(&text, None, texts.len()).expect("in memory");
    corpus
}

/// What became of each row of earlier days: its leader, the score, the link.
#[derive(Default)]
struct Days {
    texts: Vec<String>,
    verdicts: Vec<(u64, f32, Link)>,
}

/// All rows of earlier days as an archive; a row that repeats a text is no document of it.
struct Remembered<'a> {
    days: &'a Days,
    corpus: Corpus,
    keys: Vec<Vec<u64>>,
}

impl<'a> Remembered<'a> {
    fn new(days: &'a Days, sketching: &Sketching, folder: &Folder) -> Self {
        let corpus = signed(&days.texts, sketching, folder);
        let features = Features::new(FILTER.0, FILTER.1, FILTER.2).expect("in range");
        let of_row = |row: usize| {
            let mut keys = Vec::new();
            if days.texts[..row].contains(&days.texts[row]) {
                return keys;
            }
            features.keys(&corpus.store.elements(row as u32).expect("in memory"), &mut keys);
            keys
        };
        let keys = if matches!(sketching, Sketching::Fast { .. }) {
            (0..days.texts.len()).map(of_row).collect()
        } else {
            Vec::new()
        };
        Self { days, corpus, keys }
    }
}

impl Earlier for Remembered<'_> {
    fn holders(&self, keys: &[u64], reach: Reach, seen: SeenHolders<'_>) -> Result<()> {
        for (place, key) in keys.iter().enumerate() {
            let all: Vec<u64> =
                (0..).zip(&self.keys).filter(|(_, keys)| keys.contains(key)).map(|(row, _)| row).collect();
            let reached = |at: &usize| *at < reach.first || *at + reach.last >= all.len();
            let ends: Vec<u64> = (0..all.len()).filter(reached).map(|at| all[at]).collect();
            if !all.is_empty() {
                seen(place, &ends, all.len() as u64)?;
            }
        }
        Ok(())
    }

    fn leads(&self, number: u64) -> Result<bool> {
        Ok(self.days.verdicts[number as usize].0 == number)
    }
}

impl Archive for Remembered<'_> {
    fn find(&self, content: u128) -> Result<Option<Found>> {
        let has_text = |row: &usize| {
            let known = self.corpus.rows[*row];
            known.content == content && known.state.has_text()
        };
        let found = (0..self.days.texts.len()).find(has_text);
        Ok(found.map(|row| match self.days.verdicts[row] {
            (leader, _, Link::None) => Found { leader, score: 1.0, link: Link::Identical },
            (leader, score, link) => Found { leader, score, link },
        }))
    }

    fn sketch(&self, number: u64) -> Result<Vec<u32>> {
        Ok(self.corpus.store.elements(number as u32)?.to_vec())
    }

    fn text(&self, number: u64) -> Result<Vec<u8>> {
        Ok(self.days.texts[number as usize].clone().into_bytes())
    }

    fn each_print(&self, visit: &mut dyn FnMut(u64, u64)) -> Result<()> {
        for (row, text) in self.days.texts.iter().enumerate() {
            let print = self.corpus.prints.get(row).and_then(|print| print.fingerprint);
            if let Some(print) = print.filter(|_| !self.days.texts[..row].contains(text)) {
                visit(row as u64, print);
            }
        }
        Ok(())
    }

    fn has_shingles(&self, number: u64) -> Result<bool> {
        Ok(self.corpus.store.id_count(number as u32) > 0)
    }
}

fn day_by_day(days: &[&[String]], sketching: &Sketching, asked: &DedupSettings) -> Days {
    let mut known = Days::default();
    for day in days {
        let (folder, above) = (Folder::new(), Folder::new());
        let archive = Remembered::new(&known, sketching, &above);
        let corpus = signed(day, sketching, &folder);
        let found = decide_after(&corpus, asked, &archive, &AtomicBool::new(false)).expect("decided");
        let (count, start) = (found.leaders.len(), known.texts.len() as u64);
        let global = |place: u32| match found.leaders.get(place as usize) {
            Some(number) => *number,
            None => start + u64::from(place) - count as u64,
        };
        let outcome = &found.outcome;
        let rows = count..outcome.survivor.len();
        let verdicts: Vec<_> =
            rows.map(|at| (global(outcome.survivor[at]), outcome.score[at], outcome.link[at])).collect();
        known.texts.extend_from_slice(day);
        known.verdicts.extend(verdicts);
    }
    known
}

fn check(texts: &[String], cuts: &[usize], sketching: &Sketching, search: SearchMethod, threshold: f64) {
    let folder = Folder::new();
    let asked = DedupSettings { threshold, ..settings(search, &folder) };
    let mut ends: Vec<usize> = cuts.iter().map(|cut| *cut % (texts.len() + 1)).chain([0, texts.len()]).collect();
    ends.sort_unstable();
    let days: Vec<&[String]> = ends.windows(2).map(|ends| &texts[ends[0]..ends[1]]).collect();
    let found = day_by_day(&days, sketching, &asked);
    let whole: DedupOutcome =
        decide(&signed(texts, sketching, &folder), &asked, &AtomicBool::new(false)).expect("decided");
    let expected: Vec<_> = whole
        .survivor
        .iter()
        .zip(&whole.score)
        .zip(&whole.link)
        .map(|((survivor, score), link)| (u64::from(*survivor), *score, *link))
        .collect();
    assert_eq!(found.verdicts, expected, "{days:?}");
}

fn by_simhash(distance: u32, is_verified: bool) -> (Sketching, SearchMethod) {
    let recipe = SimhashRecipe::new(Options { unit: Unit::Word, homoglyphs: false }, 1).expect("in range");
    let nearness = Nearness { distance, length: None, same_language: false, is_verified };
    (Sketching::Simhash { recipe, with_shingles: is_verified }, SearchMethod::Simhash(nearness))
}

fn resemblance() -> (Sketching, SearchMethod) {
    let (k, s, r) = FILTER;
    (Sketching::Fast { size: k * s }, SearchMethod::Resemblance { k, s, r })
}

proptest! {
    #![proptest_config(fixed(60))]

    #[test]
    fn days_one_by_one_are_all_days_at_once(
        texts in corpora(), cuts in prop::collection::vec(0usize..24, 0..4), distance in 0u32..10, threshold in prop::sample::select(vec![0.3, 0.6, 0.9]),
    ) {
        let (sketching, search) = resemblance();
        check(&texts, &cuts, &sketching, search, threshold);
        check(&texts, &cuts, &Sketching::None, SearchMethod::Identical, threshold);
        for is_verified in [false, true] {
            let (sketching, search) = by_simhash(distance, is_verified);
            check(&texts, &cuts, &sketching, search, threshold);
        }
    }
}

/// Lists with more holders than are compared: copies are found of the first and of the latest texts only.
fn check_crowd(texts: &[String], sketching: &Sketching, search: SearchMethod, threshold: f64) {
    for cuts in [vec![150, 260], vec![40, 129, 130, 210]] {
        check(texts, &cuts, sketching, search, threshold);
    }
    let folder = Folder::new();
    let asked = DedupSettings { threshold, ..settings(search, &folder) };
    let found = day_by_day(&[texts], sketching, &asked).verdicts;
    let copies: Vec<bool> = (1..texts.len()).step_by(2).map(|row| found[row].0 != row as u64).collect();
    assert!(copies.contains(&true) && copies.contains(&false), "{copies:?}");
}

/// Every second row is a copy of an earlier one, of any age, made by `copy`.
fn with_copies(rows: u64, fresh: impl Fn(u64) -> Vec<String>, copy: impl Fn(&mut Vec<String>)) -> Vec<String> {
    let mut made: Vec<Vec<String>> = Vec::new();
    for row in 0..rows {
        let text = if row % 2 == 0 {
            fresh(row)
        } else {
            let mut text = made[(mix64(row) % row) as usize & !1].clone();
            copy(&mut text);
            text
        };
        made.push(text);
    }
    made.iter().map(|words| words.join(" ")).collect()
}

#[test]
fn crowded_keys_too() {
    let fresh = |row: u64| {
        let own = (0..6).map(move |word| format!("u{row}x{word}"));
        (0..100).map(|word| format!("c{word}")).chain(own).collect()
    };
    let texts = with_copies(420, fresh, |words| words.push("more".to_owned()));
    let (sketching, search) = resemblance();
    check_crowd(&texts, &sketching, search, 0.95);
}

#[test]
fn crowded_fingerprints_too() {
    // The same words in another order have the same fingerprint.
    let fresh = |row: u64| {
        let mut words: Vec<String> = (0..24).map(|word| format!("w{word}")).collect();
        words.sort_by_key(|word| mix64(row ^ mix64(word.bytes().fold(7, |all, byte| all * 31 + u64::from(byte)))));
        words
    };
    let texts = with_copies(420, fresh, |words| words.swap(5, 6));
    let (sketching, search) = by_simhash(0, true);
    check_crowd(&texts, &sketching, search, 0.6);
}

#[test]
fn what_days_cannot_answer_is_refused() {
    let folder = Folder::new();
    let days = Days::default();
    let (sketching, search) = resemblance();
    let (archive, corpus) = (Remembered::new(&days, &sketching, &folder), signed(&[], &sketching, &folder));
    let good = settings(search, &folder);
    let refused = [
        DedupSettings { grouping: Grouping::Components, ..good.clone() },
        DedupSettings { grouping: Grouping::Greedy, ..good.clone() },
        DedupSettings { keep: Keep::Longest, ..good.clone() },
        DedupSettings { references: Some(0), ..good.clone() },
        DedupSettings { search: SearchMethod::Containment, ..good.clone() },
        DedupSettings { search: SearchMethod::Join, ..good.clone() },
    ];
    for asked in refused {
        let found = decide_after(&corpus, &asked, &archive, &AtomicBool::new(false));
        assert!(matches!(found, Err(Failure::Parameter(_))), "{asked:?}");
    }
    assert!(decide_after(&corpus, &good, &archive, &AtomicBool::new(false)).is_ok());
    assert_eq!(corpus.rows.iter().filter(|row| row.state == RowState::Compared).count(), 0);
}

/// A corpus that is decided again after its own rows were added has the same outcome.
#[test]
fn rows_that_the_archive_has_of_the_same_run_are_themselves() {
    let texts: Vec<String> =
        ["a b c d e f g h", "x", "a b c d e f g i", "x", "p q r s t u v w", "a b c d e f g h"].map(String::from).into();
    let (sketching, search) = resemblance();
    let (folder, above) = (Folder::new(), Folder::new());
    let asked = settings(search, &folder);
    let corpus = signed(&texts[2..], &sketching, &folder);
    let first = day_by_day(&[&texts[..2]], &sketching, &asked);
    let archive = Remembered::new(&first, &sketching, &above);
    let once = decide_after(&corpus, &asked, &archive, &AtomicBool::new(false)).expect("decided");
    assert_eq!((&once.leaders[..], &once.lacking[..]), (&[0, 1][..], &[0, 2][..]));
    let known = day_by_day(&[&texts[..2], &texts[2..]], &sketching, &asked);
    let above = Folder::new();
    let archive = Remembered::new(&known, &sketching, &above);
    let again = decide_after(&corpus, &asked, &archive, &AtomicBool::new(false)).expect("decided");
    assert_eq!((&again.leaders[..], &again.lacking[..]), (&[0, 1, 4][..], &[][..]));
    // Leader 4 was made of row 2; row 1 is not what leader 0 was made of.
    let (left, outcome) = again.with_own(&[Some(1), None, Some(2)]);
    assert_eq!(left, [0, 1]);
    assert_eq!((&outcome.survivor, &outcome.link), (&once.outcome.survivor, &once.outcome.link));
    assert_eq!(outcome.score, once.outcome.score);
}
