//! Selection schemes: they choose the k-grams of a document that become its fingerprints. One trait, one file per scheme.
//!
//! A scheme sees k-grams as a column of order keys, never the document. [`Scheme::sample`] defines it: the k-grams taken from one
//! window. [`Scheme::select_naive`] applies the definition to every window; tests compare every fast path with it.
//! [`Scheme::selector`] is the fast path: a state machine that is fed block by block, so that a gigabyte needs only a few hundred
//! kilobytes of memory.
//!
//! K-grams are ordered by (key, identity), so only equal k-grams tie. If they were ordered by the key alone, distinct k-grams
//! could tie, the robust rule could choose differently in two copies, and the guarantee would be lost.
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

/// One k-gram, as the definitions of schemes see it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Gram {
    /// Order key; smaller keys are preferred.
    pub key: u32,
    /// Value of the fingerprint; decides between equal keys.
    pub identity: u64,
    /// The hash that residues are taken of.
    pub mixed: u64,
}

impl Gram {
    /// Returns the pair by which k-grams are ordered.
    pub fn rank(&self) -> (u32, u64) {
        (self.key, self.identity)
    }
}

/// Computes, on demand, the values of k-grams that are too expensive to compute for all of them.
pub trait Grams {
    /// Returns the identity of the k-gram at `pos`, counted from the start of the document.
    fn identity(&self, pos: usize) -> u64;
    /// Returns the hash that residues are taken of, for the k-gram at `pos` with this order key.
    fn mixed(&self, pos: usize, key: u32) -> u64;
}

/// A stretch of consecutive k-grams in memory.
pub struct Block<'a> {
    /// Order keys of the k-grams at `base`, `base + 1`, …
    pub keys: &'a [u32],
    /// Position of the first of them in the document.
    pub base: usize,
    /// Computes the other values of the k-grams in the block.
    pub grams: &'a dyn Grams,
}

impl<'a> Block<'a> {
    /// Returns the position after the last k-gram of the block.
    pub fn end(&self) -> usize {
        self.base + self.keys.len()
    }

    /// Returns the key at a position in the block.
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
    /// Appends a pick. Positions fit 32 bits, because `check_length` refuses documents of 4 GiB and more.
    #[inline(always)]
    pub fn push(&mut self, pos: usize, identity: u64) {
        self.positions.push(pos as u32);
        self.hashes.push(identity);
    }

    /// Returns the number of picks.
    pub fn len(&self) -> usize {
        self.positions.len()
    }

    /// Returns whether there are no picks.
    pub fn is_empty(&self) -> bool {
        self.positions.is_empty()
    }
}

/// A running selection over one document, fed block by block in order.
pub trait Selector {
    /// Appends the picks that are decided by the k-grams seen so far. Returns the position at which the next block must start;
    /// everything before it may be dropped.
    fn push(&mut self, block: &Block, picks: &mut Picks) -> usize;
    /// Ends the document: `block` holds the k-grams that the last [`push`](Self::push) kept, and nothing follows.
    fn finish(&mut self, block: &Block, picks: &mut Picks);
}

/// The order by which windows are sampled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// The order key as it is.
    Plain,
    /// Open before closed before other k-grams, then the key (see `compact.rs`).
    OpenClosed,
}

/// A selection scheme.
pub trait Scheme: Send + Sync {
    /// Returns the length of this scheme's windows in a document of `len` k-grams.
    fn window(&self, len: usize) -> usize;

    /// Defines the scheme: returns the ascending offsets taken from one window. `previous` is the offset, in this window, of the
    /// last k-gram taken from the window one position to the left, if it is still inside.
    fn sample(&self, window: &[Gram], previous: Option<usize>) -> Vec<usize>;

    /// Returns the order of k-grams.
    fn order(&self) -> Order {
        Order::Plain
    }

    /// Returns a new state machine that computes the same picks.
    fn selector(&self) -> Box<dyn Selector + Send>;

    /// Samples every full window; a document shorter than a window is one window. Cost: O(n·w).
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

/// A scheme by name, with its parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SchemeKind {
    /// Every k-gram.
    Every,
    /// Hashes that are 0 mod p.
    Modulo {
        /// p ≥ 1.
        modulus: u64,
    },
    /// 0 mod p, and each k-gram that ends a window of w without one.
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
    /// Makes the scheme with windows of `window` k-grams.
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

/// Hashes without tokens, for [`select_hashes`].
struct Hashes<'a>(&'a [u64]);

impl Grams for Hashes<'_> {
    fn identity(&self, pos: usize) -> u64 {
        self.0[pos]
    }

    fn mixed(&self, pos: usize, _key: u32) -> u64 {
        self.0[pos]
    }
}

/// Returns the positions that a scheme selects from given hashes, compared by value; residues are taken of the values.
///
/// A hash counts as a k-gram of one token. Every such k-gram is open, so the compact schemes equal their plain ones.
pub fn select_hashes(scheme: &dyn Scheme, hashes: &[u64]) -> Vec<u32> {
    // The key is the 32 most significant bits in use, so (key, hash) sorts like the hash, and keys seldom tie.
    let largest = hashes.iter().copied().max().unwrap_or(0);
    let shift = (u64::BITS - largest.leading_zeros()).saturating_sub(32);
    let keys: Vec<u32> = hashes.iter().map(|hash| (hash >> shift) as u32).collect();
    select(scheme, &keys, &Hashes(hashes)).positions
}

#[cfg(test)]
mod tests;
