//! Questions over forged documents: what hashes would take a million tries to bring about. The oracle of the answers is
//! `tests/oracles/query.py`.

use super::seen::COUNTED;
use super::*;
use crate::record::{SHADOW, TEMPLATE};
use crate::sign::{Coordinates, KeptResemblance, RecordSigner};
use crate::{Bitmap, Part, Segment, Snapshot};
use lookalike_core::frontend::{Options, Unit};
use std::sync::Arc;

const ALL: usize = usize::MAX;

fn settings() -> SignSettings {
    let options = Options { unit: Unit::Word, homoglyphs: false };
    SignSettings {
        passages: false,
        thresholds: (5, 9),
        shingling: Shingling::new(options, 2, false, 64).expect("in range"),
        resemblance: Some(KeptResemblance {
            kind: Coordinates::Fast,
            size: 32,
            filter: (8, 4, 1),
            features_only: false,
        }),
        modulus: Some(1),
        simhash: None,
        texts: true,
    }
}

fn signed(signer: &mut RecordSigner, id: &str, text: &str) -> Document {
    Document { id: id.into(), meta: b"{}".to_vec(), ..signer.row(text).expect("short") }
}

fn asked(signer: &mut RecordSigner, text: &str) -> Asked {
    let document = signer.row(text).expect("short");
    Asked { document, shingles: signer.shingles().to_vec(), texts: vec![text.to_owned()], ..Asked::default() }
}

fn snapshot(documents: &[Document]) -> Snapshot {
    let segment = Segment::of_documents(documents, b"{}").expect("documents");
    Snapshot::new(vec![Part::of(Arc::new(segment))]).expect("few")
}

fn words(from: u32, to: u32) -> String {
    (from..to).map(|number| format!("w{number}")).collect::<Vec<_>>().join(" ")
}

/// A document with the sketch of the asked one, as a collision could make it, and another text.
fn forged(signer: &mut RecordSigner, question: &Asked, number: u32) -> Document {
    let other = signed(signer, &format!("false {number}"), &words(1000 * number, 1000 * number + 50));
    Document {
        features: question.document.features.clone(),
        sketch: question.document.sketch.clone(),
        samples: question.document.samples.clone(),
        shingles: question.document.shingles,
        ..other
    }
}

fn wish(conditions: &Conditions, threshold: f64) -> Wish<'_> {
    Wish { conditions, top: ALL, threshold }
}

#[test]
fn no_collision_of_sketches_or_samples_is_told() {
    let mut signer = RecordSigner::new(&settings()).expect("in range");
    let question = asked(&mut signer, &words(0, 50));
    let documents: Vec<Document> = (1..6).map(|number| forged(&mut signer, &question, number)).collect();
    let (snapshot, conditions) = (snapshot(&documents), Conditions::default());
    let mut asker = Asker::new(&settings()).expect("memory");
    let found = asker.resemblance(&snapshot, &question, wish(&conditions, 0.5)).expect("sound");
    assert_eq!((found.documents, found.work.texts), (0, 5));
    let found = asker.containment(&snapshot, &question, wish(&conditions, 0.5)).expect("sound");
    assert_eq!((found.documents, found.work.texts), (0, 5));
    let found = asker.seen(&snapshot, &question, wish(&conditions, 0.5)).expect("sound");
    assert!(!found.is_seen && found.nearest.is_some(), "the nearest is told, however far it is");
}

#[test]
fn a_verdict_does_not_end_with_the_candidates_of_the_highest_estimates() {
    let mut signer = RecordSigner::new(&settings()).expect("in range");
    let question = asked(&mut signer, &words(0, 50));
    let mut documents: Vec<Document> =
        (1..=2 * COUNTED as u32).map(|number| forged(&mut signer, &question, number)).collect();
    // Up to four of 49 shingles are missing, so that the resemblance is 0.9 or more.
    let near = (1..5).map(|from| signed(&mut signer, "near", &words(from, 50)));
    let lower = |near: &Document| near.sketch != question.document.sketch;
    let near = near.into_iter().find(lower).expect("its estimate is lower than theirs");
    let shares = near.features.iter().any(|key| question.document.features.contains(key));
    assert!(shares, "a word in fifty leaves a feature");
    documents.push(near);
    let (snapshot, conditions) = (snapshot(&documents), Conditions::default());
    let mut asker = Asker::new(&settings()).expect("memory");
    let found = asker.seen(&snapshot, &question, wish(&conditions, 0.9)).expect("sound");
    let nearest = found.nearest.expect("a candidate");
    assert_eq!((found.is_seen, &nearest.row.id[..], nearest.copies), (true, &b"near"[..], 1));
    assert_eq!(found.work.texts, 2 * COUNTED as u64 + 1);
}

