// What the overview shows: the data of the report, and the choices of its reader.
const data = JSON.parse(one("data").textContent);
const FIELDS = ["left", "right", "score", "coverLeft", "coverRight", "tokens", "longest", "passages", "stands", "limited",
  "contained", "bits", "strongest", "page"];
const asPair = (row, i) => Object.assign(Object.fromEntries(FIELDS.map((name, at) => [name, row[at]])), { rank: i + 1 });
const lists = Object.fromEntries(["pairs", "contained", "shared", "little"].map((name) => [name, data[name].map(asPair)]));
const cards = data.cards.map(([name, person, label, time, old, digest, tokens, files, more, seconds, idle], entry) =>
  ({ entry, name, person, label, time, old, digest, tokens, files, more, seconds, idle }));
const searched = cards.map((card) => [card.name, card.person, data.labels[card.label] || ""].join("\n").toLowerCase());
const known = new Set(Object.values(lists).flat().map((pair) => pairKey(cards[pair.left].name, cards[pair.right].name)));
const view = { list: "pairs", least: data.cutOff, words: [], mark: "any", only: -1, cluster: null, key: "rank", down: false, first: 0, focused: -1 };

const nameOf = (entry) => cards[entry].name;
const reviewOf = (pair) => review(nameOf(pair.left), nameOf(pair.right));
// All pairs that a row stands for, of those the page knows: rows of groups of identical submissions stand for many.
const standing = (pairs) => pairs.reduce((sum, pair) => sum + pair.stands, 0);
// Pairs of the main list at or above the slider.
const above = () => lists.pairs.filter((pair) => pair.score >= view.least - 1e-9);

const UNITS = [["day", 86400], ["hour", 3600], ["minute", 60], ["second", 1]];
function span(seconds) {
  const [noun, size] = UNITS.find(([, size]) => seconds >= size) || UNITS[3];
  return counted(Math.floor(seconds / size), noun);
}

// Who of a pair was first: side 0 or 1 and by how many seconds; null if a time is missing or both are the same.
function first(pair) {
  const [left, right] = [cards[pair.left].seconds, cards[pair.right].seconds];
  return left === null || right === null || left === right ? null : { side: left < right ? 0 : 1, by: Math.abs(left - right) };
}
