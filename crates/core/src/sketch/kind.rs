//! The kinds of sketches by name, and everything that decides what a sketch of a text is: its recipe.
//!
//! Two sketches can be compared only if their recipes are equal, so a parameter that a kind does not use has one value.

use super::fast::check_size;
use super::sample::{level_of, limit_of_level, limit_of_modulus};
use super::shingle::Shingling;
use crate::error::{Error, Result};

/// What is kept of the shingles.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum SketchKind {
    /// t coordinates in one pass.
    Fast = 0,
    /// t coordinates by t permutations.
    Permutations = 1,
    /// The s smallest: MIN_s.
    Smallest = 2,
    /// One in m: MOD_m.
    Modulo = 3,
    /// The s smallest of one in m.
    SmallestModulo = 4,
    /// One in a power of two that follows from the document's size: L_i.
    Adaptive = 5,
}

/// Every kind with the name that users give; the place is the number that is stored.
pub const KINDS: [(SketchKind, &str); 6] = [
    (SketchKind::Fast, "fast"),
    (SketchKind::Permutations, "permutations"),
    (SketchKind::Smallest, "smallest"),
    (SketchKind::Modulo, "modulo"),
    (SketchKind::SmallestModulo, "smallest-modulo"),
    (SketchKind::Adaptive, "adaptive"),
];

impl SketchKind {
    /// Its name.
    pub fn name(self) -> &'static str {
        KINDS[self as usize].1
    }

    /// Whether it has a fixed number of coordinates, so that sketches fill a matrix.
    pub fn has_coordinates(self) -> bool {
        matches!(self, Self::Fast | Self::Permutations)
    }

    /// Whether containment can be estimated from it.
    pub fn has_containment(self) -> bool {
        matches!(self, Self::Modulo | Self::Adaptive)
    }

    fn has_size(self) -> bool {
        !self.has_containment()
    }

    fn has_modulus(self) -> bool {
        matches!(self, Self::Modulo | Self::SmallestModulo)
    }
}

/// Everything that decides what the sketch of a text is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SketchRecipe {
    /// What is kept.
    pub kind: SketchKind,
    /// Most elements; 0 where the kind has no such limit.
    pub size: usize,
    /// m of MOD_m; 1 for kinds without.
    pub modulus: u64,
    /// Of which shingles.
    pub shingling: Shingling,
}

impl SketchRecipe {
    /// Errors: a size or modulus that the kind needs and cannot have.
    pub fn new(kind: SketchKind, size: i64, modulus: i64, shingling: Shingling) -> Result<Self> {
        let size = if kind.has_size() { check_size(size)? } else { 0 };
        if kind.has_modulus() && modulus < 1 {
            let reason = "keeps no shingle: one in modulus is kept; use modulus ≥ 1".to_owned();
            return Err(Error::Parameter { name: "modulus", value: modulus, reason });
        }
        let modulus = if kind.has_modulus() { modulus as u64 } else { 1 };
        Ok(Self { kind, size, modulus, shingling })
    }

    /// The greatest id kept of a document with so many distinct shingles, and the most elements.
    pub(super) fn shape(&self, distinct: u64) -> (u64, Option<usize>) {
        let limit = match self.kind {
            SketchKind::Adaptive => limit_of_level(level_of(distinct)),
            _ => limit_of_modulus(self.modulus),
        };
        (limit, self.kind.has_size().then_some(self.size))
    }

    /// Refuses another recipe and says what differs.
    pub fn check_same(&self, other: &Self) -> Result<()> {
        let said = |recipe: &Self| {
            let (s, o) = (recipe.shingling, recipe.shingling.options);
            [
                ("sketch", recipe.kind.name().to_owned()),
                ("size", recipe.size.to_string()),
                ("modulus", recipe.modulus.to_string()),
                ("shingle", s.width.to_string()),
                ("unit", format!("{:?}", o.unit).to_lowercase()),
                ("labelled", s.labelled.to_string()),
                ("bits", s.bits.to_string()),
                ("homoglyphs", o.homoglyphs.to_string()),
            ]
        };
        let differs = said(self).into_iter().zip(said(other)).find(|(left, right)| left != right);
        match differs {
            None => Ok(()),
            Some(((what, left), (_, right))) => Err(Error::Unlike { what, left, right }),
        }
    }
}
