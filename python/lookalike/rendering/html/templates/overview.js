"use strict";
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const STANDS = 8;
  const RANK = 10;
  const KEYS = { left: 0, right: 1, score: 2, cover_left: 3, cover_right: 4, tokens: 5, longest: 6, passages: 7, rank: RANK };
  const byText = new Set(["left", "right"]);
  const card = (entry) => {
    const [name, person, label, time, old, digest, tokens, files, more] = data.cards[entry];
    return { name, person, label, time, old, digest, tokens, files, more };
  };
  const names = data.cards.map((one) => one[0]);
  const searched = data.cards.map((one) => [one[0], one[1], data.labels[one[2]] || ""].join("\n").toLowerCase());
  data.rows.forEach((row, i) => row.push(i));

  function make(tag, attributes, ...children) {
    const space = ["svg", "rect"].includes(tag) ? "http://www.w3.org/2000/svg" : "http://www.w3.org/1999/xhtml";
    const element = document.createElementNS(space, tag);
    for (const [key, value] of Object.entries(attributes || {})) element.setAttribute(key, value);
    element.append(...children);
    return element;
  }
  const plain = (number) => number.toLocaleString("en");
  const pairs = (count) => `${plain(count)} pair${count === 1 ? "" : "s"}`;
  const percent = (share) => (share < 1 ? Math.min(99, Math.round(share * 100)) : 100) + " %";

  // --- the table: only visible rows exist in the page ---
  const table = document.getElementById("table");
  const frame = document.getElementById("frame");
  const find = document.getElementById("find");
  const least = document.getElementById("least");
  let only = -1, key = "rank", down = false, shown = data.rows, focused = -1;

  function person(entry) {
    const { name, label, old } = card(entry);
    const cell = make("td", { class: "name", title: name });
    if (label >= 0) cell.append(make("span", { class: `dot c${label % 8}`, title: data.labels[label] }));
    cell.append(make("a", { href: `#s=${entry}`, tabindex: "-1" }, name));
    if (old) cell.append(make("span", { class: "soft" }, " (earlier)"));
    return cell;
  }

  function score(value) {
    const bar = make("svg", { class: "bar", viewBox: "0 0 100 8", preserveAspectRatio: "none", "aria-hidden": "true" },
      make("rect", { class: "of", width: 100, height: 8, rx: 2 }), make("rect", { class: "is", width: value * 100, height: 8, rx: 2 }));
    return make("td", {}, bar, value.toFixed(2));
  }

  function line(row, i) {
    const page = data.pages[row[RANK]];
    const number = (text, hide) => make("td", { class: `num ${hide}` }, text);
    const right = person(row[1]), value = score(row[2]);
    if (row[STANDS] > 1) right.append(make("span", { class: "soft" }, ` (stands for ${pairs(row[STANDS])})`));
    if (row[9]) value.append(make("span", { class: "soft", title: "a limit of work was reached" }, " limited"));
    return make("tr", { tabindex: i === Math.max(focused, 0) ? "0" : "-1", "aria-rowindex": i + 2, "data-i": i },
      make("td", { class: "num soft" }, plain(row[RANK] + 1)), person(row[0]), right, value,
      number(percent(row[3]), "hide-1"), number(percent(row[4]), "hide-1"), number(plain(row[5]), "hide-2"),
      number(plain(row[6]), "hide-2"), number(plain(row[7]), "hide-1"),
      make("td", {}, ...(page ? [make("a", { href: page, tabindex: "-1" }, "Open")] : [])));
  }

  function pad(rows) {
    const row = make("tr", { class: "pad", "aria-hidden": "true" }, make("td"));
    row.style.height = rows * height + "px";
    return row;
  }

  let height = 34, printing = false;
  function draw() {
    if (!table) return;
    const body = table.tBodies[0];
    const first = printing ? 0 : Math.max(0, Math.floor(frame.scrollTop / height) - 10);
    const most = Number(table.dataset.printed);
    const last = Math.min(shown.length, first + (printing ? most : Math.min(most, Math.ceil(frame.clientHeight / height) + 20)));
    const had = body.contains(document.activeElement);
    body.replaceChildren(pad(first), ...shown.slice(first, last).map((row, i) => line(row, first + i)), pad(shown.length - last));
    if (had) focus();
  }

  function focus() {
    const row = table.querySelector(`tr[data-i="${focused}"]`);
    if (row) row.focus({ preventScroll: true });
  }

  function choose() {
    if (!table) return;
    const words = find.value.toLowerCase().split(/\s+/).filter(Boolean);
    const from = Number(least.value) || 0;
    const column = KEYS[key];
    const has = (row) => words.every((word) => searched[row[0]].includes(word) || searched[row[1]].includes(word));
    shown = data.rows.filter((row) => row[2] >= from && (only < 0 || row[0] === only || row[1] === only) && has(row));
    const order = byText.has(key) ? (a, b) => names[a[column]].localeCompare(names[b[column]], "en") : (a, b) => a[column] - b[column];
    shown.sort((a, b) => (down ? -1 : 1) * order(a, b) || a[RANK] - b[RANK]);
    // A row that stands for a group of identical submissions counts for all its pairs.
    const [seen, all] = [shown, data.rows].map((rows) => rows.reduce((sum, row) => sum + row[STANDS], 0));
    document.getElementById("count").textContent = seen === all ? pairs(all) : `${plain(seen)} of ${pairs(all)}`;
    table.setAttribute("aria-rowcount", shown.length + 1);
    focused = -1;
    frame.scrollTop = 0;
    draw();
  }

  function sort(head) {
    const next = head.dataset.key;
    down = next === key ? !down : !byText.has(next) && next !== "rank";
    key = next;
    for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
    head.setAttribute("aria-sort", down ? "descending" : "ascending");
    choose();
  }

  function move(to) {
    focused = Math.max(0, Math.min(shown.length - 1, to));
    const top = focused * height, head = table.tHead.offsetHeight;
    if (top < frame.scrollTop) frame.scrollTop = top;
    if (top + height + head > frame.scrollTop + frame.clientHeight) frame.scrollTop = top + height + head - frame.clientHeight;
    draw();
    focus();
  }

  function open(row) {
    const page = row && data.pages[row[RANK]];
    if (page) location.href = page;
  }

  function keys(event) {
    const row = event.target.closest("tr[data-i]");
    if (!row) return;
    const at = Number(row.dataset.i), page = Math.floor(frame.clientHeight / height) - 1;
    const to = { ArrowDown: at + 1, ArrowUp: at - 1, PageDown: at + page, PageUp: at - page, Home: 0, End: shown.length - 1 }[event.key];
    if (to !== undefined) { event.preventDefault(); move(to); }
    if (event.key === "Enter" && event.target === row) open(shown[at]);
    const side = { ArrowLeft: 0, ArrowRight: 1 }[event.key];
    if (side !== undefined) location.hash = `s=${shown[at][side]}`;
  }

  // --- one submission ---
  function stack(tokens) {
    const all = Math.max(1, tokens[0] + tokens[1] + tokens[2]);
    const svg = make("svg", { class: "stack", viewBox: "0 0 100 8", preserveAspectRatio: "none", "aria-hidden": "true" });
    let x = 0;
    ["own", "template", "usual"].forEach((kind, i) => {
      const width = tokens[i] / all * 100;
      svg.append(make("rect", { class: kind, x, width, height: 8 }));
      x += width;
    });
    return svg;
  }

  function facts(entry) {
    const { person: who, label, time, old, digest, tokens } = card(entry);
    const list = make("dl");
    const fact = (name, value) => value && list.append(make("dt", {}, name), make("dd", {}, value));
    fact("Person", who);
    fact("Label", data.labels[label]);
    fact("Time", time);
    fact("Kind", old && "earlier submission, compared with new ones only");
    fact("Tokens", `${plain(tokens[0])} own, ${plain(tokens[1])} of the starter code, ${plain(tokens[2])} shared by many`);
    fact("SHA-256", make("span", { class: "mono" }, digest));
    return list;
  }

  function files(entry) {
    const { files: list, more } = card(entry);
    const head = make("tr", {}, make("th", {}, "File"), make("th", {}, "Read as"), make("th", { class: "num" }, "Tokens"), make("th", {}, "Notes"));
    const rows = list.map(([name, language, tokens, notes]) => make("tr", {}, make("td", { class: "mono" }, name), make("td", {}, language),
      make("td", { class: "num" }, plain(tokens)), make("td", {}, notes.join("; "))));
    if (more) rows.push(make("tr", {}, make("td", { colspan: 4 }, `and ${plain(more)} more in report.json`)));
    return make("table", { class: "rows" }, make("thead", {}, head), make("tbody", {}, ...rows));
  }

  function route() {
    const asked = /^#s=(\d+)$/.exec(location.hash);
    const entry = asked && Number(asked[1]) < data.cards.length ? Number(asked[1]) : -1;
    const section = document.getElementById("one");
    document.body.classList.toggle("one", entry >= 0);
    if (entry >= 0) {
      const title = make("h2", { tabindex: "-1" }, card(entry).name);
      section.replaceChildren(make("p", {}, make("a", { href: "#pairs" }, "← All submissions")),
        make("div", { class: "card" }, title, stack(card(entry).tokens), facts(entry), files(entry)), make("h2", { class: "next" }, "Its pairs"));
      title.focus({ preventScroll: true });
      scrollTo(0, 0);
    }
    if (only !== entry) { only = entry; choose(); }
    const part = location.hash.length > 1 && document.getElementById(location.hash.slice(1));
    if (part && part.localName === "details") part.open = true;
  }

  if (table) {
    const resized = () => { height = parseFloat(getComputedStyle(table).getPropertyValue("--row")); draw(); };
    frame.addEventListener("scroll", () => requestAnimationFrame(draw), { passive: true });
    addEventListener("resize", resized);
    for (const head of table.querySelectorAll("th[data-key]")) head.firstElementChild.addEventListener("click", () => sort(head));
    find.addEventListener("input", choose);
    least.addEventListener("input", choose);
    table.addEventListener("keydown", keys);
    table.addEventListener("focusin", (event) => {
      const row = event.target.closest("tr[data-i]");
      if (row) focused = Number(row.dataset.i);
    });
    table.addEventListener("dblclick", (event) => { const row = event.target.closest("tr[data-i]"); if (row) open(shown[row.dataset.i]); });
    addEventListener("keydown", (event) => {
      if (event.key === "/" && event.target.localName !== "input") { event.preventDefault(); find.focus(); }
      if (event.key === "ArrowDown" && event.target === find) { event.preventDefault(); move(0); }
    });
    resized();
  }
  addEventListener("beforeprint", () => {
    for (const one of document.querySelectorAll("details")) one.open = true;
    printing = true;
    draw();
  });
  addEventListener("afterprint", () => { printing = false; draw(); });
  addEventListener("hashchange", route);
  choose();
  route();
})();
