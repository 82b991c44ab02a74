// Marks and notes of pairs, kept in this browser under the digest of the report's submissions.
const STATES = ["", "reviewed", "confirmed", "dismissed"];
const COLUMNS = ["left", "right", "mark", "note"];
const keeping = { key: "", kept: new Map(), works: true };

const pairKey = (left, right) => left + "\n" + right;

function openReviews(digest) {
  keeping.key = "lookalike " + digest;
  try {
    const rows = JSON.parse(localStorage.getItem(keeping.key) || "[]");
    keeping.kept = new Map(rows.map((row) => [pairKey(row.left, row.right), row]));
    localStorage.setItem(keeping.key + " test", "1");
    localStorage.removeItem(keeping.key + " test");
  } catch {
    keeping.works = false;
  }
}

const review = (left, right) => keeping.kept.get(pairKey(left, right)) || { left, right, mark: "", note: "" };

function keepReviews() {
  try {
    localStorage.setItem(keeping.key, JSON.stringify([...keeping.kept.values()]));
  } catch {
    keeping.works = false;
  }
}

// Change the mark or the note of a pair. Another page of the report may have written since, so read first.
function setReview(left, right, change) {
  openReviews(keeping.key.slice("lookalike ".length));
  const now = { ...review(left, right), ...change };
  if (now.mark || now.note) keeping.kept.set(pairKey(left, right), now);
  else keeping.kept.delete(pairKey(left, right));
  keepReviews();
}

function chooser(left, right, after) {
  const select = make("select", { class: "mark", "aria-label": `Mark of ${left} and ${right}` },
    ...STATES.map((state) => make("option", { value: state }, state || "not marked")));
  select.value = review(left, right).mark;
  select.dataset.mark = select.value;
  select.addEventListener("change", () => {
    setReview(left, right, { mark: select.value });
    select.dataset.mark = select.value;
    after();
  });
  return select;
}

// A cell that a spreadsheet would take for a formula gets an apostrophe, as lookalike/rendering/tables.py has it: plain
// numbers do not, and a formula behind apostrophes gets one more, so that reading it back knows which one to take away.
const isFormula = (text) => /^'*[=+\-@\t\r\n\0\uff1d\uff0b\uff0d\uff20]/.test(text) && !/^'*[+-]?[0-9]+(\.[0-9]+)?$/.test(text);
function csvCell(text) {
  const safe = isFormula(text) ? "'" + text : text;
  return /[",\r\n]/.test(safe) ? '"' + safe.replaceAll('"', '""') + '"' : safe;
}

function reviewsAsCsv() {
  const rows = [...keeping.kept.values()].map((row) => COLUMNS.map((column) => csvCell(row[column])).join(","));
  return [COLUMNS.join(","), ...rows, ""].join("\r\n");
}

const reviewsAsJson = () => JSON.stringify({ kind: "lookalike marks", marks: [...keeping.kept.values()] }, null, 1) + "\n";

function csvRows(text) {
  const rows = [];
  let row = [];
  for (const [, quoted, bare, end] of text.matchAll(/(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r\n|\n|\r|$)/g)) {
    row.push(quoted === undefined ? bare : quoted.replaceAll('""', '"'));
    if (end === ",") continue;
    if (row.length > 1) rows.push(row.map((cell) => cell.startsWith("'") && isFormula(cell) ? cell.slice(1) : cell));
    row = [];
  }
  return rows;
}

// Read an exported file. Returns a sentence about what was taken over; pairs that the report lacks are counted.
function takeReviews(text, known) {
  let rows;
  try {
    rows = JSON.parse(text).marks;
  } catch {
    const [head, ...cells] = csvRows(text.replace(/^\ufeff/, ""));
    rows = head && COLUMNS.every((column) => head.includes(column))
      ? cells.map((row) => Object.fromEntries(head.map((column, i) => [column, row[i] || ""]))) : undefined;
  }
  if (!Array.isArray(rows)) return "This file has no marks: choose a CSV or JSON file that was exported here.";
  const good = rows.filter((row) => row && COLUMNS.every((column) => typeof row[column] === "string") && STATES.includes(row.mark));
  const ours = good.filter((row) => known.has(pairKey(row.left, row.right)));
  // Another tab may have changed them since.
  openReviews(keeping.key.slice("lookalike ".length));
  for (const row of ours) {
    const { left, right, mark, note } = row;
    keeping.kept.set(pairKey(left, right), { left, right, mark, note });
  }
  keepReviews();
  const rest = rows.length - ours.length;
  return `${counted(ours.length, "mark")} imported.` + (rest ? ` ${counted(rest, "row")} left out: not a pair of this report, or not a mark.` : "");
}
