// The list of passages: its order, and the one that is lit on both sides.
const quiet = matchMedia("(prefers-reduced-motion: reduce)").matches;
// The two scrolling texts; they are there when `begin` is called.
const sides = [];
const lit = { number: 0, driver: null };

const badge = (side, number) => one(side.id + number);
const entries = () => [...document.querySelectorAll(".list li[data-place] > a")];
const numberOf = (link) => Number(link.getAttribute("href").slice(2));
// The position of an element inside its scrolling side.
const depth = (side, element) => element.getBoundingClientRect().top - side.getBoundingClientRect().top + side.scrollTop;

function reveal(element) {
  for (let fold = element.closest("details"); fold; fold = fold.parentElement.closest("details")) fold.open = true;
}

function scroll(side, number, height) {
  const target = badge(side, number);
  if (!target) return;
  reveal(target);
  const top = depth(side, target) - height;
  const near = Math.abs(top - side.scrollTop) < 2 * side.clientHeight;
  side.scrollTo({ top, behavior: near && !quiet ? "smooth" : "auto" });
}

// A repeat is a further copy of part of a passage. Where it lies inside that passage it keeps its colour, and its badge
// appears when it is lit or its list is open: else repeats would hide the passage.
function quieten() {
  for (const item of document.querySelectorAll("#repeats li[data-in]")) {
    for (const [side, outer] of item.dataset.in.split(" ").map((place) => [one(place[0]), place.slice(1)])) {
      badge(side, item.dataset.place)?.classList.add("inside");
      for (const mark of side.querySelectorAll(`mark[data-p="${item.dataset.place}"]`)) { mark.className = `c${outer % 8}`; mark.dataset.in = outer; }
    }
  }
}

function dark() {
  lit.number = 0;
  document.querySelector("main").classList.remove("lit");
  for (const old of document.querySelectorAll(".on")) old.classList.remove("on");
}

// Show a passage on both sides; `from` does not move, and the other side scrolls level with it.
function light(number, from) {
  dark();
  lit.number = number;
  lit.driver = null;
  document.querySelector("main").classList.add("lit");
  const own = `mark[data-p="${number}"], mark[data-in="${number}"], main a[href="#l${number}"]:not(.whole), main a[href="#r${number}"]`;
  for (const part of document.querySelectorAll(own)) part.classList.add("on");
  const stays = from && badge(from, number);
  const height = stays ? stays.getBoundingClientRect().top - from.getBoundingClientRect().top : 0;
  const seen = stays && height >= 0 && height < from.clientHeight;
  for (const side of sides) if (!seen || side !== from) scroll(side, number, seen ? height : side.clientHeight / 5);
  const entry = document.querySelector(`.list li a.on`);
  if (!entry) return;
  reveal(entry);
  const list = entry.closest(".list");
  const top = entry.getBoundingClientRect().top - list.getBoundingClientRect().top;
  if (top < 0 || top > list.clientHeight - entry.offsetHeight) list.scrollTop += top - list.clientHeight / 3;
}

// Passages in the order of the list; folded ones follow, and are unfolded when their turn comes.
function step(by) {
  const order = entries().filter((link) => !link.classList.contains("whole")).map(numberOf);
  if (!order.length) return;
  const at = order.indexOf(lit.number);
  document.querySelector("main").scrollIntoView({ block: "start", behavior: "auto" });
  light(order[at < 0 ? (by > 0 ? 0 : order.length - 1) : (at + by + order.length) % order.length], null);
}

function arrange(key) {
  const sign = key === "place" ? 1 : -1;
  const value = (item) => sign * Number(item.dataset[key]);
  for (const list of document.querySelectorAll(".list ol")) {
    const items = [...list.children].sort((a, b) => value(a) - value(b) || (key === "weight" ? b.dataset.tokens - a.dataset.tokens : 0) || a.dataset.place - b.dataset.place);
    list.append(...items);
  }
}
