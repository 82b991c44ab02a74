//! Runs every scheme on any hashes and window: the result equals the definition.
#![no_main]

use libfuzzer_sys::fuzz_target;
use lookalike_core::scheme::{select_hashes, Gram, SchemeKind};

fuzz_target!(|input: (u8, u8, bool, Vec<u64>)| {
    let (window, number, narrow, mut hashes) = input;
    let window = usize::from(window) + 1;
    if narrow {
        hashes.iter_mut().for_each(|hash| *hash %= 7);
    }
    let modulus = u64::from(number) + 1;
    let kinds = [
        SchemeKind::Every,
        SchemeKind::Modulo { modulus },
        SchemeKind::SafeModulo { modulus },
        SchemeKind::Winnow,
        SchemeKind::Robust,
        SchemeKind::Compact,
        SchemeKind::CompactRobust,
        SchemeKind::Smallest { count: usize::from(number) + 1 },
    ];
    let gram = |hash: &u64| Gram { key: (hash >> 32) as u32, identity: *hash, mixed: *hash };
    let grams: Vec<Gram> = hashes.iter().map(gram).collect();
    for kind in kinds {
        let scheme = kind.scheme(window);
        let naive: Vec<u32> = scheme.select_naive(&grams).into_iter().map(|pos| pos as u32).collect();
        assert_eq!(select_hashes(scheme.as_ref(), &hashes), naive, "{kind:?} with windows of {window}");
    }
});
