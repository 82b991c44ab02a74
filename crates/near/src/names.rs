//! Strings as ids: each gets a 64-bit number, by which the rows of a table know it, and is kept once.
//!
//! **Numbers.** The number of a string is XXH3-64 of its UTF-8 with seed 0. If another string of the table has that
//! number, it is the hash with seed 1, and so on. So whatever strings somebody chooses, two of them never share a number,
//! and colliding ones only cost time. The strings before a displaced one are kept as long as it is.
//!
//! **Structure.** Like the rows, strings lie in parts that are merged by size; those of a folder are files. A string
//! whose rows were all removed stays until the table is compacted.
//!
//! Cost: one lookup per part to find a string or to see that it is new; the strings, 8 bytes per id and up to 8 per
//! start in memory, less in files.

use crate::fingerprint_store::merged;
use crate::manifest::NameEntry;
use crate::name_file::{image, NameFile};
use lookalike_table::error::{Error, Result};
use std::collections::hash_map::Entry;
use std::collections::HashMap;
use xxhash_rust::xxh3::xxh3_64_with_seed;

/// So many strings may be displaced by others before a number is refused. More than a few would mean that the hash is broken.
const COLLISIONS: u64 = 64;

/// Strings, one after the other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Strings {
    /// Where each begins, and the end of the last.
    pub starts: Vec<u64>,
    /// All of them.
    pub texts: String,
}

impl Default for Strings {
    fn default() -> Self {
        Self { starts: vec![0], texts: String::new() }
    }
}

impl Strings {
    /// Appends one.
    pub fn push(&mut self, text: &str) {
        self.texts.push_str(text);
        self.starts.push(self.texts.len() as u64);
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.starts.len() - 1
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// String number `i`; empty beyond the end.
    pub fn get(&self, i: usize) -> &str {
        match (self.starts.get(i), self.starts.get(i + 1)) {
            (Some(start), Some(end)) => self.texts.get(*start as usize..*end as usize).unwrap_or_default(),
            _ => "",
        }
    }

    /// All of them.
    pub fn iter(&self) -> impl Iterator<Item = &str> {
        (0..self.len()).map(|i| self.get(i))
    }
}

impl<'a> FromIterator<&'a str> for Strings {
    fn from_iter<I: IntoIterator<Item = &'a str>>(texts: I) -> Self {
        let mut all = Self::default();
        texts.into_iter().for_each(|text| all.push(text));
        all
    }
}

/// Some of the strings, by ascending number.
#[derive(Debug)]
enum NamePart {
    Memory(Vec<u64>, Strings),
    File(NameFile, NameEntry),
    /// Of a file, read into memory.
    Loaded(Vec<u64>, Strings, NameEntry),
}

impl NamePart {
    fn of(mut names: Vec<(u64, &str)>) -> Self {
        names.sort_unstable();
        Self::Memory(names.iter().map(|name| name.0).collect(), names.iter().map(|name| name.1).collect())
    }

    fn len(&self) -> usize {
        match self {
            Self::Memory(ids, _) | Self::Loaded(ids, ..) => ids.len(),
            Self::File(file, _) => file.len(),
        }
    }

    fn get(&self, id: u64) -> Option<&str> {
        match self {
            Self::Memory(ids, texts) | Self::Loaded(ids, texts, _) => ids.binary_search(&id).ok().map(|i| texts.get(i)),
            Self::File(file, _) => file.get(id),
        }
    }

    /// Numbers and strings, from memory. Errors: a file is damaged.
    fn decode(&self) -> Result<(Vec<u64>, Strings)> {
        match self {
            Self::Memory(ids, texts) | Self::Loaded(ids, texts, _) => Ok((ids.clone(), texts.clone())),
            Self::File(file, _) => {
                let (ids, starts, texts) = file.decode()?;
                // `decode` has checked that they are UTF-8.
                Ok((ids, Strings { starts, texts: String::from_utf8(texts).unwrap_or_default() }))
            }
        }
    }

    fn entry(&self) -> Option<&NameEntry> {
        match self {
            Self::Memory(..) => None,
            Self::File(_, entry) | Self::Loaded(_, _, entry) => Some(entry),
        }
    }

    fn bytes(&self) -> usize {
        match self {
            Self::Memory(ids, texts) | Self::Loaded(ids, texts, _) => 16 * ids.len() + texts.texts.len(),
            Self::File(..) => 0,
        }
    }
}

/// The strings of a table.
#[derive(Debug, Default)]
pub struct Names {
    parts: Vec<NamePart>,
}

/// Strings that a table gets, and their numbers.
#[derive(Debug, Default)]
pub struct NewNames {
    /// The number of each string that was asked for.
    pub ids: Vec<u64>,
    part: Option<NamePart>,
}

impl Names {
    /// The number of a string after so many collisions.
    fn number(name: &str, collisions: u64) -> u64 {
        xxh3_64_with_seed(name.as_bytes(), collisions)
    }

