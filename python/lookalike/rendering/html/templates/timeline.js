// When submissions were handed in: bars for all, dots for those in pairs at or above the slider, lines that open pairs.
const LINES = 150, LANE = 16, LANES = 12, BARS = 60;

function ticks(from, to) {
  const hour = to - from < 2 * 86400;
  return [0, 0.25, 0.5, 0.75, 1].map((share) => {
    const text = new Date((from + share * (to - from)) * 1000).toISOString();
    return [share, hour ? text.slice(5, 16).replace("T", " ") : text.slice(0, 10)];
  });
}

function lanes(tied, at) {
  const ends = Array(LANES).fill(-Infinity), placed = new Map();
  for (const entry of [...tied].sort((a, b) => cards[a].seconds - cards[b].seconds)) {
    const x = at(cards[entry].seconds);
    let lane = ends.findIndex((end) => end <= x - 12);
    if (lane < 0) lane = ends.indexOf(Math.min(...ends));
    ends[lane] = x;
    placed.set(entry, { x, y: 14 + lane * LANE });
  }
  return placed;
}

function timeline() {
  const box = one("timeline");
  const timed = cards.filter((card) => card.seconds !== null);
  if (!box || timed.length < 2) return;
  const times = timed.map((card) => card.seconds);
  const [from, to] = [times.reduce((a, b) => Math.min(a, b)), times.reduce((a, b) => Math.max(a, b))];
  const width = Math.max(280, box.clientWidth - 26), margin = 12;
  const at = (seconds) => Math.round(margin + (to > from ? (seconds - from) / (to - from) : 0.5) * (width - 2 * margin));
  const found = above().filter((pair) => cards[pair.left].seconds !== null && cards[pair.right].seconds !== null), pairs = found.slice(0, LINES);
  const placed = lanes(new Set(pairs.flatMap((pair) => [pair.left, pair.right])), at);
  const floor = 100 + Math.max(0, ...[...placed.values()].map(({ y }) => y));
  const counts = Array(BARS).fill(0);
  for (const time of times) counts[Math.min(BARS - 1, Math.floor((to > from ? (time - from) / (to - from) : 0.5) * BARS))] += 1;
  const most = Math.max(...counts), step = (width - 2 * margin) / BARS;
  const bars = counts.map((count, i) => draw("rect", { class: "low", x: margin + i * step + 0.5, width: Math.max(1, step - 1), y: floor - (40 * count) / most, height: (40 * count) / most },
    draw("title", {}, counted(count, "submission"))));
  const lines = pairs.map((pair) => {
    const lead = first(pair), order = lead ? `; ${nameOf(lead.side ? pair.right : pair.left)} was first, by ${span(lead.by)}` : "";
    const [a, b] = [placed.get(pair.left), placed.get(pair.right)];
    return edge(pair.left, pair.right, pair, `M${a.x} ${a.y}Q${(a.x + b.x) / 2} ${(a.y + b.y) / 2 + 10 + Math.min(70, Math.abs(a.x - b.x) / 6)} ${b.x} ${b.y}`, order);
  });
  const dots = [...placed].map(([entry, { x, y }]) => draw("a", { href: `#s=${entry}`, class: `node c${Math.max(0, cards[entry].label) % 8}`, "aria-label": `${nameOf(entry)}, ${cards[entry].time}` },
    draw("title", {}, `${nameOf(entry)}, ${cards[entry].time}`), draw("circle", { cx: x, cy: y, r: 5 })));
  const axis = ticks(from, to).filter(([share]) => width > 600 || share !== 0.25 && share !== 0.75).map(([share, text]) =>
    draw("text", { x: margin + share * (width - 2 * margin), y: floor + 16, "text-anchor": share === 0 ? "start" : share === 1 ? "end" : "middle" }, text));
  box.replaceChildren(draw("svg", { class: "graph", width, height: floor + 22, viewBox: `0 0 ${width} ${floor + 22}`, role: "group", "aria-label": "Timeline of submissions" }, ...bars, ...lines, ...dots, ...axis));
  const missing = cards.length - timed.length;
  one("timed").textContent = `Grey bars: all ${plain(timed.length)} submissions with a time. Dots: those in pairs with score ${view.least.toFixed(2)} or higher; each line is a pair and opens it.`
    + (found.length > LINES ? ` The best ${LINES} of ${plain(found.length)} pairs are drawn.` : "") + (missing ? ` ${counted(missing, "submission")} without a time.` : "");
}
