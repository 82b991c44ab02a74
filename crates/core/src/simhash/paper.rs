//! The features of the paper (Manku, Jain, Das Sarma 2007, §2): stemmed words without stop words, and phrases of two
//! words.
//!
//! The language is given or detected. In an unknown language no word is a stop word and no word is stemmed. A phrase is
//! two neighbouring words that are not stop words; its value is the id of the shingle of their stems. Without an idf
//! table each feature weighs 1.
//!
//! The stems are those of the Snowball algorithms (`rust-stemmers`). Stemming needs the letters of a word while hashing
//! does not, so stems are cached by the value of the word; a text has few new words.
//!
//! Cost: about 20 ns per cached word and 200 ns per new one.

use super::idf::Idf;
use super::language::TextLanguage;
use crate::error::Result;
use crate::frontend::characters::Characters;
use crate::frontend::words::Words;
use crate::frontend::{Options, Source, Span};
use crate::hash::identity::{push_utf8, token_value};
use crate::sketch::shingle::{Shingler, Shingling};
use rust_stemmers::{Algorithm, Stemmer};
use std::collections::HashMap;
use std::sync::Arc;

/// Words read at a time.
const BLOCK: usize = 1 << 11;
/// Number of cached stems at which the cache is cleared.
const REMEMBERED: usize = 1 << 16;
/// Longest word that is stemmed, in bytes.
const LONGEST: usize = 64;

/// Parameters of the paper's features.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Paper {
    /// The language of all texts; `None` to detect it for each.
    pub language: Option<TextLanguage>,
    /// The weights of features.
    pub idf: Option<Arc<Idf>>,
}

/// Makes the features of many texts.
pub struct FeatureMaker {
    homoglyphs: bool,
    pairs: Shingler,
    stemmer: Option<(TextLanguage, Stemmer)>,
    /// The value of the stem of each word, by the value of the word, in the stemmer's language.
    stems: HashMap<u64, u64>,
    /// Scratch memory.
    id: Vec<u64>,
}

impl FeatureMaker {
    /// Makes a feature maker. Errors: never, for options that exist.
    pub fn new(options: Options) -> Result<Self> {
        let pairs = Shingler::new(Shingling::new(options, 2, false, 64)?);
        Ok(Self { homoglyphs: options.homoglyphs, pairs, stemmer: None, stems: HashMap::new(), id: Vec::new() })
    }

    /// Calls `each` with the values of the features of a text, block by block. Returns the number of words.
    pub fn features(&mut self, text: &str, language: TextLanguage, mut each: impl FnMut(&[u64])) -> usize {
        self.speak(language);
        let mut words = Words::new(text, self.homoglyphs);
        let (mut tokens, mut spans, mut values) = (Vec::new(), Vec::new(), Vec::new());
        let (mut count, mut before) = (0, None);
        loop {
            tokens.clear();
            spans.clear();
            values.clear();
            let more = words.fill(&mut tokens, &mut spans, BLOCK);
            count += tokens.len();
            for (token, span) in tokens.iter().zip(&spans) {
                let stem = (!language.is_stop_word(*token)).then(|| self.stem(*token, text, *span));
                values.extend(stem);
                values.extend(before.zip(stem).map(|(before, stem)| self.phrase(before, stem)));
                before = stem;
            }
            each(&values);
            if !more {
                return count;
            }
        }
    }

    /// Switches to the stemmer of a language.
    fn speak(&mut self, language: TextLanguage) {
        if self.stemmer.as_ref().map(|(known, _)| *known) != Some(language) {
            self.stems.clear();
            self.stemmer = algorithm(language).map(|algorithm| (language, Stemmer::create(algorithm)));
        }
    }

    /// The value of a phrase.
    fn phrase(&mut self, first: u64, second: u64) -> u64 {
        self.id.clear();
        self.pairs.token_ids(&[first, second], &mut self.id);
        self.id.first().copied().unwrap_or(first)
    }

