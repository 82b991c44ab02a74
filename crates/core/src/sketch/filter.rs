//! Simulates filters of features: how often a pair has at least r of k equal features, each of s coordinates.
//!
//! For independent permutations that is Broder's P(k, s, r). The coordinates of a fast sketch are not independent, so
//! its curve is measured on the sketch itself.
//!
//! **Method.** A coordinate is a minimum over the shingles. Let A have all shingles of a union, and B the first of
//! them: they agree in a coordinate exactly if the minimum of the union is in B. Which of the two lacks a shingle makes
//! no difference. So one trial serves all resemblances: the shingles between two of them are sketched together, each
//! coordinate remembers the piece with its minimum, and a feature is equal from the latest of its coordinates on.
//!
//! **Cost.** Per trial one sketch for each resemblance, of the shingles that it adds: about 35 µs for 18 resemblances
//! and 84 coordinates.
//!
//! **Source.** Broder 2000, *Identifying and filtering near-duplicate documents*, §3. The shortcut is ours; tests
//! compare it with two whole sketches.

use super::fast::{Fast, EMPTY};
use crate::error::{Error, Result};
use crate::hash::mix64;
use rayon::prelude::*;

/// Trials per task; the sums do not depend on it.
const BLOCK: u64 = 128;

/// Most shingles of a simulated union.
pub const MAX_UNION: usize = 1 << 20;

/// A filter: it accepts a pair with at least `r` of `k` equal features of `s` coordinates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Filter {
    k: usize,
    s: usize,
    r: usize,
    fast: Fast,
}

impl Filter {
    /// Makes a filter. Errors: no feature, r outside 1…k, or more coordinates than a sketch can have.
    pub fn new(k: usize, s: usize, r: usize) -> Result<Self> {
        let fast = Fast::new(i64::try_from(k.saturating_mul(s)).unwrap_or(i64::MAX))?;
        if !(1..=k).contains(&r) {
            return Err(refused("r", r, format!("is not a number of equal features: use 1 ≤ r ≤ {k}")));
        }
        Ok(Self { k, s, r, fast })
    }

    /// For each number of `shared` shingles, the number of `trials` random pairs that are accepted. The union of each
    /// pair has `union` shingles.
    ///
    /// Errors: a union without shingles or beyond [`MAX_UNION`]; numbers that do not ascend or exceed the union.
    pub fn simulate(&self, union: usize, shared: &[usize], trials: u64, seed: u64) -> Result<Vec<u64>> {
        if !(1..=MAX_UNION).contains(&union) {
            return Err(refused("union", union, format!("is not a number of shingles: use 1 ≤ union ≤ {MAX_UNION}")));
        }
        if let Some(wrong) = shared.windows(2).find(|pair| pair[0] > pair[1]) {
            return Err(refused(
                "shared",
                wrong[1],
                format!("comes after {}: give the numbers in ascending order", wrong[0]),
            ));
        }
        if let Some(most) = shared.last().filter(|most| **most > union) {
            return Err(refused("shared", *most, format!("is larger than the union: use at most {union}")));
        }
        let steps = shared.len();
        let accepted = (0..trials.div_ceil(BLOCK))
            .into_par_iter()
            .map(|block| {
                let mut trial = Trial::new(self, union);
                let mut first = vec![0u64; steps + 1];
                for number in block * BLOCK..trials.min((block + 1) * BLOCK) {
                    let seed = mix64(seed ^ mix64(number));
                    first[trial.play(self, shared, seed, |ids, out| self.fast.sketch(ids, out))] += 1;
                }
                first
            })
            .reduce(|| vec![0; steps + 1], |left, right| left.iter().zip(&right).map(|(a, b)| a + b).collect());
        let mut sum = 0;
        Ok(accepted[..steps]
            .iter()
            .map(|count| {
                sum += count;
                sum
            })
            .collect())
    }
}

fn refused(name: &'static str, value: usize, reason: String) -> Error {
    Error::Parameter { name, value: i64::try_from(value).unwrap_or(i64::MAX), reason }
}

/// The memory of a trial, reused between trials.
struct Trial {
    ids: Vec<u64>,
    piece: Vec<u64>,
    /// The smallest of each coordinate so far, and the piece it came from.
    least: Vec<u64>,
    from: Vec<usize>,
    /// The piece from which on each feature is equal.
    features: Vec<usize>,
}

impl Trial {
    fn new(filter: &Filter, union: usize) -> Self {
        let size = filter.fast.size();
        Self {
            ids: vec![0; union],
            piece: vec![0; size],
            least: vec![0; size],
            from: vec![0; size],
            features: vec![0; filter.k],
        }
    }

    /// The first step at which a random pair is accepted, or the number of steps if there is none.
    ///
    /// REQUIRES: a coordinate of `sketch` is a minimum over the shingles, [`EMPTY`] over none.
    fn play(
        &mut self,
        filter: &Filter,
        shared: &[usize],
        seed: u64,
        mut sketch: impl FnMut(&[u64], &mut [u64]),
    ) -> usize {
        draw(seed, &mut self.ids);
        self.least.fill(EMPTY);
        let mut start = 0;
        for (step, end) in shared.iter().copied().chain([self.ids.len()]).enumerate() {
            sketch(&self.ids[start..end], &mut self.piece);
            start = end;
            for ((least, from), new) in self.least.iter_mut().zip(&mut self.from).zip(&self.piece) {
                if new < least {
                    (*least, *from) = (*new, step);
                }
            }
        }
        for (feature, group) in self.features.iter_mut().zip(self.from.chunks_exact(filter.s)) {
            *feature = group.iter().copied().max().unwrap_or(0);
        }
        *self.features.select_nth_unstable(filter.r - 1).1
    }
}

