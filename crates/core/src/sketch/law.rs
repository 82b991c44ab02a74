//! The binomial and the hypergeometric law of the common elements of a sample, with accurate tails.
//!
//! A sample drawn without replacement follows the hypergeometric law. If the population is unknown, or its elements are
//! drawn independently, the law is binomial. Tails are summed from their beginning outwards, so a tail of 10^−12 has as
//! many exact digits as one of a half.
//!
//! Cost: up to nine logarithms of factorials, then one division per term; the number of terms is a few standard
//! deviations.

/// The law of the number of common elements in a sample of n.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Law {
    /// Each of n is common with probability p, independently.
    Binomial {
        /// Size of the sample.
        n: u64,
        /// The probability.
        p: f64,
    },
    /// n are drawn without replacement from `all`, of which `common` are.
    Hypergeometric {
        /// Size of the sample.
        n: u64,
        /// Size of the population.
        all: u64,
        /// Common elements of the population.
        common: u64,
    },
}

/// Terms below this share of a sum do not change it.
const NEGLIGIBLE: f64 = 1e-17;

impl Law {
    /// Size of the sample.
    fn n(self) -> u64 {
        match self {
            Self::Binomial { n, .. } | Self::Hypergeometric { n, .. } => n,
        }
    }

    /// The law of the elements that are not common.
    fn turned(self) -> Self {
        match self {
            Self::Binomial { n, p } => Self::Binomial { n, p: 1.0 - p },
            Self::Hypergeometric { n, all, common } => Self::Hypergeometric { n, all, common: all - common },
        }
    }

    /// The least and the greatest possible number.
    fn support(self) -> (u64, u64) {
        match self {
            Self::Binomial { n, p } => (if p >= 1.0 { n } else { 0 }, if p <= 0.0 { 0 } else { n }),
            Self::Hypergeometric { n, all, common } => ((n + common).saturating_sub(all), n.min(common)),
        }
    }

    fn mean(self) -> f64 {
        match self {
            Self::Binomial { n, p } => n as f64 * p,
            Self::Hypergeometric { n, all, common } => n as f64 * common as f64 / all.max(1) as f64,
        }
    }

    /// The probability of exactly `x`.
    fn mass(self, x: u64) -> f64 {
        let (least, most) = self.support();
        if x < least || x > most {
            return 0.0;
        }
        if least == most {
            return 1.0;
        }
        match self {
            Self::Binomial { n, p } => (ln_choose(n, x) + x as f64 * p.ln() + (n - x) as f64 * (-p).ln_1p()).exp(),
            Self::Hypergeometric { n, all, common } => {
                (ln_choose(common, x) + ln_choose(all - common, n - x) - ln_choose(all, n)).exp()
            }
        }
    }

    /// mass(x + 1) / mass(x), for x from the least to below the greatest.
    fn ratio(self, x: u64) -> f64 {
        let drawn = self.n() - x;
        match self {
            Self::Binomial { p, .. } => drawn as f64 * p / ((x + 1) as f64 * (1.0 - p)),
            Self::Hypergeometric { n, all, common } => {
                let others_left = (all - common + x + 1) - n;
                ((common - x) as f64 / (x + 1) as f64) * (drawn as f64 / others_left as f64)
            }
        }
    }

    /// P(X ≥ x).
    pub fn at_least(self, x: u64) -> f64 {
        let (least, most) = self.support();
        if x <= least {
            return 1.0;
        }
        if x > most {
            return 0.0;
        }
        // Below the mean the terms grow before they fall, so the complement is summed instead.
        if (x as f64) < self.mean() {
            return (1.0 - self.turned().outwards(self.n() - (x - 1))).clamp(0.0, 1.0);
        }
        self.outwards(x)
    }

    /// P(X ≤ x).
    pub fn at_most(self, x: u64) -> f64 {
        match self.n().checked_sub(x) {
            Some(rest) => self.turned().at_least(rest),
            None => 1.0,
        }
    }

    /// The sum of the probabilities from x upwards. The first is the greatest, up to a rounding of the mean.
    fn outwards(self, x: u64) -> f64 {
        let most = self.support().1;
        let (mut term, mut sum) = (self.mass(x), 0.0);
        for at in x..=most {
            sum += term;
            if at == most || term < sum * NEGLIGIBLE {
                break;
            }
            term *= self.ratio(at);
        }
        sum.min(1.0)
    }

    /// How well the law agrees with the observation `x`: the probability of its tail, plus that of the part of the
    /// other tail that is not more probable (Blaker 2000). The laws accepted at level α form an interval that covers
    /// with 1 − α.
    pub fn acceptability(self, x: u64) -> f64 {
        let (above, below) = (self.at_least(x), self.at_most(x));
        if above <= below {
            (above + self.other_tail(x, above)).min(1.0)
        } else {
            (below + self.turned().other_tail(self.n() - x, below)).min(1.0)
        }
    }

