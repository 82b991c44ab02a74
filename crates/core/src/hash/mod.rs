//! The hashes, one file a role; FORMAT.md holds their definitions, versions and test vectors.
//!
//! | role | file | asked of every k-gram |
//! |---|---|---|
//! | order: which k-gram of a window is smallest | `rolling.rs`, `lanes.rs` | yes, so it rolls |
//! | identity: what a fingerprint's value is | `identity.rs`, `eight.rs` | only of the selected ones and of ties |
//! | fingerprints of shingles and feature groups | `rabin.rs`, `carryless.rs` | yes, so it slides, or multiplies fast |
//!
//! Order and identity are two functions on purpose: the minimum of a window is skewed towards small order keys, and a
//! polynomial modulo a power of two has crafted collisions (Thue–Morse strings), so it must never be what two documents
//! are said to share.

#[cfg(target_arch = "x86_64")]
pub mod carryless;
#[cfg(target_arch = "x86_64")]
pub(crate) mod eight;
pub mod identity;
#[cfg(target_arch = "x86_64")]
mod lanes;
pub mod rabin;
pub mod rolling;

/// An odd number near 2^64 over the golden ratio: the step of SplitMix64, by which seeds and rounds are told apart.
pub const GOLDEN: u64 = 0x9E37_79B9_7F4A_7C15;

/// Scrambles 64 bits: the finaliser of SplitMix64 (Steele, Lea, Flood 2014), a bijection.
///
/// It turns the order key into the hash that `0 mod p` takes residues of: the low bits of a polynomial modulo a power
/// of two are not uniform on small alphabets.
#[inline]
pub const fn mix64(x: u64) -> u64 {
    let x = (x ^ (x >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let x = (x ^ (x >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    x ^ (x >> 31)
}

/// [`mix64`] of each number.
pub fn mix_all(numbers: &mut [u64]) {
    #[cfg(target_arch = "x86_64")]
    if let Some(avx512) = crate::machine::Avx512::detect() {
        // SAFETY: `avx512` proves the features the function is compiled for.
        return unsafe { mix_all_avx512(avx512, numbers) };
    }
    numbers.iter_mut().for_each(|number| *number = mix64(*number));
}

/// [`mix_all`] compiled for AVX-512, which multiplies eight numbers of 64 bits at once.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512dq")]
fn mix_all_avx512(_: crate::machine::Avx512, numbers: &mut [u64]) {
    numbers.iter_mut().for_each(|number| *number = mix64(*number));
}
