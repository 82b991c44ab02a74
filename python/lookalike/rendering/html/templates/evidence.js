// The printed page: the listed passages side by side, the strongest first, and nothing that does not matter.
const PRINTED = 40, PRINTED_LINES = 150;

// The lines of a passage on one side, as they are on the screen.
function excerpt(side, number) {
  const start = badge(side, number), marks = [...side.querySelectorAll(`mark[data-p="${number}"]`)];
  const box = make("div", { class: "excerpt" });
  if (!start || !marks.length) { box.append("not shown on this page"); return box; }
  const pre = start.closest("pre"), range = document.createRange();
  const lines = [...pre.querySelectorAll("b")].filter((line) => line.compareDocumentPosition(start) & Node.DOCUMENT_POSITION_FOLLOWING);
  range.setStartBefore(lines.at(-1) || start);
  const inside = [...pre.querySelectorAll("b")].slice(lines.length, lines.length + PRINTED_LINES);
  const last = marks.at(-1), cut = inside[PRINTED_LINES - 1];
  const isCut = cut && cut.compareDocumentPosition(last) & (Node.DOCUMENT_POSITION_FOLLOWING | Node.DOCUMENT_POSITION_CONTAINS);
  if (isCut) range.setEndBefore(cut);
  else range.setEndAfter(last);
  const copy = make("pre", {}, range.cloneContents());
  for (const named of copy.querySelectorAll("[id]")) named.removeAttribute("id");
  // A passage may end with a line feed: the number of the line after it is not part of it.
  const numbers = [...copy.querySelectorAll("b")], after = document.createRange();
  if (numbers.length > 1) {
    after.setStartAfter(numbers.at(-1));
    after.setEndAfter(copy.lastChild);
    if (!after.toString().trim()) numbers.at(-1).remove();
  }
  const file = start.closest(".file").querySelector("summary").firstChild.textContent;
  box.append(make("p", { class: "mono" }, file), copy);
  if (isCut) box.append(make("p", {}, `The passage goes on; ${PRINTED_LINES} lines of it are printed.`));
  return box;
}

function evidence() {
  const numbers = one("review").dataset.order.split(" ").filter(Boolean);
  const parts = numbers.slice(0, PRINTED).map((number) => {
    const entry = document.querySelector(`.list li[data-place="${number}"]:not(.section) > a`);
    const said = entry ? entry.querySelector("small").textContent : "";
    const where = entry ? entry.querySelector("span:nth-child(2)").textContent : "";
    return make("section", { class: "exhibit" }, make("h3", {}, `Passage ${number}: ${where}`), make("p", {}, said),
      make("div", { class: "both" }, ...sides.map((side) => excerpt(side, number))));
  });
  const rest = document.querySelectorAll(".list li[data-place]:not(.section)").length - parts.length;
  parts.push(make("p", {}, rest ? `Not printed: ${counted(rest, "weaker or repeated passage")} and the rest of both texts. They are on the page and in passages.csv.` : "Not printed: the rest of both texts. It is on the page."));
  one("evidence").replaceChildren(...parts);
}

addEventListener("beforeprint", evidence);
addEventListener("afterprint", () => one("evidence").replaceChildren());
