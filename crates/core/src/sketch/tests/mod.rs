//! Tests of every kind of sketch: estimates, intervals, updates, merging, bytes.

mod bytes;
mod estimators;
mod surface;

use super::kind::{SketchKind, SketchRecipe};
use super::shingle::Shingling;
use crate::frontend::{Options, Unit};

/// Words, w = 2, ids of 64 bits.
fn recipe(kind: SketchKind, size: i64, modulus: i64) -> SketchRecipe {
    recipe_with_bits(kind, size, modulus, 64)
}

fn recipe_with_bits(kind: SketchKind, size: i64, modulus: i64, bits: i64) -> SketchRecipe {
    let options = Options { unit: Unit::Word, homoglyphs: false };
    let shingling = Shingling::new(options, 2, false, bits).expect("in range");
    SketchRecipe::new(kind, size, modulus, shingling).expect("in range")
}