/// Fills `ids` with the random shingles of one trial.
fn draw(seed: u64, ids: &mut [u64]) {
    for (i, id) in ids.iter_mut().enumerate() {
        *id = mix64(seed.wrapping_add((i as u64 + 1) << 32));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sketch::permutations::Permutations;
    use crate::testing::fixed;
    use proptest::prelude::*;

    /// Sketches both documents whole and counts equal groups.
    fn naive(filter: &Filter, union: usize, shared: usize, seed: u64) -> bool {
        let mut ids = vec![0; union];
        draw(seed, &mut ids);
        // Shingles that are not shared go to the two sides alternately.
        let side = |odd| {
            let own = ids[shared..].iter().enumerate().filter(|(i, _)| i % 2 == odd).map(|(_, id)| *id);
            let all: Vec<u64> = ids[..shared].iter().copied().chain(own).collect();
            let mut sketch = vec![0; filter.fast.size()];
            filter.fast.sketch(&all, &mut sketch);
            sketch
        };
        let (left, right) = (side(0), side(1));
        let groups = left.chunks(filter.s).zip(right.chunks(filter.s));
        groups.filter(|(left, right)| left == right && left[0] != EMPTY).count() >= filter.r
    }

    proptest! {
        #![proptest_config(fixed(300))]
        #[test]
        fn a_trial_matches_two_whole_sketches(
            k in 1usize..6, s in 1usize..5, r in 0usize..6, union in 1usize..60,
            shares in prop::collection::vec(0.0f64..1.0, 0..5), seed in any::<u64>(),
        ) {
            let filter = Filter::new(k, s, 1 + r % k).expect("in range");
            let mut shared: Vec<usize> = shares.iter().map(|share| (share * (union + 1) as f64) as usize).collect();
            shared.sort_unstable();
            let first = Trial::new(&filter, union).play(&filter, &shared, seed, |ids, out| filter.fast.sketch(ids, out));
            for (step, count) in shared.iter().enumerate() {
                prop_assert_eq!(first <= step, naive(&filter, union, *count, seed), "{} of {}", count, union);
            }
        }
    }

    /// Broder's P(6, 14, 2) is exact for independent permutations: within four standard errors of 20,000 trials.
    #[test]
    fn permutations_accept_as_the_formula_says() {
        let filter = Filter::new(6, 14, 2).expect("in range");
        let permutations = Permutations::new(84).expect("in range");
        let shared = [770, 850, 909, 940, 975, 990];
        let mut trial = Trial::new(&filter, 1000);
        let (trials, mut accepted, mut scratch) = (20_000u32, [0u32; 6], Vec::new());
        for number in 0..trials {
            let sketch = |ids: &[u64], out: &mut [u64]| permutations.sketch(ids, &mut scratch, out);
            let first = trial.play(&filter, &shared, mix64(u64::from(number)), sketch);
            accepted[first.min(shared.len())..].iter_mut().for_each(|count| *count += 1);
        }
        for (count, accepted) in shared.iter().zip(accepted) {
            let q = (*count as f64 / 1000.0).powi(14);
            let formula = 1.0 - (1.0 - q).powi(6) - 6.0 * q * (1.0 - q).powi(5);
            let error = (formula * (1.0 - formula) / f64::from(trials)).sqrt();
            let share = f64::from(accepted) / f64::from(trials);
            assert!((share - formula).abs() <= 4.0 * error, "{count} of 1000: {share}, formula {formula}");
        }
    }

    #[test]
    fn nothing_shared_never_passes_and_everything_always() {
        let filter = Filter::new(6, 14, 2).expect("in range");
        assert_eq!(filter.simulate(40, &[0, 40], 300, 1), Ok(vec![0, 300]));
    }

    #[test]
    fn counts_are_the_same_at_any_number_of_threads() {
        let filter = Filter::new(6, 14, 2).expect("in range");
        let run = |threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("a pool");
            pool.install(|| filter.simulate(50, &[40, 45, 48], 1000, 7))
        };
        assert_eq!(run(1), run(3));
    }

    /// The formula gives .01106 for 31 of 40 and .49654 for 909 of 1000.
    #[test]
    fn the_fast_sketch_is_sharper_than_the_formula_on_small_sets() {
        let trials = 20_000;
        let share = |union, shared| {
            let filter = Filter::new(6, 14, 2).expect("in range");
            filter.simulate(union, &[shared], trials, 1).expect("in range")[0] as f64 / trials as f64
        };
        let (small, formula) = (share(40, 31), 0.01106);
        assert!(small < formula - 4.0 * (small / trials as f64).sqrt(), "{small}");
        let large = share(1000, 909);
        assert!((large - 0.49654).abs() < 0.02, "{large}");
    }

    #[test]
    fn what_cannot_be_simulated_is_refused() {
        let message = |result: Result<Vec<u64>>| result.expect_err("out of range").to_string();
        assert_eq!(
            Filter::new(2, 3, 3).expect_err("r > k").to_string(),
            "r `3` is not a number of equal features: use 1 ≤ r ≤ 2"
        );
        assert!(Filter::new(usize::MAX, 2, 1).is_err());
        assert!(Filter::new(0, 2, 0).is_err());
        let filter = Filter::new(2, 3, 1).expect("in range");
        assert_eq!(
            message(filter.simulate(9, &[4, 3], 1, 1)),
            "shared `3` comes after 4: give the numbers in ascending order"
        );
        assert_eq!(message(filter.simulate(9, &[10], 1, 1)), "shared `10` is larger than the union: use at most 9");
        assert!(message(filter.simulate(0, &[], 1, 1)).starts_with("union `0` is not a number of shingles"));
    }
}
