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
    Asked { document, shingles: signer.shingles().to_vec() }
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
