//! Clusters documents along given edges, with the function that clusters a corpus.
//!
//! Cost: that of `clustering` without glances and counting; 16 bytes per edge and 16 per document.

use lookalike_core::clustering::{cluster, Capped, Glance, Judge, Method, Proposals, Proposer};

/// A pair whose score reaches the threshold.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GivenEdge {
    /// The earlier document.
    pub left: u32,
    /// The later document.
    pub right: u32,
    /// The estimate, by which the best leader is chosen.
    pub estimate: f32,
    /// The exact score.
    pub score: f32,
}

/// A document that follows a leader.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Follower {
    /// The document.
    pub document: u32,
    /// Its leader.
    pub leader: u32,
    /// The exact score; `None` where the two have no edge, in a component.
    pub score: Option<f32>,
}

/// Clusters `documents`, numbered in order of rank, along edges. Returns those that follow another one, ascending.
pub fn follow(edges: &[GivenEdge], documents: u32, method: Method) -> Vec<Follower> {
    let edges = Edges::new(edges, documents);
    // Every edge reaches its threshold, whatever that was.
    let found = cluster(&edges, 0.0, method, &edges);
    let follower = |(document, leader): (u32, &u32)| {
        let score = edges.find(*leader, document).map(|edge| edge.score);
        (*leader != document).then_some(Follower { document, leader: *leader, score })
    };
    (0..).zip(&found.leader).filter_map(follower).collect()
}

/// Edges by their left document, as one component of proposals and as their judge.
struct Edges {
    edges: Vec<GivenEdge>,
    /// Where the edges of each document start, and the end.
    starts: Vec<usize>,
    members: Vec<u32>,
}

impl Edges {
    fn new(edges: &[GivenEdge], documents: u32) -> Self {
        let mut edges: Vec<GivenEdge> = edges.iter().filter(|edge| edge.right < documents).copied().collect();
        edges.sort_unstable_by_key(|edge| (edge.left, edge.right));
        let start = |document: u32| edges.partition_point(|edge| edge.left < document);
        let starts = (0..=documents).map(start).collect();
        Self { edges, starts, members: (0..documents).collect() }
    }

    fn of(&self, document: u32) -> &[GivenEdge] {
        &self.edges[self.starts[document as usize]..self.starts[document as usize + 1]]
    }

    fn find(&self, left: u32, right: u32) -> Option<&GivenEdge> {
        let own = self.of(left);
        own.binary_search_by_key(&right, |edge| edge.right).ok().map(|at| &own[at])
    }
}

impl Judge for Edges {
    fn glance(&self, hub: u32, other: u32) -> Glance {
        self.find(hub, other).map_or(Glance::REJECTED, |edge| Glance { estimate: edge.estimate, is_possible: true })
    }

    fn exact(&self, hub: u32, others: &[u32], _least: f64, scores: &mut Vec<Option<f64>>) {
        scores.extend(others.iter().map(|other| self.find(hub, *other).map(|edge| f64::from(edge.score))));
    }
}

impl Proposals for Edges {
    type Local<'a> = EdgeLocal<'a>;

    fn documents(&self) -> usize {
        self.members.len()
    }

    fn components(&self) -> usize {
        usize::from(!self.members.is_empty())
    }

    fn members(&self, _component: usize) -> &[u32] {
        &self.members
    }

    fn local(&self) -> EdgeLocal<'_> {
        EdgeLocal(self)
    }

    fn capped(&self) -> Vec<Capped> {
        Vec::new()
    }
}

/// The one component: the place of a document is its number.
struct EdgeLocal<'a>(&'a Edges);

impl Proposer for EdgeLocal<'_> {
    fn load(&mut self, _component: usize) {}

    fn places(&self) -> usize {
        self.0.members.len()
    }

    fn document(&self, place: u32) -> u32 {
        place
    }

    fn may_lead(&self, _place: u32) -> bool {
        true
    }

    fn propose(&mut self, place: u32, proposed: &mut Vec<u32>) {
        proposed.clear();
        proposed.extend(self.0.of(place).iter().map(|edge| edge.right));
    }

    fn each_key(&self, _visit: impl FnMut(u64, &[u32])) {}
}
