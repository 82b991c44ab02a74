// The tables: pairs of one of three lists, or submissions; sorted, filtered, a hundred rows at a time.
const ROWS = 100;
const table = one("table");

function who(entry) {
  const { name, label, old } = cards[entry];
  const cell = make("td", { class: "name" });
  if (label >= 0) cell.append(make("span", { class: `dot c${label % 8}`, title: data.labels[label] }));
  cell.append(make("a", { href: `#s=${entry}` }, name));
  if (old) cell.append(make("span", { class: "soft" }, " (earlier)"));
  return cell;
}

function bar(value, text) {
  const svg = draw("svg", { class: "bar", viewBox: "0 0 100 8", preserveAspectRatio: "none", "aria-hidden": "true" },
    draw("rect", { class: "of", width: 100, height: 8, rx: 2 }), draw("rect", { class: "is", width: value * 100, height: 8, rx: 2 }));
  return make("span", { class: "score" }, svg, text);
}

const numeric = (text) => make("td", { class: "num" }, text);

function scored(pair) {
  const cell = make("td", {}, view.list === "contained" ? decimal(pair.score) : bar(pair.score, decimal(pair.score)));
  if (pair.limited) cell.append(make("span", { class: "soft", title: "too much repeats itself here to try everything: the score may be too low" }, " limited"));
  return cell;
}

// A row of a group stands for pairs of submissions that it does not name: those that the filter found are named.
const NAMED = 5;
function rightOf(pair) {
  const cell = who(pair.right);
  if (pair.stands === 1) return cell;
  const hidden = [...new Set([...side(pair, "left"), ...side(pair, "right")])].filter((entry) => entry !== pair.left && entry !== pair.right);
  const asked = view.only >= 0 ? hidden.filter((entry) => entry === view.only) : view.words.length ? hidden.filter((entry) => view.words.some((word) => searched[entry].includes(word))) : [];
  const named = asked.slice(0, NAMED).map(nameOf).join(", ") + (asked.length > NAMED ? ` and ${plain(asked.length - NAMED)} more` : "");
  cell.append(make("span", { class: "soft" }, ` (stands for ${counted(pair.stands, "pair")}${named ? `, also of ${named}` : ""})`));
  return cell;
}

function earlier(pair) {
  const found = first(pair);
  return make("td", { class: "first" }, found ? `${["left", "right"][found.side]}, by ${span(found.by)}` : "");
}

function marked(pair) {
  const [left, right] = [nameOf(pair.left), nameOf(pair.right)];
  const cell = make("td", { class: "marks" }, chooser(left, right, countMarks));
  const edit = make("button", { type: "button", class: "note", "aria-label": `Note on ${left} and ${right}`, "aria-expanded": "false" }, "Note");
  const shown = make("p", { class: "noted" }, reviewOf(pair).note);
  edit.addEventListener("click", () => {
    const open = cell.querySelector("textarea");
    edit.setAttribute("aria-expanded", String(!open));
    if (open) { open.remove(); return; }
    const text = make("textarea", { rows: 3, "aria-label": `Note on ${left} and ${right}` });
    text.value = reviewOf(pair).note;
    text.addEventListener("input", () => { setReview(left, right, { note: text.value }); shown.textContent = text.value; countMarks(); });
    cell.append(text);
    text.focus();
  });
  cell.append(edit, shown);
  return cell;
}

const NO_PAGE = "its page was left out to keep the folder small: run again with --max-size 0";
const opener = (pair) => make("td", { class: "open" }, ...(pair.page ? [make("a", { href: "pairs/" + pair.page, "aria-label": `Open ${nameOf(pair.left)} and ${nameOf(pair.right)}` }, "Open")] : [make("span", { class: "soft", title: NO_PAGE }, "left out")]));
const since = (pair) => { const found = first(pair); return found ? (found.side ? found.by : -found.by) : Infinity; };

