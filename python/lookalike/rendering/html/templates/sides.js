// The two texts: scrolled together, and mapped.
let knots = null;

// Where passages begin and end on both sides, ascending on one of them; the other side is interpolated between them.
function measure() {
  const points = [];
  for (const link of sides[0].querySelectorAll("a.p")) {
    const number = link.id.slice(1), other = badge(sides[1], number);
    if (!link.offsetParent || !other || !other.offsetParent) continue;
    const ends = sides.map((side) => [...side.querySelectorAll(`mark[data-p="${number}"]`)].at(-1));
    points.push([depth(sides[0], link), depth(sides[1], other)]);
    if (ends[0] && ends[1]) points.push(ends.map((mark, i) => depth(sides[i], mark) + mark.getBoundingClientRect().height));
  }
  points.push([0, 0], sides.map((side) => side.scrollHeight));
  knots = [0, 1].map((side) => points.slice().sort((a, b) => a[side] - b[side]));
}

function follow(side) {
  if (lit.driver !== side || !one("sync").checked) return;
  if (!knots) measure();
  const from = sides.indexOf(side), to = 1 - from, other = sides[to];
  const height = side.clientHeight / 3, y = side.scrollTop + height;
  const points = knots[from];
  let after = points.findIndex((point) => point[from] > y);
  if (after < 0) after = points.length - 1;
  const [a, b] = [points[Math.max(0, after - 1)], points[after]];
  const share = b[from] > a[from] ? Math.min(1, (y - a[from]) / (b[from] - a[from])) : 0;
  // Where the order differs on the other side, its text stays until the next passage begins.
  const target = b[to] >= a[to] ? a[to] + share * (b[to] - a[to]) : a[to];
  other.scrollTop = target - height;
}

// The map is drawn by line numbers; where lines wrap, measured places are better.
function chart() {
  knots = null;
  const places = [];
  for (const side of sides) {
    const map = side.parentElement.querySelector(".map");
    const scale = map.viewBox.baseVal.height / Math.max(side.scrollHeight, 1);
    for (const link of map.children) {
      const target = badge(side, numberOf(link));
      if (target && target.offsetParent) places.push([link.firstElementChild, depth(side, target) * scale]);
    }
  }
  // Read all places before writing, so that the page is laid out only once.
  for (const [mark, top] of places) mark.setAttribute("y", top.toFixed(1));
}

function startSides() {
  for (const side of sides) {
    for (const kind of ["wheel", "pointerdown", "touchstart", "keydown"]) side.addEventListener(kind, () => { lit.driver = side; }, { passive: true });
    side.addEventListener("scroll", () => requestAnimationFrame(() => follow(side)), { passive: true });
    side.addEventListener("toggle", chart, true);
  }
  let waiting = 0;
  addEventListener("resize", () => { clearTimeout(waiting); waiting = setTimeout(chart, 150); });
  chart();
}
