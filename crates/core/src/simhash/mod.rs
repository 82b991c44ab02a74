//! Simhash: one 64-bit fingerprint of a document's weighted features, near for documents that are nearly the same.
//!
//! | file | what | source |
//! |---|---|---|
//! | `vote.rs` | hashed, weighted features → fingerprint, and the naive loop that every fast one equals | Charikar 2002; Manku, Jain, Das Sarma 2007, §2 |
//! | `weight.rs` | weights as fixed-point integers, so that sums are exact on any machine | |
//! | `kernel.rs` | how often each bit is set in a run of hashes, by bit planes or vectors | |
//! | `ignore.rs` | what in a text is not looked at | 2007, §6 D |
//! | `language.rs`, `stop_words.rs` | in which language a text is, by its function words | 2007, §6 C |
//! | `paper.rs`, `idf.rs` | the paper's features: stems, phrases, and what they weigh | 2007, §2 |
//! | `hashing.rs` | texts in, fingerprints and lengths out, block by block | 2007, §2 |
//!
//! A document of which nothing is known has no fingerprint: the paper's §4.2 tells of a spike of empty pages at 0, all
//! near-duplicates of each other.

pub mod hashing;
pub mod idf;
pub mod ignore;
pub mod kernel;
pub mod language;
pub mod paper;
mod stop_words;
pub mod vote;
pub mod weight;

#[cfg(test)]
mod tests;
