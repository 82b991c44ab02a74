//! The contract of every scheme: fast equals naive, blocks equal the whole, and the paper's guarantees.

use super::*;
use crate::hash::identity::Identify;
use crate::hash::mix64;
use crate::hash::rolling::Rolling;
use crate::testing::{fixed, low_entropy_bytes};
use proptest::prelude::*;

const FIGURE_1: [u64; 17] = [77, 72, 42, 17, 98, 50, 17, 98, 8, 88, 67, 39, 77, 72, 42, 17, 98];
const FIGURE_2: [u64; 17] = [77, 74, 42, 17, 98, 50, 17, 98, 8, 88, 67, 39, 77, 74, 42, 17, 98];

/// Every scheme, with the numbers it needs for windows of `window`.
fn all_kinds(window: usize) -> Vec<SchemeKind> {
    let modulus = window as u64 / 2 + 1;
    vec![
        SchemeKind::Every,
        SchemeKind::Modulo { modulus },
        SchemeKind::SafeModulo { modulus },
        SchemeKind::Winnow,
        SchemeKind::Robust,
        SchemeKind::Compact,
        SchemeKind::CompactRobust,
        SchemeKind::Smallest { count: 5 },
    ]
}

fn has_guarantee(kind: SchemeKind) -> bool {
    !matches!(kind, SchemeKind::Modulo { .. } | SchemeKind::Smallest { .. })
}

fn is_robust(kind: SchemeKind) -> bool {
    matches!(kind, SchemeKind::Robust | SchemeKind::CompactRobust)
}

/// k-grams of a byte text whose order keys are cut to `bits`, so that distinct k-grams tie.
struct Narrow {
    text: Vec<u8>,
    k: usize,
    keys: Vec<u32>,
}

impl Narrow {
    fn new(text: &[u8], k: usize, bits: u32, order: Order) -> Self {
        let mut keys = Vec::new();
        Rolling::new(k).keys(text, &mut keys);
        for key in &mut keys {
            *key = (*key >> (32 - bits)) << (32 - bits);
        }
        if order == Order::OpenClosed {
            open_closed_keys(text, k, true, &mut keys, &mut Vec::new());
        }
        Self { text: text.to_vec(), k, keys }
    }

    fn grams(&self) -> Vec<Gram> {
        let gram =
            |(pos, key): (usize, &u32)| Gram { key: *key, identity: self.identity(pos), mixed: self.mixed(pos, *key) };
        self.keys.iter().enumerate().map(gram).collect()
    }
}

impl Grams for Narrow {
    fn identity(&self, pos: usize) -> u64 {
        u8::identity(&self.text[pos..pos + self.k], &mut Vec::new())
    }

    fn mixed(&self, _pos: usize, key: u32) -> u64 {
        mix64(u64::from(key))
    }
}

/// Feeds a scheme blocks of `step` new k-grams, forgetting what it allows.
fn select_in_blocks(scheme: &dyn Scheme, source: &Narrow, step: usize) -> Picks {
    let mut picks = Picks::default();
    let mut selector = scheme.selector();
    let (mut base, mut end) = (0, 0);
    while end < source.keys.len() {
        end = (end + step).min(source.keys.len());
        base = selector.push(&Block { keys: &source.keys[base..end], base, grams: source }, &mut picks);
    }
    selector.finish(&Block { keys: &source.keys[base..end], base, grams: source }, &mut picks);
    picks
}

fn picks_of(kind: SchemeKind, window: usize, text: &[u8], k: usize, bits: u32) -> Picks {
    let scheme = kind.scheme(window);
    let source = Narrow::new(text, k, bits, scheme.order());
    select(scheme.as_ref(), &source.keys, &source)
}

#[test]
fn paper_schleimer2003_figure1_zero_mod_4() {
    let picked = select_hashes(&Modulo { modulus: 4 }, &FIGURE_1);
    let values: Vec<u64> = picked.iter().map(|pos| FIGURE_1[*pos as usize]).collect();
    assert_eq!(values, [72, 8, 88, 72]);
}