    /// The value of the stem of a word.
    fn stem(&mut self, token: u64, text: &str, span: Span) -> u64 {
        let Some((_, stemmer)) = &self.stemmer else { return token };
        if let Some(stem) = self.stems.get(&token) {
            return *stem;
        }
        let word = canonical(&text[span.start as usize..span.end as usize], self.homoglyphs);
        let is_word = word.len() <= LONGEST && word.chars().all(char::is_alphabetic);
        let stem = if is_word { token_value(stemmer.stem(&word).as_bytes()) } else { token };
        if self.stems.len() == REMEMBERED {
            self.stems.clear();
        }
        self.stems.insert(token, stem);
        stem
    }
}

/// The canonical form of a word.
fn canonical(word: &str, homoglyphs: bool) -> String {
    let (mut codes, mut bytes) = (Vec::new(), Vec::new());
    Characters::new(word, homoglyphs).fill(&mut codes, &mut (), usize::MAX);
    codes.into_iter().for_each(|code| push_utf8(code, &mut bytes));
    String::from_utf8(bytes).unwrap_or_default()
}

/// The stemmer of a language, if there is one.
fn algorithm(language: TextLanguage) -> Option<Algorithm> {
    Some(match language.code() {
        "en" => Algorithm::English,
        "de" => Algorithm::German,
        "fr" => Algorithm::French,
        "es" => Algorithm::Spanish,
        "it" => Algorithm::Italian,
        "pt" => Algorithm::Portuguese,
        "nl" => Algorithm::Dutch,
        "sv" => Algorithm::Swedish,
        "da" => Algorithm::Danish,
        "nb" => Algorithm::Norwegian,
        "ru" => Algorithm::Russian,
        "tr" => Algorithm::Turkish,
        "ar" => Algorithm::Arabic,
        "el" => Algorithm::Greek,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frontend::Unit;
    use crate::testing::{fixed, messy_text};
    use proptest::prelude::*;

    const WORDS: Options = Options { unit: Unit::Word, homoglyphs: false };

    fn values(text: &str, code: &str) -> Vec<u64> {
        let language = TextLanguage::of_code(code).unwrap_or_default();
        let mut all = Vec::new();
        FeatureMaker::new(WORDS).expect("in range").features(text, language, |values| all.extend_from_slice(values));
        all
    }

    fn value(word: &str) -> u64 {
        token_value(word.as_bytes())
    }

    fn pair(first: &str, second: &str) -> u64 {
        let mut id = Vec::new();
        Shingler::new(Shingling::new(WORDS, 2, false, 64).expect("in range"))
            .token_ids(&[value(first), value(second)], &mut id);
        id[0]
    }

    #[test]
    fn words_are_stemmed_stop_words_go_and_neighbours_are_phrases() {
        let expected = [value("hous"), value("burn"), pair("hous", "burn"), value("citi")];
        assert_eq!(values("The houses BURNING in the cities", "en"), expected);
        assert_eq!(values("Die Häuser", "de"), [value("haus")]);
    }

    #[test]
    fn of_an_unknown_language_every_word_stays() {
        let expected = [value("the"), value("houses"), pair("the", "houses")];
        assert_eq!(values("The houses", ""), expected);
    }

    #[test]
    fn inflections_of_a_word_are_one_feature() {
        assert_eq!(values("run runs running", "en").len(), 5);
        assert_eq!(values("connection connections connected", "en")[0], values("connect", "en")[0]);
    }

    proptest! {
        #![proptest_config(fixed(600))]

        #[test]
        fn no_word_makes_a_stemmer_fail(
            text in prop_oneof![messy_text(0..8), "[a-zäöüßéèêçñåøæıİşğ]{1,20}( [a-zà-ÿ']{1,16}){0,8}", "[а-яё ]{0,60}", "[ء-ي\u{64B}-\u{652} ]{0,60}", "[α-ωά-ώ ]{0,60}"],
            place in 0usize..20,
        ) {
            let code = TextLanguage::codes().nth(place).unwrap_or("");
            let first = values(&text, code);
            prop_assert_eq!(values(&text, code), first);
        }
    }
}
