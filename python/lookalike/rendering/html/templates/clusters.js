// Clusters at the slider's score: small ones as a graph whose lines open the pair, large ones as a table of all pairs.
const STAR = 10, MATRIX = 60, CLUSTERS = 30, CELLS = 12000;

// As the report makes them: submissions lead in the order of the sum of their scores, and take their free neighbours.
function clustered(tied) {
  if (Math.abs(view.least - data.clusterAt) < 1e-9) return data.clusters;
  const leaders = tied.entries(), strength = new Map(leaders.map((entry) => [entry, tied.count(entry, (pair) => Math.floor(pair.score * 1e9))]));
  const taken = new Set(), found = [];
  for (const leader of leaders.sort((a, b) => strength.get(b) - strength.get(a) || a - b)) {
    if (taken.has(leader)) continue;
    const members = [...tied.near(leader)].filter(([other]) => !taken.has(other));
    if (!members.length) continue;
    members.sort((a, b) => b[1].score - a[1].score || a[0] - b[0]);
    const all = [leader, ...members.map(([other]) => other)];
    for (const member of all) taken.add(member);
    found.push(all);
  }
  return found;
}

const said = (a, b, pair) => `${nameOf(a)} and ${nameOf(b)}: ${decimal(pair.score)}`;
// Names of a class differ at their beginning or at their end: long ones lose their middle.
const short = (name) => name.length <= 20 ? name : name.slice(0, 10) + "…" + name.slice(-9);

// A line between two places; between two places of one column it bends to the left, so that it crosses no name.
function between(from, to) {
  const bend = from.x === to.x ? 16 + Math.abs(from.y - to.y) / 3 : 0;
  return `M${from.x} ${from.y}Q${(from.x + to.x) / 2 - bend} ${(from.y + to.y) / 2} ${to.x} ${to.y}`;
}

function edge(a, b, pair, d, told) {
  const name = said(a, b, pair) + (told || "");
  const lines = [draw("title", {}, name), draw("path", { d, class: "hit" }),
    draw("path", { d, "stroke-width": (1 + 3 * pair.score ** 2).toFixed(2), "stroke-opacity": (0.25 + 0.6 * pair.score).toFixed(2) })];
  return pair.page ? draw("a", { href: "pairs/" + pair.page, class: "edge", "aria-label": "Open " + name }, ...lines) : draw("g", { class: "edge" }, ...lines);
}

function node(entry, { x, y, before }, isCentre) {
  const { name, label } = cards[entry];
  return draw("a", { href: `#s=${entry}`, class: label >= 0 ? `node c${label % 8}` : "node", "aria-label": name }, draw("title", {}, name),
    draw("circle", { cx: x, cy: y, r: isCentre ? 8 : 6 }),
    draw("text", { x: x + (before ? -12 : 12), y: y + 4, "text-anchor": before ? "end" : "start" }, short(name)));
}

// The submission that all others were compared with stands on the left, the others in a column on the right.
function star(members, tied) {
  const step = 24, margin = 152, across = 76, width = 2 * margin + across, height = step * (members.length - 1) + 12;
  const places = new Map([[members[0], { x: margin, y: height / 2, before: true }],
    ...members.slice(1).map((member, i) => [member, { x: margin + across, y: 18 + step * i }])]);
  const edges = members.flatMap((a, i) => members.slice(i + 1).filter((b) => tied.between(a, b))
    .map((b) => edge(a, b, tied.between(a, b), between(places.get(a), places.get(b)))));
  return draw("svg", { class: "graph", viewBox: `0 0 ${width} ${height}`, width, height, role: "group", "aria-label": "Graph of the cluster" },
    ...edges, ...members.map((member, i) => node(member, places.get(member), i === 0)));
}

// Arrow keys go from cell to cell; only one cell of a table is in the order of tabs.
function acrossCells(event) {
  const step = { ArrowRight: [0, 1], ArrowLeft: [0, -1], ArrowDown: [1, 0], ArrowUp: [-1, 0] }[event.key], cell = event.target.closest("td");
  if (!step || !cell) return;
  event.preventDefault();
  const rows = [...cell.closest("tbody").rows];
  let row = rows.indexOf(cell.parentElement) + step[0], column = cell.cellIndex + step[1], link = null;
  while (!link && rows[row]?.cells[column]) {
    link = rows[row].cells[column].querySelector(":scope:is(td) > a");
    row += step[0];
    column += step[1];
  }
  if (!link) return;
  event.target.tabIndex = -1;
  link.tabIndex = 0;
  link.focus();
}

