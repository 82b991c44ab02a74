//! Reports clusters so large that a common key, a template or a chain may have joined dissimilar documents.

use super::{Giant, Proposals, Proposer};
use std::cmp::Reverse;
use std::collections::HashMap;

/// A cluster of up to this many documents is never reported.
const FEW: usize = 1000;
/// Number of keys reported per cluster.
const NAMED: usize = 8;

/// Clusters above [`FEW`] documents and a hundredth of all, without their keys, largest first.
pub fn sizes(leader: &[u32]) -> Vec<Giant> {
    let mut sizes = vec![0u32; leader.len()];
    leader.iter().for_each(|leader| sizes[*leader as usize] += 1);
    let most = FEW.max(leader.len() / 100);
    let large = sizes.iter().enumerate().filter(|(_, size)| **size as usize > most);
    let mut giants: Vec<Giant> =
        large.map(|(leader, size)| Giant { leader: leader as u32, documents: *size, keys: Vec::new() }).collect();
    giants.sort_by_key(|giant| (Reverse(giant.documents), giant.leader));
    giants
}

/// The large clusters with their most common keys.
pub fn by_keys(proposals: &impl Proposals, leader: &[u32]) -> Vec<Giant> {
    let mut giants = sizes(leader);
    if giants.is_empty() {
        return giants;
    }
    let number: HashMap<u32, usize> = giants.iter().enumerate().map(|(i, giant)| (giant.leader, i)).collect();
    let mut counts = vec![0u32; giants.len()];
    let mut local = proposals.local();
    for component in 0..proposals.components() {
        // A cluster lies within one component, and most components are too small.
        if proposals.members(component).len() <= FEW {
            continue;
        }
        local.load(component);
        local.each_key(|key, places| {
            let leaders = places.iter().map(|place| leader[local.document(*place) as usize]);
            leaders.filter_map(|leader| number.get(&leader)).for_each(|giant| counts[*giant] += 1);
            for (giant, count) in giants.iter_mut().zip(&mut counts) {
                note(&mut giant.keys, key, std::mem::take(count));
            }
        });
    }
    giants
}

/// Keeps the most common keys; of equally common ones the smaller.
pub fn note(keys: &mut Vec<(u64, u32)>, key: u64, count: u32) {
    if count < 2 {
        return;
    }
    let at = keys.partition_point(|(other, most)| (Reverse(*most), *other) < (Reverse(count), key));
    if at < NAMED {
        keys.insert(at, (key, count));
        keys.truncate(NAMED);
    }
}
