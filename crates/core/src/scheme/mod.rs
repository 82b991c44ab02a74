//! Schemes: which k-grams of a document become its fingerprints. One trait, one file a scheme.
//!
//! A scheme sees k-grams as a column of order keys and never a document. It is *defined* by [`Scheme::sample`], what it
//! takes from one window; [`Scheme::select_naive`] applies that to every window and is the oracle of every fast path.
//! What runs is [`Scheme::selector`]: a state machine that is fed blocks, so that a gigabyte passes through a few
//! hundred kilobytes.
//!
//! A tie is a tie of k-grams: order is by (key, identity), so distinct k-grams never tie, however narrow the key. With
//! the key alone the robust rule would choose differently in two copies and lose the guarantee.
//!
//! Source: Schleimer, Wilkerson, Aiken 2003, §3–5, doi:10.1145/872757.872770.

mod compact;
mod every;
mod minimum;
mod modulo;
mod safe_modulo;
mod smallest;
mod winnow;

pub use compact::{open_closed_keys, Compact};
pub use every::Every;
pub use modulo::{modulus_at_density_of_winnowing, Modulo};
pub use safe_modulo::{modulus_of_least_density, SafeModulo};
pub use smallest::Smallest;
pub use winnow::Winnow;

/// One k-gram as the definitions see it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Gram {
    /// Order key; small is preferred.
    pub key: u32,
    /// Value of the fingerprint; decides between equal keys.
    pub identity: u64,
    /// The hash that residues are taken of.
    pub mixed: u64,
}

impl Gram {
    /// What the order compares.
    pub fn rank(&self) -> (u32, u64) {
        (self.key, self.identity)
    }
}

/// Where a block's k-grams come from: what is too dear to compute for all of them.
pub trait Grams {
    /// The identity of the k-gram at `pos`, counted from the start of the document.
    fn identity(&self, pos: usize) -> u64;
    /// The hash that residues are taken of, for the k-gram at `pos` with this order key.
    fn mixed(&self, pos: usize, key: u32) -> u64;
}

/// A stretch of consecutive k-grams in memory.
pub struct Block<'a> {
    /// Order keys of the k-grams at `base`, `base + 1`, …
    pub keys: &'a [u32],
    /// Position of the first of them in the document.
    pub base: usize,
    /// Their source; answers for every position in the block.
    pub grams: &'a dyn Grams,
}

impl<'a> Block<'a> {
    /// Position after the last k-gram of the block.
    pub fn end(&self) -> usize {
        self.base + self.keys.len()
    }

    /// The key at a position in the block.
    #[inline(always)]
    fn key(&self, pos: usize) -> u32 {
        self.keys[pos - self.base]
    }
}

/// Selected k-grams: positions ascending, and the identity at each.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Picks {
    /// Position of the k-gram, counted in k-grams (that is, in tokens).
    pub positions: Vec<u32>,
    /// Its identity.
    pub hashes: Vec<u64>,
}

impl Picks {
    /// Appends a pick. Positions fit 32 bits because documents of 4 GiB and more are refused before.
    #[inline(always)]
    pub fn push(&mut self, pos: usize, identity: u64) {
        self.positions.push(pos as u32);
        self.hashes.push(identity);
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.positions.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.positions.is_empty()
    }
}

/// A running selection over one document, fed block by block in order.
pub trait Selector {
    /// Appends what the k-grams seen so far decide, and returns the first position that must stand at the front of
    /// the next block: everything before it may be forgotten.
    fn push(&mut self, block: &Block, picks: &mut Picks) -> usize;
    /// Says that `block`, what the last [`push`](Self::push) kept, is all that is left of the document.
    fn finish(&mut self, block: &Block, picks: &mut Picks);
}

/// Which order the windows are sampled under.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// The order key as it is.
    Plain,
    /// Open before closed before other k-grams, then the key (see `compact.rs`).
    OpenClosed,
}

/// A way to choose fingerprints.
pub trait Scheme: Send + Sync {
    /// Length of the windows this scheme looks at, in a document of `len` k-grams.
    fn window(&self, len: usize) -> usize;