function matrix(members, tied) {
  const heads = members.map((_, i) => make("th", { scope: "col", class: "num" }, String(i + 1)));
  const rows = members.map((a, i) => make("tr", {}, make("th", { scope: "row" }, make("span", { class: "soft num" }, `${i + 1} `), make("a", { href: `#s=${a}` }, nameOf(a))),
    ...members.map((b) => {
      const pair = tied.between(a, b);
      if (!pair) return make("td", { class: a === b ? "same" : "" });
      const cell = make("td", { class: `h${Math.min(9, Math.floor(pair.score * 10))}` });
      if (pair.page) cell.append(make("a", { href: "pairs/" + pair.page, tabindex: "-1", title: said(a, b, pair), "aria-label": said(a, b, pair) }));
      return cell;
    })));
  const whole = make("table", { class: "matrix" }, make("thead", {}, make("tr", {}, make("td"), ...heads)), make("tbody", {}, ...rows));
  whole.querySelector("td a")?.setAttribute("tabindex", "0");
  whole.addEventListener("keydown", acrossCells);
  return whole;
}

function roll(members, tied) {
  const scores = members.map((member, i) => i ? tied.between(members[0], member) : null);
  return make("ol", { class: "roll" }, ...members.map((member, i) => make("li", {}, make("a", { href: `#s=${member}` }, nameOf(member)),
    make("span", { class: "soft" }, scores[i] ? ` ${decimal(scores[i].score)}` : i ? "" : " (compared with all others)"))));
}

function opening(members) {
  const timed = members.filter((member) => cards[member].seconds !== null).sort((a, b) => cards[a].seconds - cards[b].seconds);
  const named = timed.length ? ` First handed in: ${nameOf(timed[0])}, ${cards[timed[0]].time}.` : "";
  return `${counted(members.length, "submission")} around ${nameOf(members[0])}.${named}`;
}

function pictured(members, tied) {
  if (members.length <= STAR) return star(members, tied);
  return members.length <= MATRIX ? matrix(members, tied) : roll(members, tied);
}

function figure(members, tied, isFolded) {
  const pairs = make("button", { type: "button" }, "Show its pairs");
  pairs.addEventListener("click", () => { view.cluster = new Set(members); show("pairs"); chosen(); one("frame").scrollIntoView({ block: "center" }); });
  const caption = make("figcaption", {}, opening(members), " ", pairs);
  const box = make("div", { class: "graph-box", tabindex: members.length > STAR ? "0" : undefined, role: members.length > STAR ? "region" : undefined, "aria-label": members.length > STAR ? opening(members) : undefined });
  if (!isFolded) { box.append(pictured(members, tied)); return make("figure", { class: members.length > STAR ? "large" : "" }, caption, box); }
  const fold = make("details", {}, make("summary", {}, "Show this cluster"), box);
  fold.addEventListener("toggle", () => { if (!box.firstChild) box.append(pictured(members, tied)); });
  return make("figure", {}, caption, fold);
}

// The figures at the head of the page follow the slider. Of a list that was cut, only listed pairs have a score here.
function tiles(clusterCount) {
  const isWhole = view.least <= data.cutOff + 1e-9, pairCount = isWhole ? data.pairCount : standing(above());
  const noun = isWhole || data.pairCount === standing(lists.pairs) ? "pair" : "listed pair";
  const from = view.least ? `with score ${view.least.toFixed(2)} or higher` : pairCount === 1 ? "that shares something" : "that share something";
  const put = (tile, count, name, said) => one(tile).replaceChildren(make("dt", {}, `${name}${count === 1 ? "" : "s"} ${said}`), make("dd", {}, plain(count)));
  put("tile-pairs", pairCount, noun, from);
  put("tile-clusters", clusterCount, "cluster", `with score ${view.least.toFixed(2)} or higher`);
}

let many = CLUSTERS;
function clusters() {
  tiles(0);
  if (!one("graph")) return;
  const tied = ties();
  const found = clustered(tied).slice().sort((a, b) => b.length - a.length);
  let room = CELLS;
  const figures = found.slice(0, many).map((members) => {
    const size = members.length <= STAR ? members.length ** 2 : members.length <= MATRIX ? members.length ** 2 : members.length * 4;
    room -= size;
    return figure(members, tied, room < 0);
  });
  one("clusters").replaceChildren(...figures);
  const inside = new Map(found.flatMap((members, i) => members.map((member) => [member, i])));
  const across = standing(above().filter((pair) => inside.get(pair.left) !== inside.get(pair.right)));
  tiles(found.length);
  one("clustered").textContent = found.length
    ? `${counted(found.length, "cluster")} of submissions with score ${view.least.toFixed(2)} or higher.` + (across ? ` ${counted(across, "more pair")} ${across === 1 ? "joins" : "join"} different clusters; see the table.` : "")
    : `No clusters: no pair has a score of ${view.least.toFixed(2)} or higher.`;
  one("more").hidden = found.length <= many;
  one("more").textContent = `Show ${plain(Math.min(CLUSTERS, found.length - many))} of ${counted(found.length - many, "more cluster")}`;
}