// A heading is short: where both are counted, it says tokens.
const UNIT = data.unit === "letters" ? "Letters" : "Tokens";
// What headings mean, for those that hover over them.
const MEANING = {
  score: "how much both share, weighed by how rare it is in this class: 0 to 1",
  contained: "how much of the smaller submission is found in the other",
  strongest: "how unusual the strongest shared passage is, in bits",
  cover_left: "how much of the left submission is shared",
  cover_right: "how much of the right submission is shared",
  tokens: `${data.unit} that both share`,
  longest: `${data.unit} of the longest run`,
  passages: "places where both are alike",
  first: "who handed in first",
  pairs: "pairs at or above the slider",
  own: `${data.unit} without starter code and without what too many share`,
};
// Columns: key, heading, class of the heading, what to sort by, the cell. Text columns sort upwards first.
const PAIRS = [
  ["rank", "#", "rank num", (pair) => pair.rank, (pair) => make("td", { class: "rank num soft" }, plain(pair.rank))],
  ["left", "Left", "w-name", (pair) => nameOf(pair.left), (pair) => who(pair.left)],
  ["right", "Right", "w-name", (pair) => nameOf(pair.right), rightOf],
  ["score", "Score", "", (pair) => pair.score, scored],
  ["open", "Page", "open", null, opener],
  ["contained", "Contained", "", (pair) => pair.contained, (pair) => view.list === "contained" ? make("td", {}, bar(pair.contained, percent(pair.contained))) : numeric(percent(pair.contained))],
  ["cover_left", "of left", "num", (pair) => pair.coverLeft, (pair) => numeric(percent(pair.coverLeft))],
  ["cover_right", "of right", "num", (pair) => pair.coverRight, (pair) => numeric(percent(pair.coverRight))],
  ["tokens", UNIT, "num", (pair) => pair.tokens, (pair) => numeric(plain(pair.tokens))],
  ["longest", "Longest", "num", (pair) => pair.longest, (pair) => numeric(plain(pair.longest))],
  ["passages", "Passages", "num", (pair) => pair.passages, (pair) => numeric(plain(pair.passages))],
  ["first", "First", "", since, earlier],
  ["mark", "Mark", "", (pair) => reviewOf(pair).mark, marked],
];

const others = (card) => bests[card.entry] ? bests[card.entry].other : -1;
function matched(card) {
  const other = others(card);
  return other < 0 ? make("td", { class: "soft" }, "no pairs") : who(other);
}
const bestScore = (card) => bests[card.entry] ? bests[card.entry].pair.score : -1;
function kind(card) {
  const told = [];
  if (data.outliers[card.entry]) told.push(make("b", { title: data.outliers[card.entry] }, "stands out"));
  if (card.old) told.push("earlier submission");
  if (card.idle) told.push(`${counted(card.idle, "token")} cannot run`);
  return make("td", {}, ...told.flatMap((part, i) => i ? ["; ", part] : [part]));
}
const SUBMISSIONS = [
  ["name", "Submission", "w-name", (card) => card.name, (card) => who(card.entry)],
  ["best", "Best score", "", bestScore, (card) => make("td", {}, ...(bests[card.entry] ? [bar(bestScore(card), decimal(bestScore(card)))] : ["–"]))],
  ["match", "Best match", "w-name", (card) => others(card) < 0 ? "\uffff" : nameOf(others(card)), matched],
  ["open", "Page", "open", null, (card) => bests[card.entry] ? opener(bests[card.entry].pair) : make("td", { class: "open" })],
  ["pairs", "Pairs", "num", (card) => view.pairsOf[card.entry], (card) => numeric(plain(view.pairsOf[card.entry]))],
  ["label", "Label", "", (card) => data.labels[card.label] || "\uffff", (card) => make("td", {}, data.labels[card.label] || "")],
  ["time", "Time", "", (card) => card.seconds === null ? Infinity : card.seconds, (card) => make("td", { class: "first" }, card.time)],
  ["own", `Own ${UNIT.toLowerCase()}`, "num", (card) => card.tokens[0], (card) => numeric(plain(card.tokens[0]))],
  ["kind", "Remarks", "", (card) => data.outliers[card.entry] ? 0 : 1, kind],
];
const UPWARDS = new Set(["rank", "left", "right", "name", "match", "label", "time", "first", "kind", "mark"]);
// The list of contained pairs is ranked by another value, which stands in the place of the score.
const CONTAINED = PAIRS.map((column) => PAIRS.find(([key]) => key === ({ score: "contained", contained: "score" }[column[0]] || column[0])));
// The list of shared passages is ranked by its strongest ones: they stand in place of what is contained.
const STRONGEST = ["strongest", "Strongest", "num", (pair) => pair.strongest, (pair) => numeric(`${plain(pair.strongest)} bits`)];
const SHARED = PAIRS.map((column) => column[0] === "contained" ? STRONGEST : column);
const columns = () => ({ submissions: SUBMISSIONS, contained: CONTAINED, shared: SHARED }[view.list] || PAIRS);
let shown = [];

