//! Plain quadratic definitions of what the matcher finds.

use super::super::align::Tile;
use super::super::entry::{Entry, EntryPart};

/// Tokens of both sides in a common run of at least t tokens, inside one part on each side.
pub fn in_common(a: &Entry, b: &Entry) -> [Vec<bool>; 2] {
    let mut marks = [vec![false; a.tokens.len()], vec![false; b.tokens.len()]];
    for here in &a.parts {
        for there in b.parts.iter().filter(|there| (there.k, there.t) == (here.k, here.t)) {
            mark_runs(a, here, b, there, &mut marks);
        }
    }
    marks
}

fn mark_runs(a: &Entry, here: &EntryPart, b: &Entry, there: &EntryPart, marks: &mut [Vec<bool>; 2]) {
    let width = (there.end - there.start) as usize;
    // Length of the common run that ends at each token of the other part and at the previous token of this one.
    let mut ending = vec![0usize; width + 1];
    for i in here.start as usize..here.end as usize {
        for column in (0..width).rev() {
            let j = there.start as usize + column;
            ending[column + 1] = if a.tokens[i] == b.tokens[j] { ending[column] + 1 } else { 0 };
            let run = ending[column + 1];
            if run >= here.t as usize {
                marks[0][i + 1 - run..=i].fill(true);
                marks[1][j + 1 - run..=j].fill(true);
            }
        }
    }
}

/// Whether two submissions share a run of at least t tokens.
pub fn shares(a: &Entry, b: &Entry) -> bool {
    in_common(a, b)[0].contains(&true)
}

/// Greedy String Tiling as Wise defines it: takes the longest run whose tokens are free on both sides, of equals that
/// with most equal exact text, then the earliest, until no run of k tokens is left. Those of t tokens or more, and the rest.
pub fn tiling(a: &Entry, b: &Entry) -> (Vec<Tile>, Vec<Tile>) {
    let mut taken = [vec![false; a.tokens.len()], vec![false; b.tokens.len()]];
    let mut tiles = Vec::new();
    while let Some(tile) = longest_free(a, b, &taken) {
        taken[0][tile.a as usize..(tile.a + tile.len) as usize].fill(true);
        taken[1][tile.b as usize..(tile.b + tile.len) as usize].fill(true);
        tiles.push(tile);
    }
    tiles.sort_unstable();
    tiles.into_iter().partition(|tile| tile.len >= a.thresholds(tile.a).1)
}

/// The longest common run of at least k free tokens; of equals the best by exact text, then the earliest in `a`, in `b`.
fn longest_free(a: &Entry, b: &Entry, taken: &[Vec<bool>; 2]) -> Option<Tile> {
    let mut best: Option<((u32, u32), Tile)> = None;
    for here in &a.parts {
        for there in b.parts.iter().filter(|there| (there.k, there.t) == (here.k, here.t)) {
            for i in here.start..here.end {
                for j in there.start..there.end {
                    let most = (here.end - i).min(there.end - j);
                    let is_free = |n: &u32| {
                        let (i, j) = ((i + n) as usize, (j + n) as usize);
                        a.tokens[i] == b.tokens[j] && !taken[0][i] && !taken[1][j]
                    };
                    let len = (0..most).take_while(is_free).count() as u32;
                    let same = (0..len).filter(|n| a.same_text((i + n) as usize, b, (j + n) as usize)).count() as u32;
                    let tile = Tile { a: i, b: j, len };
                    let is_better = |(key, old): &((u32, u32), Tile)| {
                        (len, same).cmp(key).then((old.a, old.b).cmp(&(i, j))) == std::cmp::Ordering::Greater
                    };
                    if len >= here.k && best.as_ref().is_none_or(is_better) {
                        best = Some(((len, same), tile));
                    }
                }
            }
        }
    }
    best.map(|(_, tile)| tile)
}

/// Tokens of `entry` in a k-gram that a template file has too, in a part with the same thresholds.
pub fn in_template(entry: &Entry, templates: &[Entry]) -> Vec<bool> {
    let mut marks = vec![false; entry.tokens.len()];
    for part in &entry.parts {
        let k = part.k as usize;
        let text = &entry.tokens[part.start as usize..part.end as usize];
        let stands = |gram: &[u32]| {
            let parts = templates.iter().flat_map(|file| file.parts.iter().map(move |part| (file, part)));
            parts.filter(|(_, other)| (other.k, other.t) == (part.k, part.t)).any(|(file, other)| {
                file.tokens[other.start as usize..other.end as usize].windows(k).any(|there| there == gram)
            })
        };
        for (at, gram) in text.windows(k).enumerate() {
            if stands(gram) {
                marks[part.start as usize + at..][..k].fill(true);
            }
        }
    }
    marks
}