    /// The definition: offsets that are taken from one window, ascending. `previous` is the offset in this window of what
    /// the window one position to the left took last, if that is still inside.
    fn sample(&self, window: &[Gram], previous: Option<usize>) -> Vec<usize>;

    /// The order of k-grams.
    fn order(&self) -> Order {
        Order::Plain
    }

    /// A fresh state machine that computes the same picks.
    fn selector(&self) -> Box<dyn Selector + Send>;

    /// Every full window sampled, literally; a document shorter than a window is one window. Cost: O(n·w).
    fn select_naive(&self, grams: &[Gram]) -> Vec<usize> {
        let window = self.window(grams.len()).min(grams.len());
        let mut taken = std::collections::BTreeSet::new();
        let mut last: Option<usize> = None;
        for start in 0..(grams.len() + 1).saturating_sub(window.max(1)) {
            let previous = last.and_then(|pos| pos.checked_sub(start));
            for offset in self.sample(&grams[start..start + window], previous) {
                taken.insert(start + offset);
                last = Some(start + offset);
            }
        }
        taken.into_iter().collect()
    }
}

/// The schemes by name, with the numbers each of them needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SchemeKind {
    /// Every k-gram.
    Every,
    /// Hashes that are 0 mod p.
    Modulo {
        /// p ≥ 1.
        modulus: u64,
    },
    /// 0 mod p, and everything where a gap of w opens.
    SafeModulo {
        /// p ≥ 1.
        modulus: u64,
    },
    /// The minimum of each window, the rightmost on ties.
    Winnow,
    /// The minimum of each window, the previous choice on ties.
    Robust,
    /// Winnowing under the open-closed order.
    Compact,
    /// Robust winnowing under the open-closed order.
    CompactRobust,
    /// The n smallest of the document.
    Smallest {
        /// n ≥ 1.
        count: usize,
    },
}

impl SchemeKind {
    /// The scheme with windows of `window` k-grams.
    pub fn scheme(self, window: usize) -> Box<dyn Scheme> {
        match self {
            Self::Every => Box::new(Every),
            Self::Modulo { modulus } => Box::new(Modulo { modulus }),
            Self::SafeModulo { modulus } => Box::new(SafeModulo { window, modulus }),
            Self::Winnow => Box::new(Winnow { window, robust: false }),
            Self::Robust => Box::new(Winnow { window, robust: true }),
            Self::Compact => Box::new(Compact(Winnow { window, robust: false })),
            Self::CompactRobust => Box::new(Compact(Winnow { window, robust: true })),
            Self::Smallest { count } => Box::new(Smallest { count }),
        }
    }
}

/// Runs a scheme over a whole column of keys held in memory.
pub fn select(scheme: &dyn Scheme, keys: &[u32], grams: &dyn Grams) -> Picks {
    let mut picks = Picks::default();
    let mut selector = scheme.selector();
    let keep = selector.push(&Block { keys, base: 0, grams }, &mut picks);
    selector.finish(&Block { keys: &keys[keep.min(keys.len())..], base: keep, grams }, &mut picks);
    picks
}

/// A bare sequence of hashes, ordered by value: what [`select_hashes`] runs schemes on.
struct Hashes<'a>(&'a [u64]);

impl Grams for Hashes<'_> {
    fn identity(&self, pos: usize) -> u64 {
        self.0[pos]
    }

    fn mixed(&self, pos: usize, _key: u32) -> u64 {
        self.0[pos]
    }
}

/// Positions a scheme selects from given hashes, taken as they are: compared by value, residues of the value itself.
///
/// A hash without its tokens is a k-gram of one token, whose smallest part is the whole of it: every k-gram is open,
/// and the compact schemes equal their plain ones.
pub fn select_hashes(scheme: &dyn Scheme, hashes: &[u64]) -> Vec<u32> {
    // The key is the 32 most significant bits in use, so (key, hash) sorts as the hash does and keys seldom tie.
    let largest = hashes.iter().copied().max().unwrap_or(0);
    let shift = (u64::BITS - largest.leading_zeros()).saturating_sub(32);
    let keys: Vec<u32> = hashes.iter().map(|hash| (hash >> shift) as u32).collect();
    select(scheme, &keys, &Hashes(hashes)).positions
}

#[cfg(test)]
mod tests;
