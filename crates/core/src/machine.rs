//! Detects processor features and represents each detected group by a value that proves it.
//!
//! A token such as [`Avx2`] can only be made by its `detect` function, which returns `None` on a processor without the features.
//! Code that holds a token may therefore run these instructions. Kernels take a token where they run such
//! instructions, so no safe function can reach an instruction that the processor lacks.
//!
//! Tokens have no size: passing one costs nothing. The standard library caches what the processor reports, so `detect` is one
//! load and one test per feature. On other architectures there are no tokens, and the portable code runs.

#[cfg(target_arch = "x86_64")]
pub use x86::{Avx2, Avx512, Carryless, CountAvx512, PackAvx512, WideCarryless};

#[cfg(target_arch = "x86_64")]
mod x86 {
    /// Declares a token for a group of features, and its detection.
    macro_rules! token {
        ($(#[$doc:meta])* $name:ident: $($feature:tt),+) => {
            $(#[$doc])*
            #[derive(Clone, Copy, Debug, PartialEq, Eq)]
            pub struct $name(());

            impl $name {
                /// Returns the token if this processor has every feature of the group.
                #[inline(always)]
                pub fn detect() -> Option<Self> {
                    ($(std::is_x86_feature_detected!($feature))&&+).then_some(Self(()))
                }
            }
        };
    }

    token! {
        /// Proves AVX2, BMI1 and POPCNT: vectors of 32 bytes, and bits counted and scanned by one instruction.
        Avx2: "avx2", "bmi1", "popcnt"
    }
    token! {
        /// Proves AVX-512 F, BW, DQ and VL: vectors of 64 bytes with masks, and products of 64 bits.
        Avx512: "avx512f", "avx512bw", "avx512dq", "avx512vl"
    }
    token! {
        /// Proves AVX-512 F and VPOPCNTDQ, and POPCNT: the bits of eight words are counted by one instruction.
        CountAvx512: "avx512f", "avx512vpopcntdq", "popcnt"
    }
    token! {
        /// Proves AVX-512 F, BW, DQ and VBMI2, and BMI1, BMI2, LZCNT and POPCNT: chosen bytes of a vector are moved together.
        PackAvx512: "avx512f", "avx512bw", "avx512dq", "avx512vbmi2", "bmi1", "bmi2", "lzcnt", "popcnt"
    }
    token! {
        /// Proves PCLMULQDQ and SSE 4.1: one carry-less product of 64 bits per instruction.
        Carryless: "pclmulqdq", "sse4.1"
    }
    token! {
        /// Proves VPCLMULQDQ and AVX2: two carry-less products of 64 bits per instruction.
        WideCarryless: "vpclmulqdq", "avx2"
    }
}
