//! Computes from texts what later stages need: a content hash, the ids of the shingles, and a sketch.
//!
//! The result depends on the batch alone. Cost: one pass that reads the words and fingerprints the shingles; 8 bytes
//! per shingle and 4 per element of the sketch.

use crate::alike::Traits;
use crate::feature_judge::put;
use lookalike_core::error::Result;
use lookalike_core::simhash::hashing::{Simhash, SimhashRecipe, Simhasher};
use lookalike_core::simhash::language::TextLanguage;
use lookalike_core::sketch::coordinates::{CoordinateMaker, Coordinates};
use lookalike_core::sketch::features::Features;
use lookalike_core::sketch::sample::limit_of_modulus;
use lookalike_core::sketch::shingle::{into_set, Shingler, Shingling};
use xxhash_rust::xxh3::xxh3_128;

/// What is kept of a document for the search.
#[derive(Clone, Debug, PartialEq)]
pub enum Sketching {
    /// Nothing: only identical texts are searched for.
    None,
    /// The shingles alone.
    Shingles,
    /// t coordinates by Fast Similarity Sketching.
    Fast {
        /// The size t.
        size: usize,
    },
    /// t coordinates by linear permutations.
    Permutations {
        /// The size t.
        size: usize,
    },
    /// Only the features of a sketch of either kind above, for [`crate::feature_judge`].
    Features {
        /// The kind of the sketch they are made of; it is not kept, and nor are the shingles.
        coordinates: Coordinates,
        /// Its size.
        size: usize,
        /// Number of features.
        k: usize,
        /// Elements per feature.
        s: usize,
    },
    /// The ids below 2^64/m: a sample that grows with the document, for containment.
    Modulo {
        /// The modulus m.
        modulus: u64,
    },
    /// The simhash, as a [`Print`].
    Simhash {
        /// How it is made.
        recipe: SimhashRecipe,
        /// Whether shingles are kept too, for verification.
        with_shingles: bool,
    },
}

/// The simhash of a row, with what limits compare.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Print {
    /// The fingerprint, if the text has one.
    pub fingerprint: Option<u64>,
    /// Number of tokens of the text.
    pub length: u32,
    /// Its language; unknown unless the recipe asks for it.
    pub language: TextLanguage,
}

impl From<Simhash> for Print {
    fn from(made: Simhash) -> Self {
        Self { fingerprint: made.fingerprint, length: made.length, language: made.language }
    }
}

/// The state of a row.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u8)]
pub enum RowState {
    /// It is compared.
    #[default]
    Compared,
    /// Its text has fewer tokens than a shingle; it is compared for identity only.
    Short,
    /// It has no text, or only white space.
    Missing,
    /// It could not be read.
    Bad,
    /// Its line is empty.
    Blank,
}

impl RowState {
    /// Whether there is a text.
    pub fn has_text(self) -> bool {
        matches!(self, Self::Compared | Self::Short)
    }
}

/// What is known of a row apart from shingles and sketch.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SignedRow {
    /// XXH3-128 of the text.
    pub content: u128,
    /// Bytes of the text.
    pub bytes: u32,
    /// Its state.
    pub state: RowState,
    /// The number that decides which row is kept; NaN if there is none.
    pub number: f64,
}

/// A batch of signed rows.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Signed {
    /// The rows, in order.
    pub rows: Vec<SignedRow>,
    /// Ids of all shingles, row by row.
    pub ids: Vec<u64>,
    /// Where the ids of each row end.
    pub id_ends: Vec<u32>,
    /// Elements of all sketches, row by row.
    pub elements: Vec<u32>,
    /// Where the elements of each row end.
    pub element_ends: Vec<u32>,
    /// The simhashes of the rows, if they are made; rows at the end without a text may lack them.
    pub prints: Vec<Print>,
    /// Rows that could not be read: their place in the batch and the reason.
    pub problems: Vec<(u32, String)>,
    /// The names of the rows, if they are kept.
    pub names: Vec<Option<String>>,
    /// The keys of the names, see [`crate::ids`], if they are read.
    pub name_keys: Vec<u64>,
    /// Rows that were read although parts of them are no characters: each part became U+FFFD.
    pub mended: Vec<u32>,
    /// Length and language of the rows, if a limit needs them; rows at the end without a text may lack them.
    pub traits: Vec<Traits>,
}

/// Which traits of a text are computed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum KeptTraits {
    /// None.
    #[default]
    None,
    /// The length.
    Length,
    /// Length and language.
    Language,
}

impl Signed {
    /// Ends a row for which ids and elements have been appended.
    fn end_row(&mut self, row: SignedRow) {
        self.rows.push(row);
        self.id_ends.push(self.ids.len() as u32);
        self.element_ends.push(self.elements.len() as u32);
    }

    /// Appends a row without a text.
    pub fn push_without(&mut self, state: RowState) {
        self.end_row(SignedRow { state, number: f64::NAN, ..SignedRow::default() });
    }