    /// The greatest P(X ≤ y) that does not exceed `tail` = P(X ≥ x).
    fn other_tail(self, x: u64, tail: f64) -> f64 {
        let least = self.support().0;
        // Tails that are equal by symmetry must stay equal despite rounding.
        let limit = tail * (1.0 + 1e-9);
        let mirrored = (2.0 * self.mean() - x as f64).max(least as f64) as u64;
        let mut y = mirrored.min(x);
        let mut other = self.at_most(y);
        while other > limit {
            if y == least {
                return 0.0;
            }
            y -= 1;
            other = self.at_most(y);
        }
        while y < x {
            let more = other + self.mass(y + 1);
            if more > limit {
                break;
            }
            (y, other) = (y + 1, more);
        }
        other
    }
}

/// The logarithm of the binomial coefficient of n and k.
fn ln_choose(n: u64, k: u64) -> f64 {
    ln_factorial(n) - ln_factorial(k) - ln_factorial(n - k)
}

/// The logarithm of n!: from 16 on Stirling's series, which is exact to the last digits; below, the product.
fn ln_factorial(n: u64) -> f64 {
    if n < 16 {
        return (2..=n).map(|i| i as f64).product::<f64>().ln();
    }
    let x = n as f64;
    let square = 1.0 / (x * x);
    let series = (1.0 / 12.0 - square * (1.0 / 360.0 - square * (1.0 / 1260.0 - square / 1680.0))) / x;
    x * x.ln() - x + 0.5 * (std::f64::consts::TAU * x).ln() + series
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::fixed;
    use proptest::prelude::*;

    fn laws() -> impl Strategy<Value = Law> {
        let binomial = (1u64..60, 0.0..=1.0).prop_map(|(n, p)| Law::Binomial { n, p });
        let hypergeometric = (1u64..80, any::<(u16, u16)>()).prop_map(|(all, (common, n))| Law::Hypergeometric {
            n: 1 + u64::from(n) % all,
            all,
            common: u64::from(common) % (all + 1),
        });
        prop_oneof![binomial, hypergeometric]
    }

    /// The binomial coefficient.
    fn choose(n: u64, k: u64) -> f64 {
        (0..k.min(n - k)).fold(1.0, |product, i| product * (n - i) as f64 / (i + 1) as f64)
    }

    fn naive(law: Law) -> Vec<f64> {
        let mass = |x: u64| match law {
            Law::Binomial { n, p } => choose(n, x) * p.powi(x as i32) * (1.0 - p).powi((n - x) as i32),
            Law::Hypergeometric { n, all, common } if x <= common && n - x <= all - common => {
                choose(common, x) * choose(all - common, n - x) / choose(all, n)
            }
            Law::Hypergeometric { .. } => 0.0,
        };
        (0..=law.n()).map(mass).collect()
    }

    fn naive_acceptability(law: Law, x: u64) -> f64 {
        let masses = naive(law);
        let smaller_tail =
            |x: usize| masses[..=x].iter().sum::<f64>().min(masses[x..].iter().sum::<f64>()) * (1.0 + 1e-9);
        let seen = smaller_tail(x as usize) * (1.0 + 1e-9);
        (0..masses.len()).filter(|y| smaller_tail(*y) <= seen).map(|y| masses[y]).sum::<f64>().min(1.0)
    }

    proptest! {
        #![proptest_config(fixed(600))]

        #[test]
        fn tails_match_naive(law in laws(), x in any::<prop::sample::Index>()) {
            let (masses, x) = (naive(law), x.index(law.n() as usize + 1));
            let (above, below) = (masses[x..].iter().sum::<f64>(), masses[..=x].iter().sum::<f64>());
            prop_assert!((law.at_least(x as u64) - above).abs() < 1e-10, "{:?} {}: {} {}", law, x, law.at_least(x as u64), above);
            prop_assert!((law.at_most(x as u64) - below).abs() < 1e-10, "{:?} {}: {} {}", law, x, law.at_most(x as u64), below);
        }

        #[test]
        fn acceptability_matches_naive(law in laws(), x in any::<prop::sample::Index>()) {
            let x = x.index(law.n() as usize + 1) as u64;
            let (found, expected) = (law.acceptability(x), naive_acceptability(law, x));
            prop_assert!((found - expected).abs() < 1e-7, "{:?} {}: {} {}", law, x, found, expected);
        }
    }

    #[test]
    fn small_tails_keep_their_digits() {
        let tail = Law::Binomial { n: 100, p: 0.5 }.at_least(91);
        assert!((tail / 1.661_024_489_726_826e-18 - 1.0).abs() < 1e-10, "{tail:e}");
    }
}
