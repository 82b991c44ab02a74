// Marks passages in a text that was painted without them, as crates/compare/src/pane.rs defines it.
const PALE = 2 ** 31, COLOURS = 8;

// The text as a row of leaves: characters, line numbers (no character) and shown-as-code ones (one character).
function leaves(parent, wrap, found) {
  for (const node of parent.childNodes) {
    if (node.nodeType === Node.TEXT_NODE) found.push({ wrap, letters: [...node.data] });
    else if (node.localName === "b") found.push({ wrap, letters: [], node });
    else if (node.className === "x") found.push({ wrap, letters: [""], node });
    else leaves(node, node, found);
  }
  return found;
}

// Where another region is seen: the end of each stretch, the region that began last, whether it is pale, what begins.
// One sweep: regions lie on a stack in the order of their beginnings, and those that ended are taken off when they
// come to its top.
function cuts(regions, length) {
  const clipped = regions.map(([a, b, n]) => [a, Math.min(b, length), n]).filter(([a, b]) => a < b).sort((a, b) => a[0] - b[0] || a[2] - b[2] || a[1] - b[1]);
  const places = [...new Set([0, length, ...clipped.flatMap(([a, b]) => [a, b])])].sort((a, b) => a - b);
  const open = [], paleUntil = new Map();
  let next = 0;
  return places.slice(1).map((end, i) => {
    const at = places[i], begun = [];
    for (; next < clipped.length && clipped[next][0] === at; next += 1) {
      const [, until, n] = clipped[next];
      if (n >= PALE) { paleUntil.set(n - PALE, until); continue; }
      open.push(clipped[next]);
      begun.push(n);
    }
    while (open.length && open.at(-1)[1] <= at) open.pop();
    const seen = open.length ? open.at(-1)[2] : 0;
    return { end, seen, isPale: at < (paleUntil.get(seen) ?? 0), begun };
  });
}

function paint(pre, regions, side) {
  const row = leaves(pre, null, []), other = side === "l" ? "r" : "l";
  const length = row.reduce((sum, leaf) => sum + leaf.letters.length, 0);
  const out = document.createDocumentFragment();
  let leaf = 0, used = 0, at = 0;
  // Append a leaf or a piece of it; neighbours in one coloured run share one element.
  function append(into, node, wrap, last) {
    if (!wrap) { into.append(node); return null; }
    const run = last && last.wrap === wrap ? last.run : into.appendChild(wrap.cloneNode(false));
    run.append(node);
    return { wrap, run };
  }
  function copy(into, until) {
    let last = null;
    while (leaf < row.length && (at < until || (row[leaf].node && !row[leaf].letters.length && used === 0))) {
      const { wrap, letters, node } = row[leaf];
      const piece = letters.slice(used, used + until - at);
      last = append(into, node || piece.join(""), wrap, last);
      at += piece.length;
      used += piece.length;
      if (used >= letters.length) { leaf += 1; used = 0; }
    }
  }
  if (row.length) copy(out, 0);
  for (const { end, seen, isPale, begun } of cuts(regions, length)) {
    for (const n of begun) out.append(make("a", { id: side + n, class: `p c${n % COLOURS}`, href: `#${other}${n}` }, String(n)));
    const into = seen ? out.appendChild(make("mark", { class: `c${seen % COLOURS}${isPale ? " pale" : ""}`, "data-p": seen })) : out;
    copy(into, end);
  }
  pre.replaceChildren(out);
}