function has(entry) {
  return view.words.every((word) => searched[entry].includes(word));
}
// What the filter looks at on one side of a row: of a group, all its members.
const searchedIn = new Map(data.groups.map((group) => [group, group.map((entry) => searched[entry]).join("\n")]));
const searchedOn = (pair, end) => pair.stands > 1 && searchedIn.get(groupOf.get(pair[end])) || searched[pair[end]];
function isWanted(pair) {
  if (view.list === "pairs" && pair.score < view.least - 1e-9) return false;
  if (view.only >= 0 && !touches(pair, view.only)) return false;
  if (view.cluster && !(side(pair, "left").some((end) => view.cluster.has(end)) && side(pair, "right").some((end) => view.cluster.has(end)))) return false;
  if (view.mark !== "any" && reviewOf(pair).mark !== view.mark) return false;
  return view.words.every((word) => searchedOn(pair, "left").includes(word) || searchedOn(pair, "right").includes(word));
}

// Choose and order the rows of the list in view, and show them from the first.
function choose() {
  if (!table) return;
  view.pairsOf = cards.map((card) => ties().count(card.entry, () => 1));
  const isList = view.list === "submissions";
  const all = isList ? cards : lists[view.list];
  shown = isList ? cards.filter((card) => has(card.entry)) : all.filter(isWanted);
  const value = (columns().find(([key]) => key === view.key) || columns()[0])[3];
  const values = new Map(shown.map((row) => [row, value(row)]));
  const compare = (a, b) => typeof a === "string" ? a.localeCompare(b, "en") : a - b || 0;
  shown.sort((a, b) => (view.down ? -1 : 1) * compare(values.get(a), values.get(b)) || (a.rank || 0) - (b.rank || 0));
  const [seen, whole] = isList ? [shown.length, cards.length] : [standing(shown), standing(all)];
  const noun = isList ? "submission" : "pair";
  one("count").textContent = seen === whole ? counted(whole, noun) : `${plain(seen)} of ${counted(whole, noun)}`;
  const lower = view.list === "pairs" ? standing(lists.pairs) - standing(above()) : 0;
  one("lower").hidden = !lower;
  one("lower").textContent = `Show ${counted(lower, "pair")} with lower scores`;
  view.first = 0;
  view.focused = -1;
  fill();
}

function heading([key, title, style, value]) {
  const cell = make("th", { class: style, "data-key": key, scope: "col" });
  if (!value) { cell.append(make("span", { class: "skip" }, title)); return cell; }
  const button = make("button", { type: "button", title: MEANING[key] }, title);
  button.addEventListener("click", () => sort(key));
  if (key === view.key) cell.setAttribute("aria-sort", view.down ? "descending" : "ascending");
  cell.append(button);
  return cell;
}

