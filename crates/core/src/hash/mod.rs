//! The hash functions, one file per role. FORMAT.md holds their definitions, versions and test vectors.
//!
//! | role | file | computed for |
//! |---|---|---|
//! | order: finds the smallest k-gram of a window | `rolling.rs`, `lanes.rs` | every k-gram, so it rolls |
//! | identity: the value of a fingerprint | `identity.rs`, `eight.rs` | selected k-grams and ties only |
//! | keys of runs: finds them in a table, never shown | `keyed.rs` | every run of t tokens of a comparison |
//! | fingerprints of shingles and feature groups | `rabin.rs`, `carryless.rs` | every shingle, so it slides or multiplies fast |
//!
//! Order and identity are different functions for two reasons. The minimum of a window favours small order keys, so selected
//! keys are not uniform. And a polynomial modulo a power of two has crafted collisions (Thue–Morse strings), so equal order keys
//! must not count as a match.

#[cfg(target_arch = "x86_64")]
pub mod carryless;
#[cfg(target_arch = "x86_64")]
pub(crate) mod eight;
pub mod identity;
pub mod keyed;
#[cfg(target_arch = "x86_64")]
mod lanes;
pub mod rabin;
pub mod rolling;

/// The step of SplitMix64: an odd number near 2^64 over the golden ratio. It separates seeds and rounds.
pub const GOLDEN: u64 = 0x9E37_79B9_7F4A_7C15;

/// Scrambles 64 bits by the finaliser of SplitMix64 (Steele, Lea, Flood 2014), which is a bijection.
///
/// `0 mod p` takes residues of the scrambled order key, because the low bits of a polynomial modulo a power of two are not
/// uniform on small alphabets.
#[inline]
pub const fn mix64(x: u64) -> u64 {
    let x = (x ^ (x >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let x = (x ^ (x >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    x ^ (x >> 31)
}

/// The number whose [`mix64`] is `x`.
pub const fn unmix64(x: u64) -> u64 {
    let x = (x ^ (x >> 31) ^ (x >> 62)).wrapping_mul(0x3196_42B2_D24D_8EC3);
    let x = (x ^ (x >> 27) ^ (x >> 54)).wrapping_mul(0x96DE_1B17_3F11_9089);
    x ^ (x >> 30) ^ (x >> 60)
}

/// Replaces each number by its [`mix64`].
pub fn mix_all(numbers: &mut [u64]) {
    #[cfg(target_arch = "x86_64")]
    if let Some(avx512) = crate::machine::Avx512::detect() {
        // SAFETY: `avx512` proves the features the function is compiled for.
        return unsafe { mix_all_avx512(avx512, numbers) };
    }
    numbers.iter_mut().for_each(|number| *number = mix64(*number));
}

/// [`mix_all`] compiled for AVX-512, which multiplies eight 64-bit numbers at once.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512dq")]
fn mix_all_avx512(_: crate::machine::Avx512, numbers: &mut [u64]) {
    numbers.iter_mut().for_each(|number| *number = mix64(*number));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::fixed;
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(fixed(300))]
        #[test]
        fn unmixing_undoes_mixing(x: u64) {
            prop_assert_eq!(unmix64(mix64(x)), x);
            prop_assert_eq!(mix64(unmix64(x)), x);
        }
    }
}
