//! Clusters pairs without chains: every member is paired with the representative itself.
//!
//! Submissions become leaders in order of the sum of their scores at or above the threshold, then in the order of the
//! submissions. A leader claims all its free neighbours. Cost: O(pairs log pairs).

use super::score::MatchedPair;

/// A cluster around a representative.
#[derive(Clone, Debug, PartialEq)]
pub struct MatchCluster {
    /// The submission all others were compared with.
    pub representative: u32,
    /// The other submissions with their scores, best first.
    pub members: Vec<(u32, f64)>,
}

/// Clusters of at least two among `submissions`, from pairs with a score of at least `threshold`.
pub fn clusters(pairs: &[MatchedPair], submissions: usize, threshold: f64) -> Vec<MatchCluster> {
    let mut neighbours: Vec<Vec<(u32, f64)>> = vec![Vec::new(); submissions];
    for pair in pairs.iter().filter(|pair| pair.score >= threshold) {
        neighbours[pair.left as usize].push((pair.right, pair.score));
        neighbours[pair.right as usize].push((pair.left, pair.score));
    }
    let strength = |i: &usize| neighbours[*i].iter().map(|(_, score)| score).sum::<f64>();
    let mut leaders: Vec<usize> = (0..submissions).filter(|i| !neighbours[*i].is_empty()).collect();
    leaders.sort_by(|a, b| strength(b).total_cmp(&strength(a)).then(a.cmp(b)));
    let mut taken = vec![false; submissions];
    let mut found = Vec::new();
    for leader in leaders {
        if taken[leader] {
            continue;
        }
        let mut members: Vec<(u32, f64)> =
            neighbours[leader].iter().copied().filter(|(other, _)| !taken[*other as usize]).collect();
        if members.is_empty() {
            continue;
        }
        members.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        taken[leader] = true;
        members.iter().for_each(|(other, _)| taken[*other as usize] = true);
        found.push(MatchCluster { representative: leader as u32, members });
    }
    found
}