#[test]
fn a_verdict_ends_the_search_after_enough_candidates() {
    let mut signer = RecordSigner::new(&settings()).expect("in range");
    let question = asked(&mut signer, &words(0, 200));
    let near = |signer: &mut RecordSigner, number: u32| {
        signed(signer, &format!("{number}"), &format!("{} x{number}", words(0, 200)))
    };
    let documents: Vec<Document> = (0..40).map(|number| near(&mut signer, number)).collect();
    let (snapshot, conditions) = (snapshot(&documents), Conditions::default());
    let mut asker = Asker::new(&settings()).expect("memory");
    let found = asker.seen(&snapshot, &question, wish(&conditions, 0.9)).expect("sound");
    assert!(found.is_seen && found.candidates == 40);
    assert_eq!(found.work.texts, COUNTED as u64);
    let all = asker.resemblance(&snapshot, &question, wish(&conditions, 0.9)).expect("sound");
    assert_eq!((all.documents, all.work.texts), (40, 40));
}

#[test]
fn removed_documents_shadows_and_starter_code_are_never_told() {
    let mut signer = RecordSigner::new(&settings()).expect("in range");
    let text = words(0, 50);
    let mut documents: Vec<Document> =
        ["removed", "shadow", "starter", "kept"].iter().map(|id| signed(&mut signer, id, &text)).collect();
    documents[1].flags = SHADOW;
    documents[2].flags = TEMPLATE;
    let segment = Arc::new(Segment::of_documents(&documents, b"{}").expect("documents"));
    let removed = Bitmap::of_rows(4, [0]).expect("in range");
    let part = Part::without(segment, removed).expect("as many rows");
    let (snapshot, conditions) = (Snapshot::new(vec![part]).expect("few"), Conditions::default());
    let mut asker = Asker::new(&settings()).expect("memory");
    let question = asked(&mut signer, &text);
    let wish = wish(&conditions, 0.5);
    for found in [
        asker.identical(&snapshot, &question, wish).expect("sound"),
        asker.resemblance(&snapshot, &question, wish).expect("sound"),
        asker.containment(&snapshot, &question, wish).expect("sound"),
    ] {
        let ids: Vec<&[u8]> = found.matches.iter().map(|one| &one.row.id[..]).collect();
        assert_eq!((found.documents, ids), (1, vec![&b"kept"[..]]));
    }
    assert_eq!(asker.seen(&snapshot, &question, wish).expect("sound").nearest.expect("one").row.id, b"kept");
}

#[test]
fn a_collision_of_content_hashes_is_not_told_as_identical() {
    let mut signer = RecordSigner::new(&settings()).expect("in range");
    let question = asked(&mut signer, &words(0, 50));
    let content = question.document.content;
    let with_hash = |document: Document| Document { content, ..document };
    let forged = with_hash(signed(&mut signer, "forged", &words(100, 150)));
    let near = with_hash(signed(&mut signer, "near", &words(0, 49)));
    let (same, copy) = (signed(&mut signer, "same", &words(0, 50)), signed(&mut signer, "copy", &words(0, 50)));
    let (conditions, mut asker) = (Conditions::default(), Asker::new(&settings()).expect("memory"));
    let wish = wish(&conditions, 0.5);

    let all = snapshot(&[forged.clone(), same, near.clone(), copy]);
    let found = asker.identical(&all, &question, wish).expect("sound");
    assert_eq!((found.documents, found.distinct), (2, 1));
    assert_eq!((&found.matches[0].row.id[..], found.matches[0].copies), (&b"same"[..], 2));
    assert_eq!(found.matches[0].measure, Measure::Identical { is_verified: true });
    assert_eq!(found.same_hash, SameHash { other_text: 2, uncompared: 0 });
    let seen = asker.seen(&all, &question, wish).expect("sound");
    assert_eq!(seen.nearest.expect("one").row.id, b"same");
    assert_eq!(seen.same_hash.other_text, 1, "what stands before the first that is equal");

    let without = snapshot(&[forged, near]);
    let found = asker.identical(&without, &question, wish).expect("sound");
    assert_eq!((found.documents, found.same_hash.other_text), (0, 2));
    let unverified = Asked { texts: Vec::new(), ..question };
    let found = asker.identical(&without, &unverified, wish).expect("sound");
    assert_eq!(found.matches[0].measure, Measure::Identical { is_verified: false });
}

#[test]
fn a_text_that_cannot_be_unpacked_is_damage() {
    let mut signer = RecordSigner::new(&settings()).expect("in range");
    let question = asked(&mut signer, &words(0, 50));
    let mut near = signed(&mut signer, "near", &words(1, 50));
    near.text.truncate(near.text.len() - 3);
    let (snapshot, conditions) = (snapshot(&[near]), Conditions::default());
    let mut asker = Asker::new(&settings()).expect("memory");
    let failure = asker.resemblance(&snapshot, &question, wish(&conditions, 0.5)).expect_err("damaged");
    assert!(matches!(failure, lookalike_table::Error::Damaged { .. }), "{failure}");
}