    fn numbers(name: &str) -> impl Iterator<Item = u64> + '_ {
        (0..COLLISIONS).map(move |collisions| Self::number(name, collisions))
    }

    /// The string with this number.
    pub fn get(&self, id: u64) -> Option<&str> {
        self.parts.iter().find_map(|part| part.get(id))
    }

    /// The number of a string; none if it was never given one. Errors: a file is damaged.
    pub fn id(&self, name: &str) -> Result<Option<u64>> {
        for collisions in 0..COLLISIONS {
            let id = Self::number(name, collisions);
            match self.get(id) {
                Some(other) if other == name => return Ok(Some(id)),
                Some(_) => {}
                None => break,
            }
        }
        self.checked()?;
        Ok(None)
    }

    /// Numbers for strings; those that have none yet get one. Errors: a file is damaged. Nothing changes before
    /// [`Self::add`].
    pub fn assign(&self, names: &[&str]) -> Result<NewNames> {
        let mut new: HashMap<u64, &str> = HashMap::new();
        let mut ids = Vec::with_capacity(names.len());
        for name in names {
            let id = Self::numbers(name).find(|id| match self.get(*id) {
                Some(other) => other == *name,
                None => match new.entry(*id) {
                    Entry::Occupied(other) => other.get() == name,
                    Entry::Vacant(free) => {
                        free.insert(name);
                        true
                    }
                },
            });
            ids.push(id.ok_or_else(|| Error::Refused {
                reason: format!("id `{name}` has the hashes of {COLLISIONS} other ids: give it another name"),
            })?);
        }
        self.checked()?;
        let part = (!new.is_empty()).then(|| NamePart::of(new.into_iter().collect()));
        Ok(NewNames { ids, part })
    }

    /// Keeps strings that were given numbers. Parts in memory are merged by size.
    pub fn add(&mut self, new: NewNames) {
        self.parts.extend(new.part);
        let sizes: Vec<(usize, usize)> = self
            .parts
            .iter()
            .filter(|part| matches!(part, NamePart::Memory(..)))
            .map(|part| (part.len(), part.len()))
            .collect();
        let mut chosen = merged(&sizes).into_iter();
        let (mut merging, mut kept) = (Vec::new(), Vec::new());
        for part in std::mem::take(&mut self.parts) {
            match part {
                NamePart::Memory(ids, texts) if chosen.next() == Some(true) => merging.push((ids, texts)),
                other => kept.push(other),
            }
        }
        self.parts = kept;
        self.parts.extend((!merging.is_empty()).then(|| joined(&merging, |_| true)));
    }

    /// Merges parts of one size, also files. Errors: a file is damaged; then nothing changes.
    pub fn merge(&mut self) -> Result<()> {
        loop {
            let sizes: Vec<(usize, usize)> = self.parts.iter().map(|part| (part.len(), part.len())).collect();
            let chosen = merged(&sizes);
            if !chosen.contains(&true) {
                return Ok(());
            }
            let parts = self.parts.iter().zip(&chosen).filter(|(_, is_chosen)| **is_chosen);
            let decoded = parts.map(|(part, _)| part.decode()).collect::<Result<Vec<_>>>()?;
            let mut is_chosen = chosen.iter();
            self.parts.retain(|_| is_chosen.next() != Some(&true));
            self.parts.push(joined(&decoded, |_| true));
        }
    }

    /// Puts all strings together and forgets those that no row has. REQUIRES: `live` ascends. Errors: a file is damaged;
    /// then nothing changes.
    pub fn compact(&mut self, live: &[u64]) -> Result<()> {
        let decoded = self.parts.iter().map(NamePart::decode).collect::<Result<Vec<_>>>()?;
        let all = || decoded.iter().flat_map(|(ids, texts)| ids.iter().copied().zip(texts.iter()));
        // The numbers that a displaced string was refused for; whoever has them is needed to find it.
        let mut needed = live.to_vec();
        for (id, name) in all().filter(|(id, _)| live.binary_search(id).is_ok()) {
            needed.extend(Self::numbers(name).take_while(|other| *other != id));
        }
        needed.sort_unstable();
        let dead = all().any(|(id, _)| needed.binary_search(&id).is_err());
        if dead || self.parts.len() > 1 {
            let part = joined(&decoded, |id| needed.binary_search(&id).is_ok());
            self.parts = Vec::from_iter((part.len() > 0).then_some(part));
        }
        Ok(())
    }

    /// The strings with these numbers. Errors: a file is damaged, or does not have one of them.
    pub fn strings(&self, ids: &[u64]) -> Result<Option<Strings>> {
        let found: Option<Strings> = ids.iter().map(|id| self.get(*id)).collect::<Option<Vec<&str>>>().map(|found| {
            let mut all = Strings::default();
            found.into_iter().for_each(|name| all.push(name));
            all
        });
        self.checked()?;
        Ok(found)
    }

    /// Errors: a part of a file that was read so far is damaged.
    pub fn checked(&self) -> Result<()> {
        self.parts.iter().try_for_each(|part| match part {
            NamePart::File(file, _) => file.checked(),
            _ => Ok(()),
        })
    }

    /// Bytes in memory.
    pub fn bytes(&self) -> usize {
        self.parts.iter().map(NamePart::bytes).sum()
    }

    /// How many strings there are.
    pub fn len(&self) -> usize {
        self.parts.iter().map(NamePart::len).sum()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Adds the strings of a file; read into memory unless it is mapped. Errors: damaged.
    pub fn open(&mut self, file: NameFile, entry: NameEntry, is_mapped: bool) -> Result<()> {
        let part = NamePart::File(file, entry.clone());
        self.parts.push(match is_mapped {
            true => part,
            false => {
                let (ids, texts) = part.decode()?;
                NamePart::Loaded(ids, texts, entry)
            }
        });
        Ok(())
    }

    /// The files that hold strings.
    pub fn entries(&self) -> Vec<NameEntry> {
        self.parts.iter().filter_map(NamePart::entry).cloned().collect()
    }

    /// Writes what is in no file yet: `write` gets the bytes of a file made by the number, and says what it became.
    /// Errors: what `write` has.
    pub fn write(&mut self, mut write: impl FnMut(&dyn Fn(u64) -> Vec<u8>) -> Result<NameEntry>) -> Result<()> {
        for part in &mut self.parts {
            if let NamePart::Memory(ids, texts) = part {
                let entry = write(&|number| image(number, ids, &texts.starts, texts.texts.as_bytes()))?;
                *part = NamePart::Loaded(std::mem::take(ids), std::mem::take(texts), entry);
            }
        }
        Ok(())
    }

    /// Forgets the files, for a table that goes back into memory. Errors: a file is damaged.
    pub fn leave(&mut self) -> Result<()> {
        for part in &mut self.parts {
            let (ids, texts) = part.decode()?;
            *part = NamePart::Memory(ids, texts);
        }
        Ok(())
    }

    /// Reads everything. Errors: damaged.
    pub fn verify(&self) -> Result<()> {
        self.parts.iter().try_for_each(|part| part.decode().map(drop))
    }
}

