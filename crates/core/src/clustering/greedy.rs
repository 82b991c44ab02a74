//! Greedy clustering of sketches (Broder 1997, §4.4): each document in turn joins the cluster it resembles or starts a
//! new one.
//!
//! A sketch represents a cluster: that of its first member, or the elements that most members have, computed again
//! whenever the cluster has doubled. A table from elements to clusters finds the clusters that share most with a
//! document, and the best of them are tried. A removed document must resemble the kept one, so a document joins only if
//! it has an edge with the first member: the sketches do not reject the pair, and the exact score reaches the threshold.
//!
//! Only the first `leading` documents may be followed. With references these are the references: other rows neither take
//! places in the table nor use up tries.
//!
//! Cost: O(s) per document, expected, as long as each element represents few clusters. An element finds at most
//! [`CROWD`] clusters; further ones are counted as capped. Runs on one core, because each document depends on those
//! before it.

use super::verify::narrow;
use super::{giants, Capped, Clustering, Judge};
use std::cmp::Reverse;
use std::collections::HashMap;

/// Most clusters that an element finds.
pub const CROWD: usize = 64;
/// Most clusters tried for a document: those that share most with it.
const TRIED: usize = 8;

/// The sketches of all documents.
pub trait Sketches: Sync {
    /// The distinct elements of a document's sketch; empty if it has none.
    fn sketch(&self, document: u32) -> &[u64];
}

/// The sketch that represents a cluster.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Representative {
    /// The s elements that most members have; of equally common ones the smaller. s is the size of the first member's
    /// sketch.
    Popular,
    /// The sketch of the first member.
    First,
}

/// A keyed table: elements are what a stranger chose, and a table of known order could be filled in one place.
type ByElement<T> = HashMap<u64, T>;

struct GreedyCluster {
    members: Vec<u32>,
    /// The elements of the representative; empty while it is the first member.
    popular: Vec<u64>,
}

struct Greedy<'a, S, J> {
    sketches: &'a S,
    judge: &'a J,
    threshold: f64,
    representative: Representative,
    leading: u32,
    clusters: Vec<GreedyCluster>,
    /// The clusters that each element finds.
    by_element: ByElement<Vec<u32>>,
    /// Number of clusters that each element could not find.
    capped: ByElement<u64>,
    /// Number of elements that each cluster shares with the current document; 0 between documents.
    shared: Vec<u32>,
    clustering: Clustering,
}

/// Clusters documents by their sketches; those with an empty sketch stay alone. Documents are numbered in order of
/// rank; only those below `leading` may be followed by others. In [`Capped`], `documents` counts the clusters of an element and `untried` those it
/// could not find.
pub fn greedy(
    sketches: &impl Sketches,
    documents: usize,
    threshold: f64,
    leading: u32,
    representative: Representative,
    judge: &impl Judge,
) -> Clustering {
    let mut greedy = Greedy {
        sketches,
        judge,
        threshold,
        representative,
        leading,
        clusters: Vec::new(),
        by_element: ByElement::default(),
        capped: ByElement::default(),
        shared: Vec::new(),
        clustering: Clustering::alone(documents),
    };
    (0..documents as u32)
        .take_while(|_| !judge.is_stopped())
        .filter(|document| !sketches.sketch(*document).is_empty())
        .for_each(|document| greedy.place(document));
    greedy.finish()
}

