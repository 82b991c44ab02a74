//! Configuration shared by the property tests of this crate.

use proptest::test_runner::{Config, RngSeed};

/// A configuration with `cases` cases and a fixed seed; a failure prints the shrunk input.
pub fn fixed(cases: u32) -> Config {
    Config { cases, rng_seed: RngSeed::Fixed(2000), failure_persistence: None, ..Config::default() }
}
