//! Makes sketches of any kind from texts, and estimates from pairs of sketches.
//!
//! Cost: that of the shingles and of the kind. Samples sort the ids once, which also counts the distinct ones.

use super::coordinates::CoordinateMaker;
use super::estimate::{collision_bound, interval, Estimate, Population};
use super::fast::{common, merge, EMPTY};
use super::kind::{SketchKind, SketchRecipe};
use super::sample::Sample;
use super::shingle::{into_set, Shingler};
use crate::error::{Error, Result};

/// The elements of a sketch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum SketchBody {
    /// One minimum per coordinate.
    Coordinates(Vec<u64>),
    /// Some of the ids.
    Sample(Sample),
}

/// The sketch of a document, with its recipe.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sketch {
    pub(super) recipe: SketchRecipe,
    pub(super) body: SketchBody,
    /// Number of distinct shingles of the document, or an upper bound.
    pub(super) shingles: u64,
    /// Whether that number is exact.
    pub(super) is_exact: bool,
}

impl Sketch {
    /// The sketch of an empty document, from which updates start.
    pub fn empty(recipe: SketchRecipe) -> Self {
        let body = if recipe.kind.has_coordinates() {
            SketchBody::Coordinates(vec![EMPTY; recipe.size])
        } else {
            let (limit, most) = recipe.shape(0);
            SketchBody::Sample(Sample { ids: Vec::new(), limit, most })
        };
        Self { recipe, body, shingles: 0, is_exact: true }
    }

    /// Its recipe.
    pub fn recipe(&self) -> &SketchRecipe {
        &self.recipe
    }

    /// Its elements: coordinates, or ascending ids.
    pub fn values(&self) -> &[u64] {
        match &self.body {
            SketchBody::Coordinates(values) => values,
            SketchBody::Sample(sample) => &sample.ids,
        }
    }

    /// Number of shingles of the document, and whether it is exact; otherwise it is an upper bound.
    pub fn shingles(&self) -> (u64, bool) {
        (self.shingles, self.is_exact)
    }

    /// Whether the document has no shingles.
    pub fn is_empty(&self) -> bool {
        self.shingles == 0
    }

    /// Makes it the sketch of the union of both documents' shingles. Errors: recipes that differ.
    pub fn merge(&mut self, other: &Self) -> Result<()> {
        self.recipe.check_same(&other.recipe)?;
        match (&mut self.body, &other.body) {
            (SketchBody::Coordinates(mine), SketchBody::Coordinates(theirs)) => merge(mine, theirs),
            (SketchBody::Sample(mine), SketchBody::Sample(theirs)) => *mine = mine.merged(theirs),
            _ => {}
        }
        let is_same = self.is_exact && other.is_empty() || other.is_exact && self.is_empty();
        self.know(self.shingles.saturating_add(other.shingles), is_same);
        Ok(())
    }

    /// Sets a new bound on the number of shingles; a sample of all shingles gives the exact number instead.
    fn know(&mut self, shingles: u64, is_exact: bool) {
        (self.shingles, self.is_exact) = (shingles, is_exact);
        if let SketchBody::Sample(sample) = &self.body {
            if sample.is_whole() {
                (self.shingles, self.is_exact) = (sample.ids.len() as u64, true);
            }
        }
    }

    /// Number of common elements and the size of the sample, from which resemblance is estimated; `None` if a document
    /// has no shingles. Errors: recipes that differ.
    pub fn agreement(&self, other: &Self) -> Result<Option<(u64, u64)>> {
        self.recipe.check_same(&other.recipe)?;
        if self.is_empty() || other.is_empty() {
            return Ok(None);
        }
        let counts = match (&self.body, &other.body) {
            (SketchBody::Coordinates(left), SketchBody::Coordinates(right)) => {
                (common(left, right) as u64, left.len() as u64)
            }
            (SketchBody::Sample(left), SketchBody::Sample(right)) => left.of_union(right),
            _ => (0, 0),
        };
        Ok(Some(counts).filter(|(_, sample)| *sample > 0))
    }

    /// The estimated resemblance; `None` where it is undefined. Errors: recipes that differ.
    pub fn resemblance(&self, other: &Self, confidence: f64) -> Result<Option<Estimate>> {
        let Some((common, sample)) = self.agreement(other)? else { return Ok(None) };
        let is_known = self.is_exact && other.is_exact && !self.recipe.kind.has_coordinates();
        let population = match is_known {
            true => Population::Union { left: self.shingles, right: other.shingles },
            false => Population::Unknown,
        };
        let found = interval(common, sample, population, confidence);
        Ok(found.map(|found| {
            found.with_collisions(self.collision_bound(), self.union(other, found.value) as u64, confidence)
        }))
    }

    /// Number of elements of this document's sample that the other has too, and their total. Errors: as for
    /// [`Self::containment`].
    pub fn inclusion(&self, other: &Self) -> Result<Option<(u64, u64)>> {
        self.recipe.check_same(&other.recipe)?;
        match (&self.body, &other.body) {
            (SketchBody::Sample(left), SketchBody::Sample(right)) if self.recipe.kind.has_containment() => {
                let counts = (!other.is_empty()).then(|| left.of_left(right));
                Ok(counts.filter(|(_, sample)| *sample > 0))
            }
            _ => Err(Error::NoContainment { kind: self.recipe.kind.name() }),
        }
    }

