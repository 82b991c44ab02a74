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
function cuts(regions, length) {
  const clipped = regions.map(([a, b, n]) => [a, Math.min(b, length), n]).filter(([a, b]) => a < b);
  const own = clipped.filter(([, , n]) => n < PALE), pale = clipped.filter(([, , n]) => n >= PALE);
  const places = [...new Set([0, length, ...clipped.flatMap(([a, b]) => [a, b])])].sort((a, b) => a - b);
  return places.slice(1).map((end, i) => {
    const at = places[i];
    const open = own.filter(([a, b]) => a <= at && at < b).sort((a, b) => b[0] - a[0] || b[2] - a[2]);
    const seen = open.length ? open[0][2] : 0;
    const parts = pale.filter(([a, , n]) => n === seen + PALE && a <= at).sort((a, b) => b[0] - a[0]);
    const begun = own.filter(([a]) => a === at).map(([, , n]) => n).sort((a, b) => a - b);
    return { end, seen, isPale: parts.length > 0 && at < parts[0][1], begun };
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
