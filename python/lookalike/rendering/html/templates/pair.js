// Connects the controls of the page of a pair, and opens it on the weightiest passage.
function startReview() {
  const box = one("review"), { digest, left, right } = box.dataset, note = one("note");
  openReviews(digest);
  const told = () => { if (!keeping.works) one("kept").textContent = "This browser does not keep marks for files."; };
  one("mark").append(chooser(left, right, told));
  note.value = review(left, right).note;
  note.addEventListener("input", () => { setReview(left, right, { note: note.value }); told(); });
  told();
}

function clicked(event) {
  const target = event.target.closest("mark, main a");
  if (!target || (target.localName === "mark" && !getSelection().isCollapsed)) return;
  const number = Number(target.dataset.p || target.getAttribute("href").slice(2));
  if (!number) { const fold = one(target.getAttribute("href").slice(1)); if (fold) fold.open = true; return; }
  event.preventDefault();
  if (!target.closest(".side")) document.querySelector("main").scrollIntoView({ block: "start", behavior: "auto" });
  light(number, target.closest("pre") ? target.closest(".scroll") : null);
}

function pressed(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || ["input", "textarea", "select"].includes(event.target.localName)) return;
  const pair = { N: "next", P: "prev" }[event.key];
  if (pair) document.querySelector(`a[rel=${pair}]`)?.click();
  if (event.key === "Escape") dark();
  const by = { n: 1, p: -1 }[event.key];
  if (by) { event.preventDefault(); step(by); }
}

function begin() {
  sides.push(...["l", "r"].map(one));
  startReview();
  quieten();
  startSides();
  document.addEventListener("click", clicked);
  document.addEventListener("keydown", pressed);
  one("order").addEventListener("change", () => arrange(one("order").value));
  one("print").addEventListener("click", () => print());
  const asked = /[#&][lr](\d+)$/.exec(location.hash), strongest = Number(one("review").dataset.order.split(" ")[0]);
  if (asked) { light(Number(asked[1]), null); return; }
  if (!strongest) return;
  light(strongest, null);
  scrollTo(0, 0);
}
