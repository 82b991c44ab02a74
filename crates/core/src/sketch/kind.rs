//! The kinds of sketches by name, and the recipe, which determines the sketch of a text.
//!
//! Two sketches can be compared only if their recipes are equal, so a parameter that a kind does not use has a fixed
//! value.

use super::coordinates::Coordinates;
use super::fast::check_size;
use super::sample::{level_of, limit_of_level, limit_of_modulus};
use super::shingle::Shingling;
use crate::error::{Error, Result};

/// Which part of the shingles a sketch keeps.
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
    /// One in 2^i, where i follows from the document's size: L_i.
    Adaptive = 5,
}

/// Every kind with its public name; its place is the stored number.
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

    /// The kind of its coordinates, if it has any.
    pub fn coordinates(self) -> Option<Coordinates> {
        match self {
            Self::Fast => Some(Coordinates::Fast),
            Self::Permutations => Some(Coordinates::Permutations),
            _ => None,
        }
    }

    /// Whether it has a fixed number of coordinates, so that sketches fill a matrix.
    pub fn has_coordinates(self) -> bool {
        self.coordinates().is_some()
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

/// Everything that determines the sketch of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SketchRecipe {
    /// The kind.
    pub kind: SketchKind,
    /// Most elements; 0 if the kind has no limit.
    pub size: usize,
    /// The m of MOD_m; 1 for other kinds.
    pub modulus: u64,
    /// The shingles.
    pub shingling: Shingling,
}

impl SketchRecipe {
    /// Makes a recipe. Errors: a size or modulus that the kind uses is out of range.
    pub fn new(kind: SketchKind, size: i64, modulus: i64, shingling: Shingling) -> Result<Self> {
        let size = if kind.has_size() { check_size(size)? } else { 0 };
        if kind.has_modulus() && modulus < 1 {
            let reason = "keeps no shingle: one in modulus is kept; use modulus ≥ 1".to_owned();
            return Err(Error::Parameter { name: "modulus", value: modulus, reason });
        }
        let modulus = if kind.has_modulus() { modulus as u64 } else { 1 };
        Ok(Self { kind, size, modulus, shingling })
    }

    /// The greatest id and the most elements kept of a document with `distinct` distinct shingles.
    pub(super) fn shape(&self, distinct: u64) -> (u64, Option<usize>) {
        let limit = match self.kind {
            SketchKind::Adaptive => limit_of_level(level_of(distinct)),
            _ => limit_of_modulus(self.modulus),
        };
        (limit, self.kind.has_size().then_some(self.size))
    }

    /// Errors: the recipes differ; the error says in what.
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