let printing = false;
function fill() {
  if (!table) return;
  const last = Math.min(shown.length, view.first + (printing ? Number(table.dataset.printed) : ROWS));
  table.tHead.replaceChildren(make("tr", {}, ...columns().map(heading)));
  table.tBodies[0].replaceChildren(...shown.slice(view.first, last).map((row, i) => {
    const at = view.first + i;
    return make("tr", { tabindex: at === Math.max(view.focused, view.first) ? "0" : "-1", "aria-rowindex": at + 2, "data-i": at },
      ...columns().map((column) => column[4](row)));
  }));
  table.setAttribute("aria-rowcount", shown.length + 1);
  table.dataset.list = view.list;
  one("pager").hidden = shown.length <= ROWS;
  one("from").textContent = shown.length ? `rows ${plain(view.first + 1)} to ${plain(last)} of ${plain(shown.length)}` : "no rows";
  one("before").disabled = view.first === 0;
  one("after").disabled = last >= shown.length;
  one("none").hidden = shown.length > 0;
  reach();
}

// Only the controls of the focused row are in the order of tabs, else a table would take hundreds of key strokes.
function reach() {
  for (const row of table.tBodies[0].rows) {
    const isOn = row.tabIndex === 0;
    for (const control of row.querySelectorAll("a, button, select")) control.tabIndex = isOn ? 0 : -1;
  }
}

function sort(key) {
  view.down = key === view.key ? !view.down : !UPWARDS.has(key);
  view.key = key;
  choose();
  table.querySelector(`th[data-key="${key}"] button`).focus();
}

function turn(to) {
  view.first = Math.max(0, Math.min(to, Math.floor((shown.length - 1) / ROWS) * ROWS));
  view.focused = -1;
  one("frame").scrollTop = 0;
  fill();
}

function move(to) {
  view.focused = Math.max(0, Math.min(shown.length - 1, to));
  const page = Math.floor(view.focused / ROWS) * ROWS;
  if (page !== view.first) { view.first = page; fill(); }
  for (const row of table.tBodies[0].rows) row.tabIndex = Number(row.dataset.i) === view.focused ? 0 : -1;
  reach();
  const row = table.querySelector(`tr[data-i="${view.focused}"]`);
  if (row) { row.focus({ preventScroll: true }); row.scrollIntoView({ block: "nearest", behavior: "auto" }); }
}

function keys(event) {
  const row = event.target.closest("tr[data-i]");
  if (!row || event.target.localName === "textarea" || event.target.localName === "select") return;
  const at = Number(row.dataset.i);
  const to = { ArrowDown: at + 1, ArrowUp: at - 1, PageDown: at + 10, PageUp: at - 10, Home: 0, End: shown.length - 1 }[event.key];
  if (to !== undefined) { event.preventDefault(); move(to); }
  if (event.target !== row) return;
  const pair = view.list === "submissions" ? bests[shown[at].entry]?.pair : shown[at];
  if (event.key === "Enter" && pair && pair.page) location.href = "pairs/" + pair.page;
  const side = { ArrowLeft: 0, ArrowRight: 1 }[event.key];
  if (side !== undefined && view.list !== "submissions") location.hash = `s=${side ? pair.right : pair.left}`;
}

function show(list) {
  view.list = list;
  view.key = list === "submissions" ? "best" : "rank";
  view.down = list === "submissions";
  for (const tab of document.querySelectorAll("[role=tab]")) {
    const isOn = tab.dataset.list === list;
    tab.setAttribute("aria-selected", String(isOn));
    tab.tabIndex = isOn ? 0 : -1;
    if (isOn) one("frame").setAttribute("aria-labelledby", tab.id);
  }
  for (const said of document.querySelectorAll("[data-about]")) said.hidden = said.dataset.about !== list;
  one("marks").hidden = list === "submissions";
  choose();
}
