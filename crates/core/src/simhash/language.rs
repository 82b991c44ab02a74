//! Detects the language of a text by its function words, or by its script if the script has one language.
//!
//! The first words of a text vote: each function word of `stop_words.rs` votes for all languages that have it. The
//! winner needs a minimum share of all words and a lead over the next language. Otherwise the script of most letters
//! decides, if only one language usually uses it. Otherwise the language is unknown: this holds for lists of names and
//! numbers, and for languages not covered here.
//!
//! Cost: reading up to [`LOOKED_AT`] words. An n-gram library is not used: it names a language for every text and needs
//! megabytes of tables.

use super::stop_words::STOP_WORDS;
use crate::frontend::words::Words;
use crate::frontend::Source;
use std::collections::HashMap;
use std::sync::OnceLock;

/// Most words that are read.
pub const LOOKED_AT: usize = 2048;
/// Least share of all words that are function words of the language.
const SHARE: f64 = 0.1;
/// Least ratio of its votes to those of the next language.
const LEAD: f64 = 1.15;
/// Most letters that are read to find the script.
const LETTERS: usize = 2048;

/// Languages detected by their script; in the list of all they follow those with function words.
const BY_SCRIPT: [&str; 6] = ["ja", "ko", "zh", "th", "el", "he"];
/// The code of an unknown language.
pub const UNKNOWN: &str = "";

/// A language, by its place in the list of all; 0 is unknown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TextLanguage(u8);

impl TextLanguage {
    /// The ISO 639-1 codes of all languages that can be detected.
    pub fn codes() -> impl Iterator<Item = &'static str> {
        STOP_WORDS.iter().map(|(code, _)| *code).chain(BY_SCRIPT)
    }

    /// The language with a code, if it can be detected.
    pub fn of_code(code: &str) -> Option<Self> {
        Self::codes().position(|known| known == code).map(|place| Self(place as u8 + 1))
    }

    /// Its code, empty if it is unknown.
    pub fn code(self) -> &'static str {
        usize::from(self.0).checked_sub(1).and_then(|place| Self::codes().nth(place)).unwrap_or(UNKNOWN)
    }

    /// Its number, as stored in columns.
    pub fn number(self) -> u8 {
        self.0
    }

    /// The language with this number; unknown for any other.
    pub fn of_number(number: u8) -> Self {
        if usize::from(number) <= Self::codes().count() {
            Self(number)
        } else {
            Self::default()
        }
    }

    /// Whether a word, by its token value, is a function word of the language.
    pub fn is_stop_word(self, value: u64) -> bool {
        let place = u32::from(self.0).wrapping_sub(1);
        votes().get(&value).is_some_and(|languages| languages.checked_shr(place).unwrap_or(0) & 1 == 1)
    }

    /// Detects the language of a text.
    pub fn detect(text: &str) -> Self {
        let mut words = Vec::with_capacity(LOOKED_AT);
        Words::new(text, false).fill(&mut words, &mut (), LOOKED_AT);
        words.truncate(LOOKED_AT);
        by_words(&words).unwrap_or_else(|| by_script(text))
    }
}

/// For each function word, the languages that have it, one bit each.
fn votes() -> &'static HashMap<u64, u32> {
    static VOTES: OnceLock<HashMap<u64, u32>> = OnceLock::new();
    VOTES.get_or_init(|| {
        let mut votes = HashMap::new();
        for (place, (_, words)) in STOP_WORDS.iter().enumerate() {
            let mut values = Vec::new();
            Words::new(words, false).fill(&mut values, &mut (), usize::MAX);
            values.into_iter().for_each(|value| *votes.entry(value).or_insert(0) |= 1 << place);
        }
        votes
    })
}

fn by_words(words: &[u64]) -> Option<TextLanguage> {
    let mut counts = [0u32; STOP_WORDS.len()];
    for languages in words.iter().filter_map(|word| votes().get(word)) {
        for (place, count) in counts.iter_mut().enumerate() {
            *count += languages >> place & 1;
        }
    }
    let best = (0..counts.len()).max_by_key(|place| (counts[*place], std::cmp::Reverse(*place)))?;
    let next = (0..counts.len()).filter(|place| *place != best).map(|place| counts[place]).max()?;
    let is_clear = f64::from(counts[best]) >= (SHARE * words.len() as f64).max(LEAD * f64::from(next)).max(1.0);
    is_clear.then_some(TextLanguage(best as u8 + 1))
}

