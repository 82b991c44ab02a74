//! Turns files into entries of the matcher: tokens and exact texts become small numbers, equal for equal ones in all files.
//!
//! Exact texts are numbered by the texts themselves, so no collision of hashes makes two of them equal.

use crate::reachability;
use crate::submitted_file::{FilePart, SubmittedFile, Tokens};
use lookalike_code::reachable::Everything;
use lookalike_core::matching::entry::{Entry, EntryPart, Literal, Pick, SEPARATOR};
use lookalike_core::matching::weigh::UNIT;
use std::collections::HashMap;
use std::sync::Arc;

/// Weight of a letter of prose. A token of code has about five letters.
const LETTER: u32 = UNIT / 5;
/// Numbers below this are code points of prose.
const FIRST_NUMBER: u32 = 0x11_0000;

/// A submission of several files, and the position of each file among its tokens.
#[derive(Debug)]
pub struct Submission {
    /// Its files, in order.
    pub files: Vec<Arc<SubmittedFile>>,
    /// For each part of each file: file, part, first token.
    pub parts: Vec<(u32, u32, u32)>,
    /// The reason why all of its code counts as reachable, if it was not analysed.
    pub everything: Option<Everything>,
}

/// Numbers the distinct tokens and exact texts in the order in which they are first seen.
#[derive(Default)]
pub struct TokenNumbers {
    numbers: HashMap<u64, u32>,
    texts: HashMap<Box<[u8]>, u32>,
    languages: HashMap<String, u32>,
    passages: HashMap<String, u32>,
}

impl TokenNumbers {
    /// Starts with the least worth of strong passages, in tokens, by language. Others have no strong passages.
    pub fn new(passages: HashMap<String, u32>) -> Self {
        Self { passages, ..Self::default() }
    }

    fn number(&mut self, token: u64) -> u32 {
        let next = FIRST_NUMBER + self.numbers.len() as u32;
        *self.numbers.entry(token).or_insert(next)
    }

    fn text(&mut self, text: &[u8]) -> u32 {
        if let Some(number) = self.texts.get(text) {
            return *number;
        }
        let next = self.texts.len() as u32 + 1;
        self.texts.insert(text.into(), next);
        next
    }

    /// The exact texts by their numbers, in no order.
    pub fn texts(&self) -> impl Iterator<Item = (u32, &[u8])> + '_ {
        self.texts.iter().map(|(text, number)| (*number, &**text))
    }

    /// Joins the files of a submission: the tokens of all parts, with a separator between two parts.
    pub fn entry(&mut self, files: Vec<Arc<SubmittedFile>>, submitter: u32, old: bool) -> (Submission, Entry) {
        let mut entry = Entry::of(submitter, old);
        let (parts, _) = reachability::placed_parts(&files);
        for (file, part, _) in &parts {
            if !entry.tokens.is_empty() {
                entry.tokens.push(SEPARATOR);
                entry.verbatim.push(0);
            }
            self.append(&files[*file as usize].parts[*part as usize], &mut entry);
        }
        let everything = reachability::analyse(&files, &parts, &mut entry).err();
        // A literal stands where it first occurs in code that can run, otherwise where it first occurs.
        let is_dead = |at: u32| entry.unreachable.get(at as usize).copied().unwrap_or(false);
        entry.literals.sort_unstable_by_key(|literal| (literal.key, is_dead(literal.at), literal.at));
        entry.literals.dedup_by_key(|literal| literal.key);
        (Submission { files, parts, everything }, entry)
    }

    fn append(&mut self, part: &FilePart, entry: &mut Entry) {
        let start = entry.tokens.len() as u32;
        match &part.tokens {
            Tokens::Characters(codes) => entry.tokens.extend_from_slice(codes),
            Tokens::Hashed(hashes) => entry.tokens.extend(hashes.iter().map(|hash| self.number(*hash))),
        }
        let texts: Vec<u32> = std::iter::once(0).chain(part.texts.iter().map(|text| self.text(text))).collect();
        entry.verbatim.extend(part.verbatim.iter().map(|number| texts[*number as usize]));
        entry.verbatim.resize(entry.tokens.len(), 0);
        let (k, t) = part.thresholds;
        let worth = match part.tokens {
            Tokens::Characters(_) => LETTER,
            Tokens::Hashed(_) => UNIT,
        };
        let next = self.languages.len() as u32;
        let language = *self.languages.entry(part.language.clone()).or_insert(next);
        let (end, passage) = (entry.tokens.len() as u32, self.passages.get(&part.language).copied());
        entry.parts.push(EntryPart { start, end, k, t, worth, passage, language });
        entry.trivial.extend(part.trivial().map(|at| at + start));
        entry.picks.extend(part.picks.iter().map(|pick| Pick { at: pick.at + start, ..*pick }));
        let literal = |literal: &Literal| {
            let key = u64::from(texts[literal.key as usize]);
            Literal { key, at: literal.at + start, words: literal.words }
        };
        entry.literals.extend(part.literals.iter().map(literal));
    }
}
