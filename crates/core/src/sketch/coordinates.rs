//! Makes the coordinates of a set of shingles, by either kind of sketch that has coordinates.
//!
//! This is the one maker for sketches of texts (`sketching.rs`), of the rows of a deduplication and of the documents of an archive, so
//! that the sketches of all three are equal. Cost: that of the kind; the memory is reused between sets.

use super::fast::Fast;
use super::permutations::Permutations;
use crate::error::Result;

/// The kinds of sketches with coordinates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Coordinates {
    /// Fast Similarity Sketching.
    Fast,
    /// Linear permutations.
    Permutations,
}

/// Makes coordinates of one kind and size.
pub struct CoordinateMaker {
    tables: Tables,
    size: usize,
    /// Scratch memory.
    narrow: Vec<u32>,
    wide: Vec<u64>,
}

enum Tables {
    Fast(Fast),
    Permutations(Permutations),
}

impl CoordinateMaker {
    /// Fills the tables. Errors: a size that no sketch can have.
    pub fn new(kind: Coordinates, size: usize) -> Result<Self> {
        let told = i64::try_from(size).unwrap_or(i64::MAX);
        let tables = match kind {
            Coordinates::Fast => Tables::Fast(Fast::new(told)?),
            Coordinates::Permutations => Tables::Permutations(Permutations::new(told)?),
        };
        Ok(Self { tables, size, narrow: Vec::new(), wide: Vec::new() })
    }

    /// Fills `out`, which has one element per coordinate, with the sketch of the ids.
    pub fn fill(&mut self, ids: &[u64], out: &mut [u64]) {
        match &self.tables {
            Tables::Fast(fast) => fast.sketch(ids, out),
            Tables::Permutations(maps) => maps.sketch(ids, &mut self.narrow, out),
        }
    }

    /// Appends the lower half of each coordinate. Comparing halves is wrong for one pair of elements in 2^32.
    pub fn halves(&mut self, ids: &[u64], out: &mut Vec<u32>) {
        let mut wide = std::mem::take(&mut self.wide);
        wide.resize(self.size, 0);
        self.fill(ids, &mut wide);
        out.extend(wide.iter().map(|element| *element as u32));
        self.wide = wide;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn coordinates_are_those_of_the_kind_and_halves_are_theirs() {
        let sets: [Vec<u64>; 3] = [vec![], vec![7], (1..300).map(crate::hash::mix64).collect()];
        let (fast, maps) = (Fast::new(40).expect("in range"), Permutations::new(40).expect("in range"));
        for kind in [Coordinates::Fast, Coordinates::Permutations] {
            let mut maker = CoordinateMaker::new(kind, 40).expect("in range");
            for ids in &sets {
                let [mut expected, mut found] = [[0; 40]; 2];
                match kind {
                    Coordinates::Fast => fast.sketch(ids, &mut expected),
                    Coordinates::Permutations => maps.sketch(ids, &mut Vec::new(), &mut expected),
                }
                maker.fill(ids, &mut found);
                assert_eq!(found, expected, "{kind:?}");
                let mut halves = vec![1];
                maker.halves(ids, &mut halves);
                assert!(halves[1..]
                    .iter()
                    .map(|half| u64::from(*half))
                    .eq(expected.iter().map(|one| one & 0xFFFF_FFFF)));
            }
        }
        assert!(CoordinateMaker::new(Coordinates::Fast, 0).is_err());
        assert!(CoordinateMaker::new(Coordinates::Permutations, usize::MAX).is_err());
    }
}