#[test]
fn paper_schleimer2003_figure2_windows_of_4() {
    for robust in [false, true] {
        let picked = select_hashes(&Winnow { window: 4, robust }, &FIGURE_2);
        assert_eq!(picked, [3, 6, 8, 11, 15], "robust: {robust}");
    }
    assert_eq!(select_hashes(&Compact(Winnow { window: 4, robust: false }), &FIGURE_2), [3, 6, 8, 11, 15]);
}

#[test]
fn paper_schleimer2003_figure5_records_partial_windows_and_we_do_not() {
    let values = |positions: &[u32]| positions.iter().map(|pos| FIGURE_2[*pos as usize]).collect::<Vec<_>>();
    let figure5 = crate::naive::figure5(&FIGURE_2, 4);
    assert_eq!(values(&figure5), [77, 74, 42, 17, 17, 8, 39, 17]);
    assert_eq!(values(&select_hashes(&Winnow { window: 4, robust: false }, &FIGURE_2)), values(&figure5[3..]));
}

#[test]
fn paper_schleimer2003_section5_1_equal_hashes() {
    let equal = vec![7u64; 1000];
    assert_eq!(select_hashes(&Winnow { window: 100, robust: false }, &equal).len(), 901);
    assert_eq!(select_hashes(&Winnow { window: 100, robust: true }, &equal).len(), 10);
}

#[test]
fn newest_of_equal_hashes_wins() {
    assert_eq!(select_hashes(&Winnow { window: 2, robust: false }, &[0, 1, 1]), [0, 2]);
}

#[test]
fn density_of_winnowing_is_two_over_w_plus_one() {
    // n = 8 Mi i.i.d. hashes, w = 100: the standard deviation over runs is 2.37e-5.
    let n = 8 << 20;
    let hashes: Vec<u64> = (0..n as u64).map(|i| mix64(i.wrapping_mul(0x9E37_79B9_7F4A_7C15))).collect();
    let density = select_hashes(&Winnow { window: 100, robust: false }, &hashes).len() as f64 / n as f64;
    assert!((density - 2.0 / 101.0).abs() < 4.0 * 2.37e-5, "density {density}");
}

#[test]
fn density_of_safe_modulo_is_near_its_optimum() {
    let n = 4 << 20;
    let hashes: Vec<u64> = (0..n as u64).map(|i| mix64(i ^ 0xABCD_EF01)).collect();
    let modulus = modulus_of_least_density(100);
    let density = select_hashes(&SafeModulo { window: 100, modulus }, &hashes).len() as f64 / n as f64;
    let p = 1.0 / modulus as f64;
    assert!((density - (p + (1.0 - p).powi(100))).abs() < 5e-4, "density {density} at p = {modulus}");
}

#[test]
fn compact_densities_on_bytes() {
    let n = 3 << 20;
    let text: Vec<u8> = (0..n as u64).map(|i| mix64(i ^ 0x5EED) as u8).collect();
    for (k, window, most) in [(50, 100, 0.0170), (23, 17, 0.090)] {
        let density = picks_of(SchemeKind::Compact, window, &text, k, 32).len() as f64 / (n - k + 1) as f64;
        assert!(density <= most, "density {density} at ({k}, {window})");
    }
}

#[test]
fn robust_takes_one_in_w_of_a_run() {
    let zeros = vec![b'0'; 100_049];
    for kind in [SchemeKind::Robust, SchemeKind::CompactRobust] {
        assert_eq!(picks_of(kind, 100, &zeros, 50, 32).len(), 1000, "{kind:?}");
    }
}

#[test]
fn short_documents() {
    for kind in all_kinds(8) {
        let picks = |n: usize| picks_of(kind, 8, &b"abcdefghijklmnopqrstuvwxyz"[..n], 5, 32);
        assert!(picks(0).is_empty() && picks(4).is_empty(), "{kind:?}");
        if has_guarantee(kind) && kind != SchemeKind::Every && !matches!(kind, SchemeKind::SafeModulo { .. }) {
            for n in [5, 8, 11] {
                assert_eq!(picks(n).len(), 1, "{kind:?} {n}");
            }
        }
    }
}

