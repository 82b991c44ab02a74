// Connects the controls of the overview: one slider drives plots, tables, clusters, graph and timeline.
function chosen() {
  one("chosen").replaceChildren(...(view.cluster ? [`Only pairs within a cluster of ${counted(view.cluster.size, "submission")}. `] : []));
  if (!view.cluster) return;
  const all = make("button", { type: "button" }, "All pairs");
  all.addEventListener("click", () => { view.cluster = null; chosen(); choose(); });
  one("chosen").append(all);
}

function countMarks() {
  const counts = new Map(STATES.map((state) => [state, 0]));
  for (const row of keeping.kept.values()) if (known.has(pairKey(row.left, row.right))) counts.set(row.mark, (counts.get(row.mark) || 0) + 1);
  const told = STATES.slice(1).filter((state) => counts.get(state)).map((state) => `${plain(counts.get(state))} ${state}`);
  one("marked").textContent = (told.join(", ") || "No pair is marked yet") + ". "
    + (keeping.works ? "Marks and notes are kept in this browser only." : "This browser does not keep marks for files: export them before you close the page.");
}

let waiting = 0;
function slide(value) {
  view.least = value;
  one("least").value = value;
  one("at").textContent = value.toFixed(2);
  one("least").setAttribute("aria-valuetext", `score ${value.toFixed(2)} or higher`);
  for (const line of document.querySelectorAll(".slid")) for (const end of ["x1", "x2"]) line.setAttribute(end, value * 100 + "%");
  cancelAnimationFrame(waiting);
  waiting = requestAnimationFrame(() => { choose(); clusters(); timeline(); });
}

function start() {
  const [least, find] = [one("least"), one("find")];
  least.addEventListener("input", () => slide(Number(least.value)));
  one("lower").addEventListener("click", () => slide(data.cutOff));
  for (const preset of document.querySelectorAll("[data-score]")) preset.addEventListener("click", () => slide(Number(preset.dataset.score)));
  find.addEventListener("input", () => { view.words = find.value.toLowerCase().split(/\s+/).filter(Boolean); choose(); });
  one("state").addEventListener("change", () => { view.mark = one("state").value; choose(); });
  const tabs = [...document.querySelectorAll("[role=tab]")];
  for (const tab of tabs) {
    tab.addEventListener("click", () => show(tab.dataset.list));
    tab.addEventListener("keydown", (event) => {
      const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
      if (!step) return;
      event.preventDefault();
      const next = tabs[(tabs.indexOf(tab) + step + tabs.length) % tabs.length];
      show(next.dataset.list);
      next.focus();
    });
  }
  one("before").addEventListener("click", () => turn(view.first - ROWS));
  one("after").addEventListener("click", () => turn(view.first + ROWS));
  table.addEventListener("keydown", keys);
  table.addEventListener("dblclick", (event) => { const link = event.target.closest("tr[data-i]")?.querySelector("td.open a"); if (link && event.target.localName !== "textarea") link.click(); });
  addEventListener("keydown", (event) => {
    if (event.key === "/" && !["input", "textarea", "select"].includes(event.target.localName)) { event.preventDefault(); find.focus(); }
    if (event.key === "ArrowDown" && event.target === find) { event.preventDefault(); move(view.first); }
  });
  one("save-csv").addEventListener("click", () => save("marks.csv", "text/csv", reviewsAsCsv()));
  one("save-json").addEventListener("click", () => save("marks.json", "application/json", reviewsAsJson()));
  one("import").addEventListener("change", async () => {
    const [file] = one("import").files;
    if (!file) return;
    const told = takeReviews(await file.text(), known);
    one("import").value = "";
    countMarks();
    choose();
    one("imported").textContent = told;
  });
  if (one("more")) one("more").addEventListener("click", () => { many += CLUSTERS; clusters(); });
}

openReviews(data.digest);
if (table) {
  start();
  // The first list that has rows.
  show(Object.keys(lists).find((name) => lists[name].length) || "pairs");
  clusters();
  timeline();
  countMarks();
  addEventListener("resize", () => { cancelAnimationFrame(waiting); waiting = requestAnimationFrame(timeline); });
  // Back from the page of a pair, or with another tab open: what was marked there is shown here.
  const again = () => { openReviews(data.digest); countMarks(); choose(); };
  addEventListener("pageshow", (event) => { if (event.persisted) again(); });
  addEventListener("storage", (event) => { if (event.key === keeping.key) again(); });
}
addEventListener("beforeprint", () => {
  for (const fold of document.querySelectorAll("details")) fold.open = true;
  printing = true;
  fill();
});
addEventListener("afterprint", () => { printing = false; fill(); });
addEventListener("hashchange", route);
route();
performance.mark("interactive");
