//! Looks up ascending keys: one by one, or in one pass over the rows between the first and the last of them.
//!
//! A search costs about as much as reading [`DENSE`] keys in their order. So where keys are dense enough, all rows between are read
//! instead, and no search is made.
//!
//! Cost: one comparison per row and per key.

use crate::file::Table;
use crate::Result;
use std::ops::Range;

/// The most rows per key for which a pass over the rows is faster than a search per key.
const DENSE: u64 = 64;
/// The fewest keys for which a pass is made: its ends are searched for.
const FEW: usize = 16;

/// Keys that are looked up together, so that their memory accesses overlap.
const GROUP: usize = 16;

/// Calls `seen` with the place of each key and its rows, in order, by a search for each. Errors: damaged.
pub fn search(table: &Table, keys: &[u64], mut seen: impl FnMut(usize, Range<u64>)) -> Result<()> {
    if table.is_empty() {
        (0..keys.len()).for_each(|i| seen(i, 0..0));
        return Ok(());
    }
    for (group, keys) in keys.chunks(GROUP).enumerate() {
        // Each pass reads what the one before prefetched: first pages, then their keys, then the rows.
        let mut pages = [0; GROUP];
        for (page, key) in pages.iter_mut().zip(keys) {
            *page = table.page_of_key(*key);
            table.touch(*page);
        }
        keys.iter().zip(pages).try_for_each(|(key, page)| table.hint(page, *key))?;
        for (i, key) in keys.iter().enumerate() {
            seen(group * GROUP + i, table.find(*key)?);
        }
    }
    Ok(())
}

/// The rows to read for keys that ascend, if they are dense enough. Errors: damaged.
pub fn dense(table: &Table, keys: &[u64]) -> Result<Option<Range<u64>>> {
    let (Some(first), Some(last)) = (keys.first(), keys.last()) else { return Ok(None) };
    if keys.len() < FEW {
        return Ok(None);
    }
    let rows = table.between(*first, *last)?;
    Ok((rows.end.saturating_sub(rows.start) <= DENSE * keys.len() as u64).then_some(rows))
}

/// Calls `seen` with the place of each key and its rows, in order. REQUIRES: `rows` are all rows from the first key to the last, and
/// keys ascend. Errors: damaged.
pub fn join(table: &Table, keys: &[u64], rows: Range<u64>, mut seen: impl FnMut(usize, Range<u64>)) -> Result<()> {
    // The key that is looked for, and the first row that has it, if one was met.
    let (mut at, mut place, mut begin) = (rows.start, 0, None);
    let mut end = |place: &mut usize, begin: &mut Option<u64>, at: u64| {
        seen(*place, begin.unwrap_or(at)..at);
        *place += 1;
        if keys.get(*place) != keys.get(*place - 1) {
            *begin = None;
        }
    };
    table.keys(rows, |found| {
        for key in found {
            while keys.get(place).is_some_and(|wanted| wanted < key) {
                end(&mut place, &mut begin, at);
            }
            if begin.is_none() && keys.get(place) == Some(key) {
                begin = Some(at);
            }
            at += 1;
        }
    })?;
    while place < keys.len() {
        end(&mut place, &mut begin, at);
    }
    Ok(())
}
