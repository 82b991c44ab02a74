//! Codecs for sorted columns of 64-bit values, independent of the meaning of the values.
//!
//! | codec | for | bits per value, n uniform values of 64 bits |
//! |---|---|---|
//! | `elias_fano.rs` | tables in memory, decoded where they are probed | log₂(2⁶⁴/n) + about 2.9 |
//! | `keys.rs` | sorted keys of table files, searched in place | log₂(2⁶⁴/n) + about 3.5 |
//! | `packed.rs` | other numbers of files: differences in blocks of 128, each block as wide as its largest difference | log₂(2⁶⁴/n) + about 3.7 |
//! | `sparse.rs` | numbers of files that are mostly 0 | |
//! | `huffman.rs` | comparison (`lookalike lab compression`): the block code of Manku, Jain, Das Sarma 2007, §3.2 | log₂(2⁶⁴/n) + about 4.1 |
//!
//! The entropy of a set of n uniform values is log₂(2⁶⁴/n) + 1.44 bits per value; every codec is within 3 bits of it (`tests.rs`).

pub(crate) mod bits;
pub mod elias_fano;
pub mod huffman;
pub mod keys;
pub mod packed;
pub mod sparse;

#[cfg(test)]
mod tests;