impl<S: Sketches, J: Judge> Greedy<'_, S, J> {
    /// Puts a document into a cluster.
    fn place(&mut self, document: u32) {
        let tried = self.resembling(document);
        match tried.into_iter().find(|cluster| self.joins(*cluster, document)) {
            Some(cluster) => {
                let members = &mut self.clusters[cluster as usize].members;
                members.push(document);
                if self.representative == Representative::Popular && members.len().is_power_of_two() {
                    self.represent(cluster);
                }
            }
            None if document >= self.leading => {}
            None => {
                let cluster = self.clusters.len() as u32;
                self.clusters.push(GreedyCluster { members: vec![document], popular: Vec::new() });
                self.shared.push(0);
                let sketches = self.sketches;
                self.enter(cluster, sketches.sketch(document));
            }
        }
    }

    /// The clusters that share most with a document, best first. They must share half the threshold; not more, because
    /// small sketches err and the first member decides.
    fn resembling(&mut self, document: u32) -> Vec<u32> {
        let sketch = self.sketches.sketch(document);
        let mut met = Vec::new();
        for cluster in sketch.iter().filter_map(|element| self.by_element.get(element)).flatten() {
            if self.shared[*cluster as usize] == 0 {
                met.push(*cluster);
            }
            self.shared[*cluster as usize] += 1;
        }
        let mut found: Vec<(Reverse<u32>, u32)> = Vec::new();
        for cluster in met {
            let shared = std::mem::take(&mut self.shared[cluster as usize]);
            if f64::from(shared) >= self.threshold / 2.0 * sketch.len() as f64 {
                found.push((Reverse(shared), cluster));
            }
        }
        found.sort_unstable();
        found.into_iter().take(TRIED).map(|(_, cluster)| cluster).collect()
    }

    /// Whether the document has an edge with the first member; joins it if so, with the exact score.
    fn joins(&mut self, cluster: u32, document: u32) -> bool {
        let first = self.clusters[cluster as usize].members[0];
        let glance = self.judge.glance(first, document);
        self.clustering.glances += 1;
        if !glance.is_possible {
            return false;
        }
        let mut scores = Vec::new();
        self.judge.exact(first, &[document], self.threshold, &mut scores);
        self.clustering.exacts += 1;
        let Some(score) = scores.first().copied().flatten().filter(|score| *score >= self.threshold) else {
            return false;
        };
        self.clustering.leader[document as usize] = first;
        self.clustering.score[document as usize] = narrow(score, self.threshold);
        true
    }

    /// Makes the elements that most members have the representative of the cluster.
    fn represent(&mut self, cluster: u32) {
        let (sketches, cell) = (self.sketches, &mut self.clusters[cluster as usize]);
        let mut all: Vec<u64> = cell.members.iter().flat_map(|member| sketches.sketch(*member)).copied().collect();
        all.sort_unstable();
        let mut counts: Vec<(Reverse<usize>, u64)> =
            all.chunk_by(|a, b| a == b).map(|same| (Reverse(same.len()), same[0])).collect();
        counts.sort_unstable();
        let first = sketches.sketch(cell.members[0]);
        counts.truncate(first.len());
        let popular: Vec<u64> = counts.into_iter().map(|(_, element)| element).collect();
        let old = std::mem::replace(&mut cell.popular, popular.clone());
        for element in if old.is_empty() { first } else { &old } {
            if let Some(clusters) = self.by_element.get_mut(element) {
                clusters.retain(|other| *other != cluster);
            }
        }
        self.enter(cluster, &popular);
    }

    fn enter(&mut self, cluster: u32, elements: &[u64]) {
        for element in elements {
            let clusters = self.by_element.entry(*element).or_default();
            match clusters.len() < CROWD {
                true => clusters.push(cluster),
                false => *self.capped.entry(*element).or_default() += 1,
            }
        }
    }

    fn finish(self) -> Clustering {
        let (mut clustering, by_element) = (self.clustering, self.by_element);
        let documents = |element: &u64| by_element.get(element).map_or(0, |clusters| clusters.len() as u64);
        let capped = self.capped.iter().map(|(element, untried)| Capped {
            key: *element,
            documents: u32::try_from(documents(element) + untried).unwrap_or(u32::MAX),
            untried: *untried,
        });
        clustering.capped = capped.collect();
        clustering.capped.sort_unstable();
        clustering.giants = giants::sizes(&clustering.leader);
        for giant in &mut clustering.giants {
            let of_giant = self.clusters.iter().find(|cluster| cluster.members[0] == giant.leader);
            let members = of_giant.map_or(&[][..], |cluster| &cluster.members);
            let mut all: Vec<u64> = members.iter().flat_map(|member| self.sketches.sketch(*member)).copied().collect();
            all.sort_unstable();
            all.chunk_by(|a, b| a == b).for_each(|same| giants::note(&mut giant.keys, same[0], same.len() as u32));
        }
        clustering
    }
}
