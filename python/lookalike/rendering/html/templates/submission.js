// The view of one submission: facts, files, and its pairs in the table.
function stack(tokens) {
  const all = Math.max(1, tokens[0] + tokens[1] + tokens[2]);
  const svg = draw("svg", { class: "stack", viewBox: "0 0 100 8", preserveAspectRatio: "none", "aria-hidden": "true" });
  let x = 0;
  ["own", "template", "usual"].forEach((kind, i) => {
    const width = (tokens[i] / all) * 100;
    svg.append(draw("rect", { class: kind, x, width, height: 8 }));
    x += width;
  });
  return svg;
}

function facts({ entry, person, label, time, old, digest, tokens, idle }) {
  const list = make("dl");
  const fact = (name, value) => value && list.append(make("dt", {}, name), make("dd", {}, value));
  fact("Person", person);
  fact("Label", data.labels[label]);
  fact("Time", time);
  fact("Kind", old && "earlier submission, compared with new ones only");
  fact(UNIT, `${plain(tokens[0])} of its own, ${plain(tokens[1])} of the starter code, ${plain(tokens[2])} shared by too many`);
  fact("Cannot run", idle && counted(idle, "token"));
  fact("Best score", bests[entry] ? `${decimal(bests[entry].pair.score)}, with ${nameOf(others(cards[entry]))}` : "no pairs");
  fact("Stands out", data.outliers[entry]);
  fact("SHA-256", make("span", { class: "mono" }, digest));
  return list;
}

function files({ files: list, more }) {
  const head = make("tr", {}, make("th", {}, "File"), make("th", {}, "Read as"), make("th", { class: "num" }, UNIT), make("th", {}, "Remarks"));
  const rows = list.map(([name, language, tokens, notes]) => make("tr", {}, make("td", { class: "mono" }, name), make("td", {}, language),
    make("td", { class: "num" }, plain(tokens)), make("td", {}, notes.join("; "))));
  if (more) rows.push(make("tr", {}, make("td", { colspan: 4 }, `and ${plain(more)} more in report.json`)));
  return make("div", { class: "graph-box" }, make("table", { class: "rows" }, make("thead", {}, head), make("tbody", {}, ...rows)));
}

function route() {
  const asked = /^#s=(\d+)$/.exec(location.hash);
  const entry = asked && Number(asked[1]) < cards.length ? Number(asked[1]) : -1;
  document.body.classList.toggle("one", entry >= 0);
  if (entry >= 0) {
    const title = make("h2", { tabindex: "-1" }, cards[entry].name);
    one("one").replaceChildren(make("p", {}, make("a", { href: "#pairs" }, "← All submissions")),
      make("div", { class: "card" }, title, stack(cards[entry].tokens), facts(cards[entry]), files(cards[entry])), make("h2", { class: "next" }, "Its pairs"));
    title.focus({ preventScroll: true });
    scrollTo(0, 0);
  }
  if (view.only !== entry) {
    view.only = entry;
    if (entry >= 0 && view.list === "submissions") show("pairs");
    else choose();
  }
  const part = location.hash.length > 1 && one(location.hash.slice(1));
  if (part && part.localName === "details") part.open = true;
}
