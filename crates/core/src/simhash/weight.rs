//! Weights of features as 32-bit fixed-point integers with 16 bits after the point.
//!
//! Sums of integers do not depend on their order or on the machine, so neither does a fingerprint. The absolute value
//! of a weight is at most 2^15 and a document has fewer than 2^32 features, so a sum stays below 2^63 and does not
//! overflow.

use crate::error::{Error, Result};

/// Bits after the point.
pub const FRACTION: u32 = 16;
/// Most features a document may have; see above.
pub const MAX_FEATURES: usize = u32::MAX as usize;
/// Largest absolute value of a weight.
pub const MAX_WEIGHT: f64 = 32767.0;

/// A weight in units of 2^−16. A negative one votes for the opposite bits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Weight(pub i32);

impl Weight {
    /// The weight 1, of a feature that is only counted.
    pub const ONE: Self = Self(1 << FRACTION);

    /// The nearest fixed-point weight; halves are rounded away from zero.
    ///
    /// Errors: not a number, or beyond [`MAX_WEIGHT`].
    pub fn new(weight: f64) -> Result<Self> {
        if weight.is_nan() || weight.abs() > MAX_WEIGHT {
            return Err(Error::Weight { value: weight.to_string(), most: MAX_WEIGHT as u32 });
        }
        Ok(Self((weight * f64::from(1 << FRACTION)).round() as i32))
    }
}

/// Refuses more features than sums can hold.
pub fn check_count(features: usize) -> Result<()> {
    if features <= MAX_FEATURES {
        return Ok(());
    }
    let reason = format!("are too many for one document: use at most {MAX_FEATURES}");
    Err(Error::Parameter { name: "features", value: features as i64, reason })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_are_rounded_to_the_nearest() {
        let fixed = |weight| Weight::new(weight).expect("in range").0;
        assert_eq!([fixed(1.0), fixed(2.5), fixed(-0.25), fixed(0.0)], [65536, 163_840, -16384, 0]);
        assert_eq!([fixed(1e-9), fixed(0.5 / 65536.0), fixed(-0.5 / 65536.0)], [0, 1, -1]);
        assert_eq!([fixed(MAX_WEIGHT), fixed(-MAX_WEIGHT)], [32767 << 16, -(32767 << 16)]);
    }

    #[test]
    fn what_is_no_weight_is_refused() {
        let message = |weight: f64| Weight::new(weight).expect_err("no weight").to_string();
        assert_eq!(
            message(f64::NAN),
            "weight `NaN` cannot be counted: use a number from −32767 to 32767, such as how often the feature occurs"
        );
        assert!(message(f64::INFINITY).starts_with("weight `inf`"));
        assert!(message(-32767.5).starts_with("weight `-32767.5`"));
    }

    #[test]
    fn no_document_can_overflow_its_sums() {
        let most = i128::from(Weight::new(MAX_WEIGHT).expect("in range").0) * MAX_FEATURES as i128;
        // The sum of the definition is twice the weight of the set bits minus all weight.
        assert!(most < i128::from(i64::MAX));
    }
}
