//! What the tests of this crate share: a fixed seed, and a hash to make numbers of.

use proptest::test_runner::{Config, RngSeed};

/// Returns a configuration of `cases` cases from one seed; a failure prints the smallest failing input.
pub fn fixed(cases: u32) -> Config {
    Config { cases, rng_seed: RngSeed::Fixed(2003), failure_persistence: None, ..Config::default() }
}

/// The finaliser of SplitMix64.
pub fn mix64(mut z: u64) -> u64 {
    z = (z ^ z >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ z >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ z >> 31
}