/// All documents, one by one: content of the first, documents with this content, bits.
fn naive_distance(documents: &[Document], simhash: u64, most: u32) -> Vec<(u64, u64, u32)> {
    let mut found: Vec<(u128, u64, u64, u32)> = Vec::new();
    for (number, one) in documents.iter().enumerate().filter(|(_, one)| one.flags == 0) {
        let Some(bits) = one.simhash.map(|other| (other ^ simhash).count_ones()).filter(|bits| *bits <= most) else {
            continue;
        };
        match found.iter_mut().find(|(content, ..)| *content == one.content) {
            Some((_, _, copies, _)) => *copies += 1,
            None => found.push((one.content, number as u64, 1, bits)),
        }
    }
    found.sort_by_key(|(_, number, _, bits)| (*bits, *number));
    found.into_iter().map(|(_, number, copies, bits)| (number, copies, bits)).collect()
}

#[test]
fn distance_matches_naive_where_many_simhashes_are_equal() {
    let (conditions, mut asker) = (Conditions::default(), Asker::new(&settings()).expect("memory"));
    // Five bits that differ, so that simhashes collide; equal contents have equal simhashes.
    let document = |number: u64| {
        let content = u128::from(number * 7919 % 150);
        let simhash = (content % 13 != 0).then_some((content as u64 * 31) % 32 * 0x0101);
        Document { content, simhash, flags: u32::from(number % 11 == 3), ..Document::default() }
    };
    let documents: Vec<Document> = (0..400).map(document).collect();
    let parts = documents.chunks(170).map(|some| Segment::of_documents(some, b"{}").expect("documents"));
    let snapshot = Snapshot::new(parts.map(|segment| Part::of(Arc::new(segment))).collect()).expect("few");
    for (simhash, most) in [(0, 0), (0x0101, 2), (0x1f1f, 4), (0x0f0f, 10)] {
        let question =
            Asked { document: Document { simhash: Some(simhash), ..Document::default() }, ..Asked::default() };
        let expected = naive_distance(&documents, simhash, most);
        for top in [0, 1, 5, ALL] {
            let wish = Wish { conditions: &conditions, top, threshold: 0.0 };
            let found = asker.distance(&snapshot, &question, most, wish).expect("sound");
            let bits = |one: &Match| match one.measure {
                Measure::Distance(bits) => bits,
                _ => 99,
            };
            let told: Vec<_> = found.matches.iter().map(|one| (one.number, one.copies, bits(one))).collect();
            assert_eq!(told, expected[..top.min(expected.len())], "{simhash:x} {most} {top}");
            let copies: u64 = expected.iter().map(|(_, copies, _)| copies).sum();
            assert_eq!((found.distinct, found.documents), (expected.len() as u64, copies));
            assert!(found.matches.iter().all(|one| one.row.content == documents[one.number as usize].content));
        }
    }
}

/// The starter code and two documents that have all of it and nothing else in common; `near` has much of `own` too.
fn with_starter(signer: &mut RecordSigner) -> Snapshot {
    let given = words(0, 50);
    let mut documents = vec![
        signed(signer, "starter", &given),
        signed(signer, "untouched", &given),
        signed(signer, "other", &format!("{given} {}", words(900, 905))),
        signed(signer, "near", &format!("{given} {}", words(100, 150))),
    ];
    documents[0].flags = TEMPLATE;
    snapshot(&documents)
}

#[test]
fn what_is_shared_as_starter_code_only_is_not_told() {
    let mut signer = RecordSigner::new(&settings()).expect("in range");
    let (snapshot, conditions) = (with_starter(&mut signer), Conditions::default());
    let mut asker = Asker::new(&settings()).expect("memory");
    let starter = asker.starter(&snapshot).expect("sound");
    assert_eq!(starter.len(), 49);
    let ids = |found: Found| found.matches.iter().map(|one| one.row.id.clone()).collect::<Vec<_>>();
    let question = asked(&mut signer, &format!("{} {}", words(0, 50), words(101, 150))).beside(starter.clone());
    let wish = wish(&conditions, 0.3);
    assert_eq!(ids(asker.resemblance(&snapshot, &question, wish).expect("sound")), [b"near"]);
    assert_eq!(ids(asker.containment(&snapshot, &question, wish).expect("sound")), [b"near"]);
    assert_eq!(asker.seen(&snapshot, &question, wish).expect("sound").nearest.expect("near").row.id, b"near");
    // 48 of its own shingles are in the 50 of the other, those over the seams left out.
    let found = asker.resemblance(&snapshot, &question, wish).expect("sound");
    assert_eq!(found.matches[0].measure, Measure::Resemblance(Score::exact(48.0 / 51.0)));
    let untouched = asked(&mut signer, &words(0, 50)).beside(starter);
    assert!(ids(asker.identical(&snapshot, &untouched, wish).expect("sound")).is_empty());
    assert!(ids(asker.resemblance(&snapshot, &untouched, wish).expect("sound")).is_empty());
    assert_eq!(asker.seen(&snapshot, &untouched, wish).expect("sound"), super::seen::Seen::default());
}
