// The printed page: a key, the listed passages side by side, the weightiest first, and code that the score leaves out.
const PRINTED = 40, PRINTED_LINES = 150;
// A passage that begins farther than this many characters inside its line is printed from its beginning on.
const INSIDE = 120;

const fileOf = (place) => make("p", { class: "mono" }, place.closest(".file").querySelector("summary").firstChild.textContent);

// A copy of a part of a text without anchors; only the badge of the passage is printed.
function copied(range, number) {
  const copy = make("pre", {}, range.cloneContents());
  for (const link of copy.querySelectorAll("a.p")) if (link.textContent === number) link.removeAttribute("id"); else link.remove();
  return copy;
}

// The lines of a passage on one side, as they are on the screen.
function excerpt(side, number) {
  const start = badge(side, number), marks = [...side.querySelectorAll(`mark[data-p="${number}"]`)];
  const box = make("div", { class: "excerpt" });
  if (!start || !marks.length) { box.append("not shown on this page"); return box; }
  const pre = start.closest("pre"), range = document.createRange();
  const lines = [...pre.querySelectorAll("b")].filter((line) => line.compareDocumentPosition(start) & Node.DOCUMENT_POSITION_FOLLOWING);
  range.setStartBefore(lines.at(-1) || start);
  range.setEndBefore(start);
  const isInside = range.toString().length > INSIDE;
  if (isInside) range.setStartBefore(start);
  const inside = [...pre.querySelectorAll("b")].slice(lines.length, lines.length + PRINTED_LINES);
  const last = marks.at(-1), cut = inside[PRINTED_LINES - 1];
  const isCut = cut && cut.compareDocumentPosition(last) & (Node.DOCUMENT_POSITION_FOLLOWING | Node.DOCUMENT_POSITION_CONTAINS);
  if (isCut) range.setEndBefore(cut);
  else range.setEndAfter(last);
  const copy = copied(range, number);
  for (const mark of copy.querySelectorAll("mark")) mark.classList.toggle("other", mark.dataset.p !== number && mark.dataset.in !== number);
  // A passage may end with a line feed: the number of the line after it is not part of it.
  const numbers = [...copy.querySelectorAll("b")], after = document.createRange();
  if (numbers.length > 1) {
    after.setStartAfter(numbers.at(-1));
    after.setEndAfter(copy.lastChild);
    if (!after.toString().trim()) numbers.at(-1).remove();
  }
  if (isInside) copy.prepend(lines.at(-1).cloneNode(true), "\u2026 ");
  box.append(fileOf(start), copy);
  if (isCut) box.append(make("p", {}, `The passage goes on; ${PRINTED_LINES} lines of it are printed.`));
  return box;
}

// The line numbers of a text that have code that cannot run, in runs of consecutive lines: first line, line after them.
function idleRuns(pre) {
  const lines = [], has = [], runs = [];
  for (const part of pre.querySelectorAll("b, i.u")) {
    if (part.localName === "b") { lines.push(part); has.push(Boolean(part.closest("i.u"))); } else if (lines.length) has[lines.length - 1] = true;
  }
  for (let first = 0, after = 0; first < lines.length; first = after + 1) {
    for (after = first; has[after]; after += 1);
    if (after > first) runs.push({ from: lines[first], until: lines[after], count: after - first, cut: (rows) => lines[first + rows] });
  }
  return runs;
}

// The code of one side that cannot run, as it is on the screen.
function idle(side) {
  const box = make("div", { class: "excerpt" });
  let room = PRINTED_LINES, rest = 0;
  for (const pre of side.querySelectorAll("pre:has(i.u)")) {
    const copies = [];
    for (const { from, until, count, cut } of idleRuns(pre)) {
      rest += Math.max(0, count - room);
      if (!room) continue;
      const range = document.createRange(), end = count > room ? cut(room) : until;
      range.setStartBefore(from);
      if (end) range.setEndBefore(end);
      else range.setEndAfter(pre.lastChild);
      room -= Math.min(room, count);
      copies.push(copied(range));
    }
    for (const copy of copies) copy.className = "idle";
    if (copies.length) box.append(fileOf(pre), ...copies);
  }
  if (!box.firstChild) box.append("No code is shown that cannot run.");
  if (rest) box.append(make("p", {}, `${counted(rest, "more line")} of such code: see the page.`));
  return box;
}

function key() {
  const has = (kind) => sides.some((side) => side.querySelector(kind));
  return make("p", { class: "key" }, "Key: ", make("mark", {}, "shaded"), " text matches; ", make("mark", { class: "other" }, "lightly shaded"), " text belongs to another passage, or stands beside a match and does not match.",
    ...(has("i.t, i.o") ? [" ", make("i", { class: "t" }, "Grey text"), " is starter code, or too many have it: it does not count."] : []),
    ...(has("i.u") ? [" ", make("i", { class: "u" }, "Grey text above dots"), " cannot run."] : []));
}

function evidence() {
  const numbers = one("review").dataset.order.split(" ").filter(Boolean).slice(0, PRINTED);
  const parts = numbers.map((number) => {
    const entry = document.querySelector(`.list li[data-place="${number}"]:not(.section) > a`);
    const said = entry ? entry.querySelector("small").textContent : "";
    const where = entry ? entry.querySelector("span:nth-child(2)").textContent : "";
    return make("section", { class: "exhibit" }, make("h3", {}, `Passage ${number}: ${where}`), make("p", {}, said),
      make("div", { class: "both" }, ...sides.map((side) => excerpt(side, number))));
  });
  parts.unshift(key());
  if (one("review").dataset.idle) parts.push(make("section", { class: "exhibit" }, make("h3", {}, "Code that cannot run"), make("p", {}, "The score leaves it out."),
    make("div", { class: "both" }, ...sides.map(idle))));
  const rest = document.querySelectorAll(".list li[data-place]:not(.section)").length - numbers.length;
  parts.push(make("p", {}, rest ? `Not printed: ${counted(rest, "weaker or repeated passage")} and the rest of both texts. They are on the page and in passages.csv.` : "Not printed: the rest of both texts. It is on the page."));
  one("evidence").replaceChildren(...parts);
}

addEventListener("beforeprint", evidence);
addEventListener("afterprint", () => one("evidence").replaceChildren());
