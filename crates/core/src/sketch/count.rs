//! Estimates how many distinct shingles a sketch has seen, if they were not counted.
//!
//! | kind | estimate | relative error |
//! |---|---|---|
//! | coordinates | each gives the time at which the first of n arrives, exponential with rate n: (t − 1)/Σ | 1/√(t − 2) |
//! | the s smallest | s − 1 over the greatest, as a share of all ids | 1/√(s − 2) |
//! | one in m | m times as many | √(m/n) |

use super::fast::EMPTY;
use super::kind::SketchKind;
use super::sketching::{Sketch, SketchBody};

/// A value as a share of its range: ids lie in 0…2^64 − 1, images of permutations in 0…2^32 − 1, orders of the fast
/// sketch in 0…2^48 − 1.
fn share(value: u64, bits: i32) -> f64 {
    (value as f64 + 0.5) * f64::from(-bits).exp2()
}

impl Sketch {
    /// Number of distinct shingles: exact if known, otherwise an estimate.
    pub fn count(&self) -> f64 {
        let (shingles, is_exact) = self.shingles();
        if is_exact {
            return shingles as f64;
        }
        match &self.body {
            SketchBody::Coordinates(values) if values.len() < 2 || values.contains(&EMPTY) => shingles as f64,
            SketchBody::Coordinates(values) => {
                let time = |value: &u64| match self.recipe().kind {
                    SketchKind::Fast => fast_time(*value, values.len()),
                    _ => -(-share(*value, 32)).ln_1p(),
                };
                (values.len() - 1) as f64 / values.iter().map(time).sum::<f64>()
            }
            SketchBody::Sample(sample) => match (sample.most, sample.ids.last()) {
                (Some(most), Some(last)) if sample.ids.len() == most && most > 1 => {
                    (most - 1) as f64 / share(*last, 64)
                }
                _ => sample.ids.len() as f64 / share(sample.limit, 64),
            },
        }
    }
}

/// In each of the first t rounds a shingle comes to this bin with probability 1/t, in its last round with certainty.
/// Returns the negative logarithm of the probability that a shingle has not come before this value.
fn fast_time(value: u64, size: usize) -> f64 {
    let (round, order) = ((value >> 48) as usize, share(value & ((1 << 48) - 1), 48));
    let chance = 1.0 / size as f64;
    let passed = round.min(size) as f64 * -(-chance).ln_1p();
    passed - if round < size { (-order * chance).ln_1p() } else { (-order).ln_1p() }
}

#[cfg(test)]
mod tests {
    use crate::frontend::{Options, Unit};
    use crate::sketch::kind::{SketchKind, SketchRecipe, KINDS};
    use crate::sketch::shingle::Shingling;
    use crate::sketch::sketching::{Sketch, TextSketcher};

    #[test]
    fn counts_are_within_four_standard_errors() {
        let options = Options { unit: Unit::Word, homoglyphs: false };
        let shingling = Shingling::new(options, 1, false, 64).expect("in range");
        for (kind, name) in KINDS.into_iter().filter(|(kind, _)| *kind != SketchKind::Adaptive) {
            let recipe = SketchRecipe::new(kind, 256, 4, shingling).expect("in range");
            for n in [1u32, 2, 30, 1000, 20_000] {
                let shingles: Vec<[u8; 4]> = (0..n).map(u32::to_le_bytes).collect();
                let mut sketch = Sketch::empty(recipe);
                let mut maker = TextSketcher::new(recipe).expect("in range");
                for half in shingles.chunks(n.div_ceil(2) as usize) {
                    maker.update(&mut sketch, half.iter().map(<[u8; 4]>::as_slice)).expect("allowed");
                }
                let (found, n) = (sketch.count(), f64::from(n));
                let error = ((recipe.modulus - 1) as f64 / n).sqrt().max(1.0 / 16.0);
                assert!((found / n - 1.0).abs() <= 4.0 * error, "{name}: {found} of {n}");
            }
        }
    }
}