/// One part of several, of the numbers that are kept.
fn joined(parts: &[(Vec<u64>, Strings)], is_kept: impl Fn(u64) -> bool) -> NamePart {
    let all = parts.iter().flat_map(|(ids, texts)| ids.iter().copied().zip(texts.iter()));
    NamePart::of(all.filter(|(id, _)| is_kept(*id)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colliding_strings_keep_their_own_numbers() {
        // Strings that collide cannot be found by trying, so one is put where another belongs.
        let number = |collisions| Names::number("b", collisions);
        let mut names = Names { parts: vec![NamePart::of(vec![(number(0), "a")])] };
        let new = names.assign(&["b", "c", "b"]).expect("sound");
        assert_eq!(new.ids, [number(1), Names::number("c", 0), number(1)]);
        names.add(new);
        assert_eq!(names.id("b").expect("sound"), Some(number(1)));
        assert_eq!(names.id("a").expect("sound"), None, "it is not where it belongs");
        let mut live = vec![number(1)];
        live.sort_unstable();
        names.compact(&live).expect("sound");
        assert_eq!(names.len(), 2, "what displaced a string is kept, what no row has is not");
        assert_eq!(names.id("b").expect("sound"), Some(number(1)));
    }

    #[test]
    fn strings_are_found_in_any_part_and_file() {
        let mut names = Names::default();
        let all: Vec<String> = (0..3000).map(|i| format!("https://example.org/{i}")).collect();
        for some in all.chunks(250) {
            let some: Vec<&str> = some.iter().map(String::as_str).collect();
            let new = names.assign(&some).expect("sound");
            names.add(new);
        }
        assert!(names.parts.len() < 6, "{}", names.parts.len());
        let ids: Vec<u64> = all.iter().map(|name| names.id(name).expect("sound").expect("known")).collect();
        assert_eq!(names.strings(&ids).expect("sound").expect("all").iter().collect::<Vec<_>>(), all);
        assert_eq!(names.id("https://example.org/").expect("sound"), None);
        let mut files = Names::default();
        for (number, part) in names.parts.iter().enumerate() {
            let (ids, texts) = part.decode().expect("sound");
            let bytes = image(number as u64, &ids, &texts.starts, texts.texts.as_bytes());
            let file = NameFile::open(std::path::Path::new("names"), lookalike_table::disk::Bytes::Memory(bytes))
                .expect("opened");
            files.open(file, NameEntry::default(), number % 2 == 0).expect("sound");
        }
        files.verify().expect("sound");
        assert_eq!(files.strings(&ids).expect("sound"), names.strings(&ids).expect("sound"));
    }
}