/// Lengths around the edges, and texts over them.
fn edge_texts(k: usize, window: usize) -> impl Strategy<Value = Vec<u8>> {
    let edges = [0, k.saturating_sub(1), k, k + window - 2, k + window - 1, k + window, 3 * (k + window)];
    prop::sample::select(edges.to_vec()).prop_flat_map(|n| low_entropy_bytes(n..n + 1))
}

proptest! {
    #![proptest_config(fixed(250))]

    #[test]
    fn fast_matches_naive((k, window, text) in (1usize..9, 1usize..40).prop_flat_map(|(k, w)| (Just(k), Just(w), prop_oneof![edge_texts(k, w), low_entropy_bytes(0..400), low_entropy_bytes(900..1400)])), bits in prop::sample::select(vec![1u32, 4, 8, 32])) {
        for kind in all_kinds(window) {
            let scheme = kind.scheme(window);
            let source = Narrow::new(&text, k, bits, scheme.order());
            let fast = select(scheme.as_ref(), &source.keys, &source);
            let naive: Vec<u32> = scheme.select_naive(&source.grams()).into_iter().map(|pos| pos as u32).collect();
            prop_assert_eq!(&fast.positions, &naive, "{:?} k={} w={}", kind, k, window);
            let hashes: Vec<u64> = fast.positions.iter().map(|pos| source.identity(*pos as usize)).collect();
            prop_assert_eq!(&fast.hashes, &hashes);
            for step in [1, 7, window, 64] {
                prop_assert_eq!(&select_in_blocks(scheme.as_ref(), &source, step), &fast, "{:?} in blocks of {}", kind, step);
            }
        }
    }

    #[test]
    fn a_shared_run_of_t_shares_a_fingerprint(
        k in 1usize..12, window in 1usize..30, bits in prop::sample::select(vec![2u32, 8, 32]), extra in 0usize..40,
        run in low_entropy_bytes(120..121), before in (low_entropy_bytes(0..90), low_entropy_bytes(0..90)), after in (low_entropy_bytes(0..90), low_entropy_bytes(0..90)),
    ) {
        let shared = &run[..(window + k - 1 + extra).min(run.len())];
        let left = [&before.0, shared, &after.0].concat();
        let right = [&before.1, shared, &after.1].concat();
        for kind in all_kinds(window).into_iter().filter(|kind| has_guarantee(*kind)) {
            let a = inside(&picks_of(kind, window, &left, k, bits), before.0.len(), shared.len(), k);
            let b = inside(&picks_of(kind, window, &right, k, bits), before.1.len(), shared.len(), k);
            prop_assert!(a.iter().any(|(_, hash)| b.iter().any(|(_, other)| hash == other)), "{:?} k={} w={}", kind, k, window);
            // Picks of windows wholly inside the run: their values agree, their places too unless the rule is robust.
            for ours in picks_by_inner_windows(kind, window, &left, k, bits, before.0.len(), shared.len()) {
                let near = |other: &(usize, u64)| other.1 == ours.1 && other.0.abs_diff(ours.0) < if is_robust(kind) { window } else { 1 };
                prop_assert!(b.iter().any(near), "{:?} k={} w={} pick {:?} not among {:?}", kind, k, window, ours, b);
            }
        }
    }

    #[test]
    fn gaps_are_at_most_w(text in low_entropy_bytes(0..600), k in 1usize..8, window in 1usize..50) {
        for kind in all_kinds(window).into_iter().filter(|kind| has_guarantee(*kind)) {
            let positions = picks_of(kind, window, &text, k, 32).positions;
            let count = (text.len() + 1).saturating_sub(k);
            let mut edges: Vec<i64> = vec![-1];
            edges.extend(positions.iter().map(|pos| i64::from(*pos)));
            edges.push(count as i64);
            let widest = edges.windows(2).map(|pair| pair[1] - pair[0]).max().unwrap_or(0);
            prop_assert!(count == 0 || widest <= window as i64, "{:?} gap {}", kind, widest);
            prop_assert!(positions.is_sorted_by(|a, b| a < b));
        }
    }

    #[test]
    fn coarser_windows_nest(text in low_entropy_bytes(0..600), k in 1usize..8, window in 1usize..30, wider in 0usize..30) {
        for kind in [SchemeKind::Winnow, SchemeKind::Compact, SchemeKind::Robust, SchemeKind::CompactRobust] {
            let fine = picks_of(kind, window, &text, k, 8);
            let coarse = picks_of(kind, window + wider, &text, k, 8);
            if is_robust(kind) {
                prop_assert!(coarse.hashes.iter().all(|hash| fine.hashes.contains(hash)), "{:?}", kind);
            } else {
                prop_assert!(coarse.positions.iter().all(|pos| fine.positions.contains(pos)), "{:?}", kind);
            }
        }
    }

    #[test]
    fn scrambled_paragraphs_keep_their_matches(paragraphs in prop::collection::vec(low_entropy_bytes(60..90), 2..6)) {
        let (k, window) = (5, 16);
        let (forward, backward) = (paragraphs.concat(), paragraphs.iter().rev().cloned().collect::<Vec<_>>().concat());
        for kind in all_kinds(window).into_iter().filter(|kind| has_guarantee(*kind)) {
            let (a, b) = (picks_of(kind, window, &forward, k, 32), picks_of(kind, window, &backward, k, 32));
            let mut at = 0;
            for paragraph in &paragraphs {
                let ours = inside(&a, at, paragraph.len(), k);
                prop_assert!(ours.iter().any(|(_, hash)| b.hashes.contains(hash)), "{:?}", kind);
                at += paragraph.len();
            }
        }
    }

    #[test]
    fn bare_hashes_are_ordered_by_value(hashes in prop::collection::vec(prop_oneof![0u64..6, any::<u64>(), any::<u32>().prop_map(u64::from)], 0..200), window in 1usize..20) {
        for kind in all_kinds(window) {
            let grams: Vec<Gram> = hashes.iter().map(|hash| Gram { key: (hash >> 32) as u32, identity: *hash, mixed: *hash }).collect();
            let scheme = kind.scheme(window);
            let naive: Vec<u32> = scheme.select_naive(&grams).into_iter().map(|pos| pos as u32).collect();
            prop_assert_eq!(select_hashes(scheme.as_ref(), &hashes), naive, "{:?}", kind);
        }
    }
}

/// Picks whose k-grams lie wholly in `start..start + len`, with places relative to it.
fn inside(picks: &Picks, start: usize, len: usize, k: usize) -> Vec<(usize, u64)> {
    let places = picks.positions.iter().map(|pos| *pos as usize).zip(picks.hashes.iter().copied());
    places.filter(|(pos, _)| *pos >= start && pos + k <= start + len).map(|(pos, hash)| (pos - start, hash)).collect()
}

/// What the windows wholly inside the run take, by the definition.
fn picks_by_inner_windows(
    kind: SchemeKind,
    window: usize,
    text: &[u8],
    k: usize,
    bits: u32,
    start: usize,
    len: usize,
) -> Vec<(usize, u64)> {
    let scheme = kind.scheme(window);
    let grams = Narrow::new(text, k, bits, scheme.order()).grams();
    let width = scheme.window(grams.len());
    let mut found = Vec::new();
    for at in start..(start + len + 2).saturating_sub(k + width) {
        let offsets = scheme.sample(&grams[at..at + width], None);
        // The first w − 1 hashes of a document are never Bad, so safe 0 mod p counts from the w-th on: its windows are full.
        found.extend(offsets.into_iter().map(|offset| (at + offset - start, grams[at + offset].identity)));
    }
    found
}
