// Whom pairs tie to whom. A row that stands for groups of identical submissions is kept once per group, not once per
// pair of members, so all of this is linear in the rows and the submissions.
const groupOf = new Map(data.groups.flatMap((group) => group.map((member) => [member, group])));
const side = (pair, end) => pair.stands > 1 && groupOf.get(pair[end]) || [pair[end]];
const isOn = (pair, end, entry) => pair[end] === entry || (pair.stands > 1 && groupOf.has(entry) && groupOf.get(pair[end]) === groupOf.get(entry));
const touches = (pair, entry) => isOn(pair, "left", entry) || isOn(pair, "right", entry);
const mayPair = (a, b) => a !== b && !(cards[a].old && cards[b].old) && !(cards[a].person && cards[a].person === cards[b].person);

// Of each group: how many of a person there are, and how many of these are earlier submissions.
const peopleOf = new Map(data.groups.map((group) => [group, new Map()]));
for (const [group, people] of peopleOf) for (const member of group) for (const person of new Set(["", cards[member].person])) {
  const counts = people.get(person) || { all: 0, old: 0 };
  counts.all += 1;
  counts.old += cards[member].old;
  people.set(person, counts);
}
// With how many of a group a submission may be paired: neither with itself nor with its own person, old not with old.
function partners(entry, group) {
  const counted = ({ all, old }) => cards[entry].old ? all - old : all;
  const people = peopleOf.get(group), { person, old } = cards[entry];
  if (person) return counted(people.get("")) - counted(people.get(person) || { all: 0, old: 0 });
  return counted(people.get("")) - (groupOf.get(entry) === group && !old ? 1 : 0);
}

class Ties {
  // The best pairs come first; the first pair of two submissions counts.
  constructor(pairs) {
    this.single = new Map();
    this.grouped = new Map();
    for (const pair of pairs) {
      if (pair.stands === 1) { this.tie(this.single, pair.left, pair.right, pair); this.tie(this.single, pair.right, pair.left, pair); continue; }
      const [left, right] = ["left", "right"].map((end) => groupOf.get(pair[end]) || pair[end]);
      this.tie(this.grouped, left, right, pair);
      this.tie(this.grouped, right, left, pair);
    }
  }

  tie(ties, a, b, pair) {
    if (!ties.has(a)) ties.set(a, new Map());
    if (!ties.get(a).has(b)) ties.get(a).set(b, pair);
  }

  // The rows of groups that tie a submission: what it is tied to, a group or a submission, and the pair.
  rows(entry) {
    return this.grouped.get(groupOf.get(entry) || entry) || new Map();
  }

  between(a, b) {
    const single = this.single.get(a)?.get(b);
    if (single || !mayPair(a, b)) return single;
    return this.rows(a).get(groupOf.get(b) || b);
  }

  // The submissions that are tied to one, each with the pair.
  *near(entry) {
    yield* this.single.get(entry) || [];
    for (const [other, pair] of this.rows(entry)) {
      for (const member of Array.isArray(other) ? other : [other]) if (mayPair(entry, member)) yield [member, pair];
    }
  }

  // How many submissions are tied to one, with the sum of what their pairs are worth.
  count(entry, worth) {
    let sum = 0;
    for (const pair of this.single.get(entry)?.values() || []) sum += worth(pair);
    for (const [other, pair] of this.rows(entry)) sum += worth(pair) * (Array.isArray(other) ? partners(entry, other) : Number(mayPair(entry, other)));
    return sum;
  }

  // All submissions that are tied to another.
  entries() {
    const members = [...this.grouped.keys()].flat();
    return [...new Set([...this.single.keys(), ...members])].filter((entry) => this.count(entry, () => 1));
  }

  // The best pair of a submission, and the other submission; null if it has none.
  best(entry) {
    let found = null;
    for (const [other, pair] of this.single.get(entry) || []) { found = { other, pair }; break; }
    for (const [other, pair] of this.rows(entry)) {
      if (found && found.pair.rank < pair.rank) break;
      const member = (Array.isArray(other) ? other : [other]).find((one) => mayPair(entry, one));
      if (member !== undefined) { found = { other: member, pair }; break; }
    }
    return found;
  }
}

const tiedAt = { least: NaN, ties: null };
function ties() {
  if (tiedAt.least !== view.least) Object.assign(tiedAt, { least: view.least, ties: new Ties(above()) });
  return tiedAt.ties;
}

// Best match of every submission among the listed pairs: the pair, and the other submission.
const listedTies = new Ties(lists.pairs);
const bests = cards.map(({ entry }) => listedTies.best(entry));
