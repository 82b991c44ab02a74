//! Resemblance and containment: a text's shingles, their exact measures, and sketches from which both are estimated.
//!
//! | file | what | source |
//! |---|---|---|
//! | `shingle.rs` | text → ids of its shingles | Broder 1997, §2, §4.1 |
//! | `exact.rs` | resemblance, containment and distance of two sets | 1997, §2 |
//! | `fast.rs` | t coordinates in one pass | Dahlgaard, Knudsen, Thorup 2017 |
//! | `permutations.rs` | t coordinates by t linear maps | Broder 2000, §2 |
//! | `sample.rs` | MIN_s, MOD_m, MIN_s of MOD_m, L_i | 1997, §3, §4.1 |
//! | `law.rs`, `estimate.rs` | value, interval, decision at a threshold | 1997, §4.1, §4.2 |
//! | `features.rs` | k groups of s elements, as keys | 2000, §3 |
//! | `count.rs` | how many distinct shingles there were | |
//! | `kind.rs`, `sketching.rs`, `stored.rs` | all of these by name; texts in, estimates out; as bytes | |
//! | `filter.rs` | how often r of k features are equal, measured | 2000, §3 |
//!
//! Every id is already scrambled, so that its own order serves as the random permutation of the papers.

pub mod count;
pub mod estimate;
pub mod exact;
pub mod fast;
pub mod features;
pub mod filter;
pub mod kind;
pub mod law;
pub mod permutations;
pub mod sample;
pub mod shingle;
pub mod sketching;
pub mod stored;

#[cfg(test)]
mod tests;
