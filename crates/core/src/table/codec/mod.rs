//! Sorted columns in fewer bits: codecs that stand beside the table and know nothing of what the keys mean.
//!
//! | codec | for | bits a value, uniform, n of 64 bits |
//! |---|---|---|
//! | `elias_fano.rs` | tables in memory, decoded where they are probed | log₂(2⁶⁴/n) + about 2.9 |
//! | `packed.rs` | files: differences in blocks of 128, all of a block in as many bits as the greatest needs | log₂(2⁶⁴/n) + about 3.7 |
//! | `huffman.rs` | comparison: the block code of Manku, Jain, Das Sarma 2007, §3.2 | log₂(2⁶⁴/n) + about 4.1 |
//!
//! The entropy of n uniform values as a set is log₂(2⁶⁴/n) + 1.44 bits a value; every codec stays within 3 bits of it (`tests.rs`).

mod bits;
pub mod elias_fano;
pub mod huffman;
pub mod packed;

#[cfg(test)]
mod tests;