fn by_script(text: &str) -> TextLanguage {
    let mut counts = [0u32; BY_SCRIPT.len()];
    let mut letters = 0;
    for letter in text.chars().filter(|c| c.is_alphabetic()).take(LETTERS) {
        letters += 1;
        if let Some(place) = script_of(letter) {
            counts[place] += 1;
        }
    }
    let [japanese, korean, chinese, ..] = counts;
    // Japanese uses Chinese characters and some of its own; Chinese uses none of those.
    let (japanese, chinese) = if 20 * japanese > chinese { (japanese + chinese, 0) } else { (0, chinese) };
    let counts = [japanese, korean, chinese, counts[3], counts[4], counts[5]];
    let best = (0..counts.len()).find(|place| 2 * counts[*place] > letters);
    best.map_or(TextLanguage(0), |place| TextLanguage((STOP_WORDS.len() + place) as u8 + 1))
}

/// The place in [`BY_SCRIPT`] of the language that uses a letter.
fn script_of(letter: char) -> Option<usize> {
    match u32::from(letter) {
        0x3041..=0x30FF | 0x31F0..=0x31FF | 0xFF66..=0xFF9D => Some(0),
        0x1100..=0x11FF | 0x3130..=0x318F | 0xAC00..=0xD7FF => Some(1),
        0x3400..=0x4DBF | 0x4E00..=0x9FFF | 0xF900..=0xFAFF | 0x20000..=0x323AF => Some(2),
        0x0E00..=0x0E7F => Some(3),
        0x0370..=0x03FF | 0x1F00..=0x1FFF => Some(4),
        0x0590..=0x05FF => Some(5),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn languages_are_told_by_their_function_words_or_script() {
        for (code, text) in [
            ("en", "It was the best of times, it was the worst of times, and we had everything before us."),
            ("de", "Der Zug ist heute nicht pünktlich, weil auf der Strecke ein Baum liegt."),
            ("fr", "Le train n'est pas à l'heure parce qu'un arbre est tombé sur la voie."),
            ("es", "El tren no llega a la hora porque hay un árbol en la vía."),
            ("it", "Il treno non è in orario perché un albero è caduto sui binari della linea."),
            ("pt", "O trem não chegou na hora porque uma árvore caiu sobre a linha."),
            ("nl", "De trein is niet op tijd, want er ligt een boom op het spoor."),
            ("sv", "Tåget är inte i tid eftersom det ligger ett träd på spåret, och vi måste vänta här."),
            ("ru", "Поезд опоздал, потому что на пути упало дерево, и мы его ждали."),
            ("tr", "Tren geç kaldı çünkü yola bir ağaç düştü ve biz çok bekledik."),
            ("ar", "تأخر القطار في المحطة لأن شجرة سقطت على السكة من الجانب"),
            ("ja", "線路に木が倒れたため、電車が遅れました。"),
            ("zh", "因为一棵树倒在铁轨上,火车晚点了。"),
            ("ko", "나무가 선로에 쓰러져서 기차가 늦었습니다."),
            ("th", "รถไฟมาช้าเพราะต้นไม้ล้มบนราง"),
            ("el", "Το τρένο άργησε γιατί έπεσε ένα δέντρο."),
            ("he", "הרכבת איחרה כי עץ נפל על המסילה"),
        ] {
            assert_eq!(TextLanguage::detect(text).code(), code, "{text}");
        }
    }

    #[test]
    fn what_is_not_clear_is_unknown() {
        for text in
            ["", "12 34", "Berlin Paris London Madrid", "zzz qqq xxx", "Vlak má zpoždění kvůli stromu", "foo(bar[1]);"]
        {
            assert_eq!(TextLanguage::detect(text), TextLanguage(0), "{text}");
        }
    }

    #[test]
    fn codes_go_both_ways_and_numbers_follow_them() {
        for (place, code) in (1..).zip(TextLanguage::codes()) {
            let language = TextLanguage::of_code(code).expect("known");
            assert_eq!((language.code(), language.number()), (code, place));
        }
        assert_eq!((TextLanguage::of_code("xx"), TextLanguage(0).code()), (None, ""));
    }

    #[test]
    fn every_list_is_of_function_words_of_its_own() {
        for (code, words) in STOP_WORDS {
            let count = words.split_whitespace().count();
            assert!((40..=160).contains(&count), "{code} has {count}");
            let language = TextLanguage::of_code(code).expect("known");
            let mut values = Vec::new();
            Words::new(words, false).fill(&mut values, &mut (), usize::MAX);
            assert!(values.iter().all(|value| language.is_stop_word(*value)));
            assert!(!language.is_stop_word(1));
        }
        assert!(!TextLanguage(0).is_stop_word(crate::hash::identity::token_value(b"the")));
    }
}
