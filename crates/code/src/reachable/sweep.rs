//! Marks the definitions of a submission that its entry points reach.
//!
//! Each definition is looked at when the one around it becomes reachable, and when a name that it waits for is first
//! used: linear in definitions and uses.

use super::{called, hash, Definition, Everything, Outline, Rule, LEAST_TOKENS};
use std::collections::{HashMap, HashSet};

/// Returns for each token of each file whether it cannot run; files are in one family of languages.
///
/// Errors: the reason why everything is reachable.
pub fn sweep(files: &[&Outline]) -> Result<Vec<Vec<bool>>, Everything> {
    let outermost = outermost_names(files);
    if !files.iter().any(|file| starts(file, &outermost)) {
        return Err(Everything::NoEntry);
    }
    let mut sweep = Sweep::new(files);
    sweep.run();
    if sweep.finds_by_computed_names(files) {
        return Err(Everything::Computed);
    }
    let marks: Vec<Vec<bool>> = (0..files.len()).map(|file| sweep.marks(file)).collect();
    let reachable = marks.iter().flatten().filter(|is_dead| !**is_dead).count();
    if reachable < LEAST_TOKENS {
        return Err(Everything::TooLittle);
    }
    Ok(marks)
}

/// The names of the outermost definitions of a submission.
fn outermost_names(files: &[&Outline]) -> HashSet<u64> {
    let outermost = |definition: &&Definition| definition.parent == 0 && definition.name != 0;
    files.iter().flat_map(|file| file.definitions.iter().filter(outermost).map(|one| one.name)).collect()
}

/// Whether the program may start in this file, given the names of all outermost definitions.
fn starts(file: &Outline, outermost: &HashSet<u64>) -> bool {
    let has_main = file.definitions.iter().any(|definition| definition.rule == Rule::Main);
    has_main || file.exports || file.acts && uses_one_of(file, outermost)
}

/// Whether the outermost code of a file uses one of these definitions, if there is any.
fn uses_one_of(file: &Outline, names: &HashSet<u64>) -> bool {
    names.is_empty() || file.uses.iter().take_while(|(user, _)| *user == 0).any(|(_, name)| names.contains(name))
}

/// A sweep over all definitions of a submission, numbered through.
struct Sweep<'a> {
    files: &'a [&'a Outline],
    /// Number of each file's first definition.
    firsts: Vec<usize>,
    definitions: Vec<&'a Definition>,
    /// The file of each definition.
    homes: Vec<usize>,
    /// The definitions directly inside each.
    inside: Vec<Vec<usize>>,
    /// The definitions that wait for a name.
    waiting: HashMap<u64, Vec<usize>>,
    /// Classes with a supertype that the submission does not define.
    foreign: HashSet<u64>,
    used: HashSet<u64>,
    reachable: Vec<bool>,
    /// Reachable definitions whose names are still to be read.
    todo: Vec<usize>,
}

