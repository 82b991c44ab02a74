//! Detects the instructions for single bits, and represents them by a value that proves them.
//!
//! `lookalike_core::machine` has the tokens of all other instructions; this crate lies beneath it.

/// Proves BMI1, BMI2 and POPCNT: a chosen set bit of a word is found by one instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BitInstructions(());

impl BitInstructions {
    /// Returns the token if this processor has every feature of the group.
    #[inline(always)]
    pub fn detect() -> Option<Self> {
        let has_all = std::is_x86_feature_detected!("bmi1")
            && std::is_x86_feature_detected!("bmi2")
            && std::is_x86_feature_detected!("popcnt");
        has_all.then_some(Self(()))
    }
}