    /// Notes that the next row is mended.
    pub fn mend_next(&mut self) {
        self.mended.push(self.rows.len() as u32);
    }

    /// Appends a row that could not be read.
    pub fn push_bad(&mut self, reason: String) {
        self.problems.push((self.rows.len() as u32, reason));
        self.push_without(RowState::Bad);
    }
}

/// Signs texts; each thread has its own signer.
pub struct Signer {
    shingler: Shingler,
    sketcher: Sketcher,
    traits: KeptTraits,
    /// Scratch memory: the elements of which features are made.
    halves: Vec<u32>,
}

enum Sketcher {
    None,
    Shingles,
    Coordinates(CoordinateMaker),
    Features(CoordinateMaker, Features),
    Below(u64),
    Simhash(Box<Simhasher>, bool),
}

impl Signer {
    /// Makes a signer. Errors: a size that no sketch can have.
    pub fn new(shingling: Shingling, sketching: &Sketching) -> Result<Self> {
        let (shingler, sketcher) = (Shingler::new(shingling), Sketcher::new(sketching)?);
        Ok(Self { shingler, sketcher, traits: KeptTraits::None, halves: Vec::new() })
    }

    /// Computes these traits, too.
    pub fn keeping(self, traits: KeptTraits) -> Self {
        Self { traits, ..self }
    }

    /// Appends one text as a row. White space alone is not a text, so two such rows are not identical.
    pub fn push(&mut self, text: &str, number: f64, out: &mut Signed) {
        if text.trim_start().is_empty() {
            return out.push_without(RowState::Missing);
        }
        let from = out.ids.len();
        let mut length = 0;
        if !matches!(self.sketcher, Sketcher::None | Sketcher::Simhash(_, false)) {
            length = self.shingler.ids(text, &mut out.ids);
        }
        let is_found = match &mut self.sketcher {
            Sketcher::None => true,
            Sketcher::Simhash(hasher, with_shingles) => {
                // Texts of 4 GiB are refused by the hasher; rows are shorter.
                let print = Print::from(hasher.text(text).unwrap_or_default());
                // Rows without a text have the default.
                out.prints.resize(out.rows.len(), Print::default());
                out.prints.push(print);
                print.fingerprint.is_some() && (!*with_shingles || out.ids.len() > from)
            }
            _ => out.ids.len() > from,
        };
        if out.ids.len() > from {
            self.sketch(from, out);
        }
        if self.traits != KeptTraits::None {
            let is_told = self.traits == KeptTraits::Language;
            let language = if is_told { TextLanguage::detect(text) } else { TextLanguage::default() };
            // Rows without a text have the default.
            out.traits.resize(out.rows.len(), Traits::default());
            out.traits.push(Traits { length: length as u32, language });
        }
        let state = if is_found { RowState::Compared } else { RowState::Short };
        out.end_row(SignedRow { content: xxh3_128(text.as_bytes()), bytes: text.len() as u32, state, number });
    }

    /// Appends the sketch of the ids from `from` on.
    fn sketch(&mut self, from: usize, out: &mut Signed) {
        let ids = &out.ids[from..];
        match &mut self.sketcher {
            Sketcher::None | Sketcher::Shingles | Sketcher::Simhash(..) => {}
            Sketcher::Features(maker, features) => {
                self.halves.clear();
                maker.halves(ids, &mut self.halves);
                let mut made = Vec::new();
                features.features(&self.halves, &mut made);
                made.into_iter().for_each(|feature| put(feature, &mut out.elements));
                out.ids.truncate(from);
            }
            Sketcher::Coordinates(maker) => maker.halves(ids, &mut out.elements),
            Sketcher::Below(limit) => {
                let mut sample: Vec<u64> = ids.iter().copied().filter(|id| id < limit).collect();
                into_set(&mut sample);
                // Scaled to the full 32 bits, so that different ids stay different.
                out.elements.extend(sample.iter().map(|id| scaled(*id, *limit)));
            }
        }
    }
}

impl Sketcher {
    /// Makes a sketcher. Errors: a size that no sketch can have.
    fn new(sketching: &Sketching) -> Result<Self> {
        let of = |kind, size: &usize| CoordinateMaker::new(kind, *size);
        Ok(match sketching {
            Sketching::None => Self::None,
            Sketching::Shingles => Self::Shingles,
            Sketching::Fast { size } => Self::Coordinates(of(Coordinates::Fast, size)?),
            Sketching::Permutations { size } => Self::Coordinates(of(Coordinates::Permutations, size)?),
            Sketching::Features { coordinates, size, k, s } => {
                Self::Features(of(*coordinates, size)?, Features::new(*k, *s, 1)?)
            }
            Sketching::Modulo { modulus } => Self::Below(limit_of_modulus(*modulus)),
            Sketching::Simhash { recipe, with_shingles } => {
                Self::Simhash(Box::new(Simhasher::new(recipe)), *with_shingles)
            }
        })
    }
}

