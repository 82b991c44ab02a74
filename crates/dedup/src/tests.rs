//! Tests of whole jobs against the definition: all pairs of a small corpus, measured exactly.

use crate::alike::Limits;
use crate::corpus::Corpus;
use crate::job::{decide, DedupOutcome, DedupSettings, Failure, Grouping, Keep, Link, SearchMethod};
use crate::pairs::{pairs, LinkedPair};
use crate::reader::{GivenText, ReadSettings};
use crate::record::RecordColumns;
use crate::sign::{KeptTraits, RowState, Sketching};
use crate::simhash_judge::Nearness;
use crate::testing::fixed;
use lookalike_core::frontend::{Options, Unit};
use lookalike_core::simhash::hashing::{SimhashRecipe, Simhasher};
use lookalike_core::sketch::exact::Counts;
use lookalike_core::sketch::shingle::{into_set, Shingler, Shingling};
use proptest::prelude::*;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

const THRESHOLD: f64 = 0.6;

/// A temporary folder, removed when dropped.
pub struct Folder(pub PathBuf);

impl Folder {
    pub fn new() -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let name = format!("lookalike-dedup-{}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
        let path = std::env::temp_dir().join(name);
        std::fs::create_dir_all(&path).expect("a folder");
        Self(path)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

pub fn shingling() -> Shingling {
    Shingling::new(Options { unit: Unit::Word, homoglyphs: false }, 2, false, 64).expect("in range")
}

pub fn reading(sketching: Sketching) -> ReadSettings {
    let columns = RecordColumns { text: "text".to_owned(), number: Some("stars".to_owned()), name: None };
    let traits = KeptTraits::None;
    ReadSettings { shingling: shingling(), sketching, columns, most: 1 << 20, traits, with_names: false }
}

pub fn settings(search: SearchMethod, folder: &Folder) -> DedupSettings {
    DedupSettings {
        search,
        threshold: THRESHOLD,
        limits: Limits::default(),
        grouping: Grouping::Star,
        keep: Keep::First,
        references: None,
        budget_bytes: 1 << 20,
        folder: folder.0.clone(),
    }
}

/// The documents as JSON Lines.
fn lines(texts: &[String]) -> Vec<u8> {
    texts
        .iter()
        .flat_map(|text| format!("{}\n", serde_json::json!({"text": text, "stars": text.len() % 7})).into_bytes())
        .collect()
}

/// What was decided, and all pairs.
struct Run {
    outcome: DedupOutcome,
    pairs: Vec<LinkedPair>,
}

impl std::ops::Deref for Run {
    type Target = DedupOutcome;

    fn deref(&self) -> &DedupOutcome {
        &self.outcome
    }
}

fn run(texts: &[String], sketching: Sketching, change: impl Fn(&mut DedupSettings), budget: usize) -> Run {
    let folder = Folder::new();
    let mut corpus = Corpus::new(reading(sketching.clone()), budget, &folder.0).expect("in range");
    let data = lines(texts);
    for chunk in data.chunks(97) {
        corpus.push_lines(chunk, false).expect("written");
    }
    corpus.push_lines(&[], true).expect("written");
    assert_eq!(corpus.rows.len(), texts.len());
    let search = match sketching {
        Sketching::None => SearchMethod::Identical,
        Sketching::Modulo { .. } => SearchMethod::Containment,
        _ => SearchMethod::Resemblance { k: 32, s: 2, r: 1 },
    };
    let mut settings = settings(search, &folder);
    settings.budget_bytes = budget;
    change(&mut settings);
    let outcome = decide(&corpus, &settings, &AtomicBool::new(false)).expect("decided");
    let mut found = pairs(&corpus, &settings, &AtomicBool::new(false)).expect("found");
    let all: Vec<LinkedPair> = std::iter::from_fn(|| found.next_pair().expect("read")).collect();
    assert_eq!(all.len() as u64, found.count);
    Run { outcome, pairs: all }
}

fn counts(left: &str, right: &str) -> Counts {
    let set = |text: &str| {
        let mut ids = Vec::new();
        Shingler::new(shingling()).ids(text, &mut ids);
        into_set(&mut ids);
        ids
    };
    Counts::new(&set(left), &set(right))
}

fn resemblance(left: &str, right: &str) -> Option<f64> {
    counts(left, right).resemblance()
}

/// Texts of few words, copies with some words changed, and short and empty texts.
pub fn corpora() -> impl Strategy<Value = Vec<String>> {
    let text = prop::collection::vec(0u32..400, 0..60);
    let edit = prop::collection::vec((any::<prop::sample::Index>(), 0u32..400), 0..8);
    (prop::collection::vec(text, 1..8), prop::collection::vec((any::<prop::sample::Index>(), edit), 0..16)).prop_map(
        |(mut texts, copies)| {
            for (of, edits) in copies {
                let mut copy = of.get(&texts).clone();
                for (at, word) in edits {
                    if !copy.is_empty() {
                        let at = at.index(copy.len());
                        copy[at] = word;
                    }
                }
                texts.push(copy);
            }
            let spell = |words: &Vec<u32>| words.iter().map(|word| format!("w{word}")).collect::<Vec<_>>().join(" ");
            texts.iter().map(spell).collect()
        },
    )
}

fn check_star(texts: &[String], outcome: &DedupOutcome, of: impl Fn(&str, &str) -> Option<f64>) {
    for (row, survivor) in outcome.survivor.iter().map(|survivor| *survivor as usize).enumerate() {
        assert_eq!(outcome.survivor[survivor], survivor as u32, "a survivor survives");
        if row == survivor {
            assert_eq!(outcome.link[row], Link::None);
        } else if outcome.link[row] == Link::Identical {
            assert_eq!(texts[row], texts[survivor]);
        } else {
            let score = of(&texts[survivor], &texts[row]).expect("both have shingles");
            assert!(score >= THRESHOLD, "{score}");
            if matches!(outcome.link[row], Link::Exact | Link::Contained) {
                assert!((score - f64::from(outcome.score[row])).abs() < 1e-6);
            }
        }
    }
}

proptest! {
    #![proptest_config(fixed(150))]

    #[test]
    fn what_goes_resembles_what_stays(texts in corpora(), permutations: bool, keep in 0usize..3) {
        let sketching = if permutations { Sketching::Permutations { size: 64 } } else { Sketching::Fast { size: 64 } };
        let keep = [Keep::First, Keep::Longest, Keep::Largest][keep];
        let outcome = run(&texts, sketching, |settings| settings.keep = keep, 1 << 20);
        check_star(&texts, &outcome, resemblance);
        for pair in &outcome.pairs {
            let (left, right) = (&texts[pair.left as usize], &texts[pair.right as usize]);
            prop_assert!(left == right || resemblance(left, right).is_some_and(|score| score >= THRESHOLD));
        }
        for (row, survivor) in outcome.survivor.iter().map(|survivor| *survivor as usize).enumerate() {
            match keep {
                Keep::First => prop_assert!(survivor <= row),
                Keep::Longest => prop_assert!(texts[survivor].len() >= texts[row].len()),
                Keep::Largest => prop_assert!(texts[survivor].len() % 7 >= texts[row].len() % 7),
            }
        }
    }

    #[test]
    fn no_two_survivors_resemble_each_other(texts in corpora()) {
        // With 32 keys of two coordinates, one pair in 10^6 at the threshold is missed.
        let outcome = run(&texts, Sketching::Fast { size: 64 }, |_| (), 1 << 20);
        let stays = |row: &usize| outcome.survivor[*row] == *row as u32;
        let survivors: Vec<usize> = (0..texts.len()).filter(stays).collect();
        for (i, left) in survivors.iter().enumerate() {
            for right in &survivors[i + 1..] {
                let score = resemblance(&texts[*left], &texts[*right]);
                prop_assert!(score.is_none_or(|score| score < THRESHOLD + 0.05), "{:?} {} {}", score, left, right);
            }
        }
    }

    #[test]
    fn the_answer_does_not_depend_on_memory_or_threads(texts in corpora()) {
        let whole = run(&texts, Sketching::Fast { size: 64 }, |_| (), 1 << 20);
        let pool = rayon::ThreadPoolBuilder::new().num_threads(3).build().expect("threads");
        let tight = pool.install(|| run(&texts, Sketching::Fast { size: 64 }, |_| (), 64));
        prop_assert_eq!(&whole.survivor, &tight.survivor);
        prop_assert_eq!(&whole.score, &tight.score);
        prop_assert_eq!(&whole.pairs, &tight.pairs);
    }

    #[test]
    fn what_is_contained_goes(texts in corpora()) {
        let outcome = run(&texts, Sketching::Modulo { modulus: 1 }, |_| (), 1 << 20);
        check_star(&texts, &outcome, |survivor, gone| counts(gone, survivor).containment());
        let stays = |row: &usize| outcome.survivor[*row] == *row as u32;
        for row in (0..texts.len()).filter(stays) {
            for other in (0..texts.len()).filter(|other| *other != row && stays(other)) {
                let (there, back) = (counts(&texts[row], &texts[other]), counts(&texts[other], &texts[row]));
                // The larger of two documents is not tested for being contained; of equal sizes either may be removed.
                if there.left < there.right {
                    prop_assert!(there.containment().is_none_or(|score| score < THRESHOLD), "{} in {}", row, other);
                }
                prop_assert_eq!(back.common, there.common);
            }
        }
    }

    #[test]
    fn nothing_goes_but_for_the_sake_of_a_reference(texts in corpora(), share in 0.0..1.0f64) {
        let references = (texts.len() as f64 * share) as u32;
        let outcome = run(&texts, Sketching::Fast { size: 64 }, |settings| settings.references = Some(references), 1 << 20);
        check_star(&texts, &outcome, resemblance);
        for (row, survivor) in (0..).zip(outcome.survivor.iter().copied()) {
            prop_assert!(survivor == row || (survivor < references && row >= references));
        }
        for (row, text) in texts.iter().enumerate().skip(references as usize) {
            let is_near = |other: &String| !text.is_empty() && text == other || resemblance(text, other).is_some_and(|score| score >= THRESHOLD + 0.05);
            if texts[..references as usize].iter().any(is_near) {
                prop_assert_ne!(outcome.link[row], Link::None, "row {}", row);
            }
        }
    }

    #[test]
    fn every_grouping_keeps_its_word(texts in corpora(), greedy: bool) {
        let grouping = if greedy { Grouping::Greedy } else { Grouping::Components };
        let outcome = run(&texts, Sketching::Fast { size: 64 }, |settings| settings.grouping = grouping, 1 << 20);
        if greedy {
            check_star(&texts, &outcome, resemblance);
        }
        let together = |left: u32, right: u32| outcome.survivor[left as usize] == outcome.survivor[right as usize];
        if !greedy {
            prop_assert!(outcome.pairs.iter().all(|pair| together(pair.left, pair.right)));
            for (row, survivor) in outcome.survivor.iter().enumerate().filter(|(row, _)| outcome.link[*row] == Link::Exact) {
                let score = resemblance(&texts[row], &texts[*survivor as usize]).expect("both have shingles");
                prop_assert!((score - f64::from(outcome.score[row])).abs() < 1e-6, "a component tells the score against its survivor");
            }
        }
    }
}

/// Fingerprints of texts, as `Sketching::Simhash` makes them.
fn prints(texts: &[String]) -> Vec<Option<u64>> {
    let mut hasher = Simhasher::new(&recipe());
    texts.iter().map(|text| hasher.text(text).expect("short enough").fingerprint).collect()
}

fn recipe() -> SimhashRecipe {
    SimhashRecipe::new(shingling().options, 1).expect("in range")
}

/// The first row of each row's component; texts are linked if they are equal or `are_near` holds.
fn components(texts: &[String], are_near: impl Fn(usize, usize) -> bool) -> Vec<usize> {
    let mut first: Vec<usize> = (0..texts.len()).collect();
    for (left, right) in (0..texts.len()).flat_map(|right| (0..right).map(move |left| (left, right))) {
        let has_text = !texts[left].trim().is_empty();
        if has_text && (texts[left] == texts[right] || are_near(left, right)) {
            let (low, high) = (first[left].min(first[right]), first[left].max(first[right]));
            first.iter_mut().filter(|one| **one == high).for_each(|one| *one = low);
        }
    }
    first
}

proptest! {
    #![proptest_config(fixed(60))]

    #[test]
    fn simhash_links_all_within_the_distance_and_nothing_else(texts in corpora(), distance in 0u32..=10, limit: bool) {
        let prints = prints(&texts);
        let nearness = Nearness { distance, length: limit.then_some(0.1), same_language: false, is_verified: false };
        let sketching = Sketching::Simhash { recipe: recipe(), with_shingles: false };
        let outcome = run(&texts, sketching, |settings| {
            settings.search = SearchMethod::Simhash(nearness);
            settings.grouping = Grouping::Components;
        }, 1 << 20);
        let length = |row: usize| texts[row].split(' ').count() as f64;
        let are_near = |left: usize, right: usize| {
            let bits = prints[left].zip(prints[right]).map(|(left, right)| (left ^ right).count_ones());
            let apart = (length(left) - length(right)).abs() / length(left).max(length(right));
            bits.is_some_and(|bits| bits <= distance) && (!limit || apart <= 0.1)
        };
        let survivors: Vec<usize> = outcome.survivor.iter().map(|row| *row as usize).collect();
        prop_assert_eq!(survivors, components(&texts, are_near));
        for pair in outcome.pairs.iter().filter(|pair| pair.link != Link::Identical) {
            let bits = prints[pair.left as usize].zip(prints[pair.right as usize]).map(|(left, right)| left ^ right);
            prop_assert_eq!(bits.map(u64::count_ones), Some(((1.0 - pair.score) * 64.0) as u32));
        }
    }

    #[test]
    fn verified_simhash_links_what_is_near_and_reaches_the_threshold(texts in corpora(), distance in 0u32..=10) {
        let prints = prints(&texts);
        let nearness = Nearness { distance, length: None, same_language: false, is_verified: true };
        let sketching = Sketching::Simhash { recipe: recipe(), with_shingles: true };
        let outcome = run(&texts, sketching, |settings| {
            settings.search = SearchMethod::Simhash(nearness);
            settings.grouping = Grouping::Components;
        }, 1 << 20);
        let are_near = |left: usize, right: usize| {
            let bits = prints[left].zip(prints[right]).map(|(left, right)| (left ^ right).count_ones());
            bits.is_some_and(|bits| bits <= distance)
                && resemblance(&texts[left], &texts[right]).is_some_and(|score| score >= THRESHOLD)
        };
        let survivors: Vec<usize> = outcome.survivor.iter().map(|row| *row as usize).collect();
        prop_assert_eq!(survivors, components(&texts, are_near));
    }
}

proptest! {
    #![proptest_config(fixed(100))]

    #[test]
    fn the_join_finds_every_pair_and_nothing_else(texts in corpora(), threshold in prop::sample::select(vec![0.2, 0.6, 0.7, 1.0]), budget in prop::sample::select(vec![64usize, 1 << 20])) {
        let change = |settings: &mut DedupSettings| {
            settings.search = SearchMethod::Join;
            settings.threshold = threshold;
        };
        let found = run(&texts, Sketching::Fast { size: 16 }, change, budget);
        let is_first = |row: &usize| !texts[*row].is_empty() && !texts[..*row].contains(&texts[*row]);
        let firsts: Vec<usize> = (0..texts.len()).filter(is_first).collect();
        let all = firsts.iter().flat_map(|left| firsts.iter().filter(move |right| left < *right).map(move |right| (*left, *right)));
        let reaches = |(left, right): &(usize, usize)| resemblance(&texts[*left], &texts[*right]).is_some_and(|score| score >= threshold);
        let expected: Vec<(usize, usize)> = all.filter(reaches).collect();
        let near = found.pairs.iter().filter(|pair| pair.link == Link::Exact);
        let near: Vec<(usize, usize)> = near.map(|pair| (pair.left as usize, pair.right as usize)).collect();
        prop_assert_eq!(near, expected);
    }
}

#[test]
fn a_deduplication_that_is_stopped_says_so_and_leaves_no_file() {
    let folder = Folder::new();
    let mut corpus = Corpus::new(reading(Sketching::Fast { size: 16 }), 1 << 20, &folder.0).expect("in range");
    let texts: Vec<String> = (1..300).map(|i| format!("w{} ", i % 50).repeat(i)).collect();
    corpus.push_lines(&lines(&texts), true).expect("written");
    for search in [SearchMethod::Resemblance { k: 4, s: 4, r: 1 }, SearchMethod::Join] {
        // Two rows in memory, so that everything is written.
        let settings = DedupSettings { budget_bytes: 24, ..settings(search, &folder) };
        let files = || std::fs::read_dir(&folder.0).expect("there").count();
        let stopped = AtomicBool::new(true);
        assert!(matches!(decide(&corpus, &settings, &stopped), Err(Failure::Stopped)));
        assert!(matches!(pairs(&corpus, &settings, &stopped), Err(Failure::Stopped)));
        assert_eq!(files(), 0);
        for _ in 0..2 {
            decide(&corpus, &settings, &AtomicBool::new(false)).expect("decided");
            assert_eq!(files(), 0, "a second run leaves nothing either");
        }
        let found = pairs(&corpus, &settings, &AtomicBool::new(false)).expect("found");
        assert_eq!(files(), 1, "pairs are read from their files");
        drop(found);
        assert_eq!(files(), 0);
    }
}

#[test]
fn identical_texts_are_one_document_even_when_they_are_short() {
    let texts: Vec<String> = ["a b c", "x", "a b c", "x", "", "y", "", "a b c"].map(str::to_owned).to_vec();
    for sketching in [Sketching::None, Sketching::Fast { size: 16 }] {
        let outcome = run(&texts, sketching, |_| (), 1 << 20);
        assert_eq!(outcome.survivor, [0, 1, 0, 1, 4, 5, 6, 0], "nothing is not like nothing");
        assert_eq!(outcome.link.iter().filter(|link| **link == Link::Identical).count(), 3);
    }
}

#[test]
fn rows_that_cannot_be_compared_are_told_and_stay() {
    let folder = Folder::new();
    let mut corpus = Corpus::new(reading(Sketching::Fast { size: 16 }), 1 << 20, &folder.0).expect("in range");
    let data = b"{\"text\":\"a b c\"}\n\n{\"text\":3}\n{bad\n{\"text\":null}\n{\"text\":\"a b c\"}";
    corpus.push_lines(data, true).expect("written");
    let states: Vec<RowState> = corpus.rows.iter().map(|row| row.state).collect();
    assert_eq!(
        states,
        [RowState::Compared, RowState::Blank, RowState::Bad, RowState::Bad, RowState::Missing, RowState::Compared]
    );
    let problems: Vec<(u32, &str)> = corpus.problems.iter().map(|problem| (problem.row, &problem.reason[..])).collect();
    assert_eq!(problems[0], (2, "`text` is a number, not a string"));
    assert_eq!((problems[1].0, corpus.bad), (3, 2));
    let settings = settings(SearchMethod::Resemblance { k: 4, s: 4, r: 1 }, &folder);
    let outcome = decide(&corpus, &settings, &AtomicBool::new(false)).expect("decided");
    assert_eq!(outcome.survivor, [0, 1, 2, 3, 4, 0]);
}

#[test]
fn lines_and_columns_give_the_same_rows() {
    let folder = Folder::new();
    let texts: Vec<String> = (1..300).map(|i| format!("w{} ", i % 50).repeat(i)).collect();
    let mut by_line = Corpus::new(reading(Sketching::Fast { size: 16 }), 1 << 20, &folder.0).expect("in range");
    by_line.push_lines(&lines(&texts), true).expect("written");
    let mut by_column = Corpus::new(reading(Sketching::Fast { size: 16 }), 1 << 20, &folder.0).expect("in range");
    let numbers: Vec<f64> = texts.iter().map(|text| (text.len() % 7) as f64).collect();
    by_column
        .push_texts(&|row| Some(GivenText::new(texts[row].as_bytes(), true)), Some(&numbers), texts.len())
        .expect("written");
    assert_eq!(by_line.rows, by_column.rows);
}