    /// The estimated share of this document's shingles that the other has; `None` where it is undefined.
    ///
    /// Errors: a kind whose sample depends on both documents, or recipes that differ.
    pub fn containment(&self, other: &Self, confidence: f64) -> Result<Option<Estimate>> {
        let Some((common, sample)) = self.inclusion(other)? else { return Ok(None) };
        let population = match self.is_exact && other.is_exact {
            true => Population::Whole { size: self.shingles, other: other.shingles },
            false => Population::Unknown,
        };
        let found = interval(common, sample, population, confidence);
        Ok(found.map(|found| {
            // Collisions in the whole union, as a share of this document alone.
            let union = (self.shingles + other.shingles) as f64;
            let weight = union * union / self.shingles.max(1) as f64;
            found.with_collisions(self.collision_bound(), weight as u64, confidence)
        }))
    }

    /// The greatest probability that two different shingles have the same id. A shingle is `width` values of 64 bits;
    /// one that was given as bytes is taken to be no longer.
    pub fn collision_bound(&self) -> f64 {
        collision_bound(64 * self.recipe.shingling.width as u64, self.recipe.shingling.bits)
    }

    /// The estimated size of the union.
    fn union(&self, other: &Self, resemblance: f64) -> f64 {
        (self.shingles as f64 + other.shingles as f64) / (1.0 + resemblance)
    }
}

/// Makes the sketches of many texts with the same tables and memory.
pub struct TextSketcher {
    recipe: SketchRecipe,
    shingler: Shingler,
    /// Makes the coordinates of a kind that has some.
    maker: Option<CoordinateMaker>,
    /// Scratch memory, reused between texts.
    ids: Vec<u64>,
}

impl TextSketcher {
    /// Fills the tables. Errors: a size that the kind cannot have.
    pub fn new(recipe: SketchRecipe) -> Result<Self> {
        let maker = recipe.kind.coordinates().map(|kind| CoordinateMaker::new(kind, recipe.size)).transpose()?;
        Ok(Self { recipe, shingler: Shingler::new(recipe.shingling), maker, ids: Vec::new() })
    }

    /// Makes the sketch of a text.
    pub fn sketch(&mut self, text: &str) -> Sketch {
        let mut ids = std::mem::take(&mut self.ids);
        ids.clear();
        self.shingler.ids(text, &mut ids);
        let are_distinct = self.recipe.shingling.labelled || ids.len() <= 1;
        let made = self.sketch_of(&mut ids, are_distinct);
        self.ids = ids;
        made
    }

    /// The sketch of tokens that the caller made.
    pub fn tokens(&mut self, tokens: &[u64]) -> Sketch {
        let mut ids = Vec::new();
        self.shingler.token_ids(tokens, &mut ids);
        let are_distinct = self.recipe.shingling.labelled || ids.len() <= 1;
        self.sketch_of(&mut ids, are_distinct)
    }

    /// Fills `out`, of the recipe's size, with the coordinates of a text. Returns the number of its shingles,
    /// repetitions included. Kinds without coordinates leave `out` empty.
    pub fn coordinates(&mut self, text: &str, out: &mut [u64]) -> usize {
        let mut ids = std::mem::take(&mut self.ids);
        ids.clear();
        self.shingler.ids(text, &mut ids);
        self.fill(&ids, out);
        let count = ids.len();
        self.ids = ids;
        count
    }

    /// Adds shingles given as bytes. Errors: an adaptive sample, whose level follows from the whole document.
    pub fn update<'a>(&mut self, sketch: &mut Sketch, shingles: impl Iterator<Item = &'a [u8]>) -> Result<()> {
        if self.recipe.kind == SketchKind::Adaptive {
            return Err(Error::NoUpdate { kind: self.recipe.kind.name() });
        }
        let mut ids: Vec<u64> = shingles.map(|shingle| self.shingler.id_of_bytes(shingle)).collect();
        into_set(&mut ids);
        let more = self.sketch_of(&mut ids, true);
        sketch.merge(&more)
    }

    fn fill(&mut self, ids: &[u64], out: &mut [u64]) {
        match &mut self.maker {
            Some(maker) => maker.fill(ids, out),
            None => out.fill(EMPTY),
        }
    }

    /// Makes the sketch of ids. Samples sort them; coordinates do not, and rely on `are_distinct`.
    fn sketch_of(&mut self, ids: &mut Vec<u64>, are_distinct: bool) -> Sketch {
        let mut made = Sketch::empty(self.recipe);
        if let SketchBody::Coordinates(values) = &mut made.body {
            self.fill(ids, values);
            made.is_exact = are_distinct;
        } else {
            into_set(ids);
            let (limit, most) = self.recipe.shape(ids.len() as u64);
            made.body = SketchBody::Sample(Sample::of_set(ids, limit, most));
        }
        made.shingles = ids.len() as u64;
        made
    }
}
