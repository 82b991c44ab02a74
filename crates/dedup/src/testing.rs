//! What the property tests of this crate share.

use proptest::test_runner::{Config, RngSeed};

/// A configuration of `cases` cases from a fixed seed; a failure prints the shrunk input.
pub fn fixed(cases: u32) -> Config {
    Config { cases, rng_seed: RngSeed::Fixed(2000), failure_persistence: None, ..Config::default() }
}
