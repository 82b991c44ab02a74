"use strict";
(() => {
  const quiet = matchMedia("(prefers-reduced-motion: reduce)").matches;
  const sides = ["l", "r"].map((letter) => document.getElementById(letter));
  const count = document.querySelectorAll(".list a").length;
  let current = 0;

  const badge = (side, number) => document.getElementById(side.id + number);

  // The position of an element inside its scrolling side.
  const depth = (side, element) => element.getBoundingClientRect().top - side.getBoundingClientRect().top + side.scrollTop;

  function scroll(side, number, height) {
    const target = badge(side, number);
    if (!target) return;
    const top = depth(side, target) - height;
    const near = Math.abs(top - side.scrollTop) < 2 * side.clientHeight;
    side.scrollTo({ top, behavior: near && !quiet ? "smooth" : "auto" });
  }

  // Show a passage on both sides; `from` does not move, and the other side scrolls level with it.
  function show(number, from) {
    current = number;
    for (const old of document.querySelectorAll(".on")) old.classList.remove("on");
    const own = `mark[data-p="${number}"], a[href="#l${number}"], a[href="#r${number}"]`;
    for (const one of document.querySelectorAll(own)) one.classList.add("on");
    const stays = from && badge(from, number);
    const height = stays ? stays.getBoundingClientRect().top - from.getBoundingClientRect().top : 0;
    const seen = stays && height >= 0 && height < from.clientHeight;
    for (const side of sides) {
      if (!seen || side !== from) scroll(side, number, seen ? height : side.clientHeight / 5);
    }
    const entry = document.querySelector(`.list a[href="#l${number}"]`);
    if (entry) {
      const list = entry.closest(".list");
      const top = entry.getBoundingClientRect().top - list.getBoundingClientRect().top;
      if (top < 0 || top > list.clientHeight - entry.offsetHeight) list.scrollTop += top - list.clientHeight / 3;
    }
  }

  document.addEventListener("click", (event) => {
    const one = event.target.closest("mark, main a");
    if (!one || (one.localName === "mark" && !getSelection().isCollapsed)) return;
    const number = Number(one.dataset.p || one.getAttribute("href").slice(2));
    event.preventDefault();
    if (!one.closest(".side")) document.querySelector("main").scrollIntoView({ block: "start", behavior: "auto" });
    show(number, one.closest("pre") ? one.closest(".scroll") : null);
  });

  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const pair = { n: "next", p: "prev" }[event.key];
    if (pair) document.querySelector(`a[rel=${pair}]`)?.click();
    const step = { j: 1, k: -1 }[event.key];
    if (!step || !count) return;
    event.preventDefault();
    document.querySelector("main").scrollIntoView({ block: "start", behavior: "auto" });
    show(current ? ((current - 1 + step + count) % count) + 1 : step > 0 ? 1 : count, null);
  });

  // The map is drawn by line numbers; where lines wrap, measured places are better.
  function chart() {
    const places = [];
    for (const side of sides) {
      const map = side.parentElement.querySelector(".map");
      const scale = map.viewBox.baseVal.height / Math.max(side.scrollHeight, 1);
      for (const link of map.children) {
        const target = badge(side, link.getAttribute("href").slice(2));
        if (target && target.offsetParent) places.push([link.firstElementChild, depth(side, target) * scale]);
      }
    }
    // Read all places before writing, so that the page is laid out only once.
    for (const [mark, top] of places) mark.setAttribute("y", top.toFixed(1));
  }
  let waiting = 0;
  addEventListener("resize", () => { clearTimeout(waiting); waiting = setTimeout(chart, 150); });
  chart();
  const asked = /^#[lr](\d+)$/.exec(location.hash);
  if (asked) show(Number(asked[1]), null);
  else for (const side of sides) side.scrollTop = badge(side, 1) ? depth(side, badge(side, 1)) - side.clientHeight / 5 : 0;
})();