/// Scales an id below `limit` to 32 bits, keeping the order of ids.
fn scaled(id: u64, limit: u64) -> u32 {
    ((u128::from(id) << 32) / u128::from(limit.max(1))).min(u128::from(u32::MAX)) as u32
}

#[cfg(test)]
mod tests {
    use super::*;
    use lookalike_core::frontend::{Options, Unit};

    fn signed(sketching: &Sketching, texts: &[&str]) -> Signed {
        let shingling =
            Shingling::new(Options { unit: Unit::Word, homoglyphs: false }, 3, false, 64).expect("in range");
        let mut signer = Signer::new(shingling, sketching).expect("in range");
        let mut out = Signed::default();
        for text in texts {
            signer.push(text, f64::NAN, &mut out);
        }
        out
    }

    #[test]
    fn rows_do_not_depend_on_their_batch() {
        let texts = ["a b c d e", "a b", "x y z", "a b c d e f g a b c"];
        for sketching in
            [Sketching::Fast { size: 16 }, Sketching::Permutations { size: 16 }, Sketching::Modulo { modulus: 2 }]
        {
            let whole = signed(&sketching, &texts);
            let one = signed(&sketching, &texts[3..]);
            assert_eq!(&whole.ids[whole.id_ends[2] as usize..], &one.ids[..], "{sketching:?}");
            assert_eq!(&whole.elements[whole.element_ends[2] as usize..], &one.elements[..]);
            assert_eq!(whole.rows[3].content, one.rows[0].content);
            assert_eq!(whole.rows[1].state, RowState::Short);
        }
    }

    #[test]
    fn features_take_48_bytes_and_no_shingle_is_kept() {
        let texts = ["a b c d e", "a b", "x y z", "a b c d e"];
        for (coordinates, whole) in [
            (Coordinates::Fast, Sketching::Fast { size: 84 }),
            (Coordinates::Permutations, Sketching::Permutations { size: 84 }),
        ] {
            let whole = signed(&whole, &texts);
            let found = signed(&Sketching::Features { coordinates, size: 84, k: 6, s: 14 }, &texts);
            assert!(found.ids.is_empty());
            let bytes: Vec<u32> = found.element_ends.iter().map(|end| 4 * end).collect();
            assert_eq!(bytes, [48, 48, 96, 144]);
            let features = Features::new(6, 14, 2).expect("in range");
            let mut expected = Vec::new();
            whole.elements.chunks(84).for_each(|sketch| features.features(sketch, &mut expected));
            assert_eq!(crate::feature_judge::get(&found.elements).collect::<Vec<_>>(), expected);
            assert_eq!(found.rows[1].state, RowState::Short);
        }
    }

    #[test]
    fn lengths_and_languages_are_kept_if_asked_for() {
        let shingling =
            Shingling::new(Options { unit: Unit::Word, homoglyphs: false }, 3, false, 64).expect("in range");
        let of = |kept| {
            let signer = Signer::new(shingling, &Sketching::Fast { size: 16 }).expect("in range");
            let (mut signer, mut out) = (signer.keeping(kept), Signed::default());
            for text in ["this is the text of the day", "one two", " ", "un deux"] {
                signer.push(text, f64::NAN, &mut out);
            }
            out.traits.iter().map(|traits| (traits.length, traits.language.code())).collect::<Vec<_>>()
        };
        assert_eq!(of(KeptTraits::None), []);
        assert_eq!(of(KeptTraits::Length), [(7, ""), (2, ""), (0, ""), (2, "")]);
        assert_eq!(of(KeptTraits::Language)[..3], [(7, "en"), (2, ""), (0, "")]);
    }

    #[test]
    fn a_simhash_is_kept_with_or_without_shingles() {
        let options = Options { unit: Unit::Word, homoglyphs: false };
        let recipe = SimhashRecipe::new(options, 1).expect("in range");
        let texts = ["a b c d e", "a b", "?!", "x y z"];
        for with_shingles in [false, true] {
            let found = signed(&Sketching::Simhash { recipe: recipe.clone(), with_shingles }, &texts);
            let mut hasher = Simhasher::new(&recipe);
            let expected = texts.map(|text| hasher.text(text).expect("short enough"));
            let expected: Vec<Print> = expected.into_iter().map(Print::from).collect();
            assert_eq!(found.prints, expected);
            let is_compared: Vec<bool> = found.rows.iter().map(|row| row.state == RowState::Compared).collect();
            // Two words have a fingerprint but no shingle of three words.
            assert_eq!(is_compared, [true, !with_shingles, false, true]);
            assert_eq!(found.ids.is_empty(), !with_shingles);
        }
    }

    #[test]
    fn identical_texts_need_no_shingles() {
        let found = signed(&Sketching::None, &["a", "?"]);
        assert!(found.ids.is_empty() && found.rows.iter().all(|row| row.state == RowState::Compared));
        assert!(signed(&Sketching::None, &["", " \n\u{A0}"]).rows.iter().all(|row| row.state == RowState::Missing));
    }
}