impl<'a> Sweep<'a> {
    fn new(files: &'a [&'a Outline]) -> Self {
        let (mut firsts, mut definitions, mut homes) = (Vec::new(), Vec::new(), Vec::new());
        for (home, file) in files.iter().enumerate() {
            firsts.push(definitions.len());
            definitions.extend(&file.definitions);
            homes.resize(definitions.len(), home);
        }
        let mut inside = vec![Vec::new(); definitions.len()];
        let mut waiting: HashMap<u64, Vec<usize>> = HashMap::new();
        for (at, definition) in definitions.iter().enumerate() {
            let around = firsts[homes[at]] + definition.parent as usize;
            if around != at {
                inside[around].push(at);
            }
            let class = if definition.needs_class { definition.class } else { 0 };
            for name in [key(definition), class].into_iter().filter(|name| *name != 0) {
                waiting.entry(name).or_default().push(at);
            }
        }
        let (reachable, foreign) = (vec![false; definitions.len()], foreign(files));
        let (used, todo) = (HashSet::new(), Vec::new());
        Self { files, firsts, definitions, homes, inside, waiting, foreign, used, reachable, todo }
    }

    fn run(&mut self) {
        for at in 0..self.definitions.len() {
            if matches!(self.definitions[at].rule, Rule::Outside | Rule::Main) {
                self.mark_with_all_around(at);
            }
        }
        while let Some(at) = self.todo.pop() {
            for name in self.uses(at) {
                if self.used.insert(*name) {
                    self.waiting.remove(name).into_iter().flatten().for_each(|one| self.try_mark(one));
                }
            }
            for one in std::mem::take(&mut self.inside[at]) {
                self.try_mark(one);
            }
        }
    }

    /// The names that a definition uses.
    fn uses(&self, at: usize) -> impl Iterator<Item = &'a u64> {
        let (file, own) = (self.files[self.homes[at]], (at - self.firsts[self.homes[at]]) as u32);
        let from = file.uses.partition_point(|(user, _)| *user < own);
        file.uses[from..].iter().take_while(move |(user, _)| *user == own).map(|(_, name)| name)
    }

    fn mark_with_all_around(&mut self, mut at: usize) {
        while !self.reachable[at] {
            self.mark(at);
            at = self.around(at);
        }
    }

    fn around(&self, at: usize) -> usize {
        self.firsts[self.homes[at]] + self.definitions[at].parent as usize
    }

    fn mark(&mut self, at: usize) {
        if !std::mem::replace(&mut self.reachable[at], true) {
            self.todo.push(at);
        }
    }

    fn try_mark(&mut self, at: usize) {
        let definition = self.definitions[at];
        let is_used = |name: u64| self.used.contains(&name);
        let overrides = definition.may_override && self.foreign.contains(&definition.class);
        let has_class = !definition.needs_class || overrides || is_used(definition.class);
        let is_wanted = key(definition) == 0 || is_used(key(definition)) || overrides;
        if has_class && is_wanted && self.reachable[self.around(at)] {
            self.mark(at);
        }
    }

    fn finds_by_computed_names(&self, files: &[&Outline]) -> bool {
        let mut names = files.iter().flat_map(|file| file.computed);
        names.any(|name| self.used.contains(&hash(name)))
    }

    /// Whether each token of a file cannot run.
    fn marks(&self, home: usize) -> Vec<bool> {
        let file = self.files[home];
        let mut marks = vec![false; file.tokens as usize];
        // A definition comes after those around it, so all its tokens still have one mark.
        for (definition, is_reachable) in file.definitions.iter().zip(&self.reachable[self.firsts[home]..]) {
            let own = &mut marks[definition.start as usize..definition.end as usize];
            if own.first().is_some_and(|mark| mark == is_reachable) {
                own.fill(!is_reachable);
            }
        }
        marks
    }
}

/// The name that a definition waits for; 0 if it waits for none.
fn key(definition: &Definition) -> u64 {
    match definition.rule {
        Rule::Named => definition.name,
        Rule::Called => called(definition.name),
        Rule::Implied | Rule::Outside | Rule::Main => 0,
    }
}

/// The classes with a supertype that is not defined here, directly or through other classes.
fn foreign(files: &[&Outline]) -> HashSet<u64> {
    let classes = files.iter().flat_map(|file| &file.definitions).filter(|definition| definition.is_class);
    let own: HashSet<u64> = classes.map(|definition| definition.name).collect();
    let mut below: HashMap<u64, Vec<u64>> = HashMap::new();
    let mut todo = Vec::new();
    for (class, supertype) in files.iter().flat_map(|file| &file.supertypes) {
        below.entry(*supertype).or_default().push(*class);
        if !own.contains(supertype) {
            todo.push(*class);
        }
    }
    let mut found = HashSet::new();
    while let Some(class) = todo.pop() {
        if found.insert(class) {
            todo.extend(below.get(&class).into_iter().flatten());
        }
    }
    found
}
