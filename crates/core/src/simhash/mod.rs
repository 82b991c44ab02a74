//! Simhash: a 64-bit fingerprint of a document's weighted features; similar documents have fingerprints that differ in
//! few bits.
//!
//! | file | content | source |
//! |---|---|---|
//! | `vote.rs` | fingerprint of hashed, weighted features, and the naive loop that all fast ones equal | Charikar 2002; Manku, Jain, Das Sarma 2007, §2 |
//! | `weight.rs` | weights as fixed-point integers, so that sums are exact on any machine | |
//! | `kernel.rs` | how often each bit is set in a run of hashes, by bit planes or vectors | |
//! | `ignore.rs` | parts of a text that are not compared | 2007, §6 D |
//! | `language.rs`, `stop_words.rs` | language detection by function words | 2007, §6 C |
//! | `lengths.rs` | whether two lengths are similar | 2007, §6 A |
//! | `paper.rs`, `idf.rs` | the paper's features: stems, phrases, and their weights | 2007, §2 |
//! | `hashing.rs` | fingerprints and lengths of texts, block by block | 2007, §2 |
//!
//! A document without features has no fingerprint: the paper's §4.2 reports a spike of empty pages at 0, all
//! near-duplicates of each other.

pub mod hashing;
pub mod idf;
pub mod ignore;
pub mod kernel;
pub mod language;
pub mod lengths;
pub mod paper;
mod stop_words;
pub mod vote;
pub mod weight;

#[cfg(test)]
mod tests;
