//! Document fingerprinting without Python: front ends, hashes, selection schemes, sketches, simhash.
//!
//! ```text
//! bytes ─▶ text ─▶ tokens ─▶ order keys ─▶ fingerprints
//!     decode   frontend   hash::rolling   scheme          fingerprint.rs runs all of it, block by block
//! ```
//!
//! Nothing here prints, reads the environment or a clock, or panics on any input. Parameters are checked where they are made.
//! `machine` detects processor features and comes first; every other module may use it.

pub mod clustering;
pub mod error;
pub mod fingerprint;
pub mod frontend;
pub mod hamming;
pub mod hash;
pub mod machine;
pub mod matching;
pub mod naive;
pub mod scheme;
pub mod simhash;
pub mod sketch;

#[cfg(test)]
mod testing;
