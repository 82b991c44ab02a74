// Asks an archive about one document, and shows it beside a document of the archive.
import { acting, counted, fill, make, name, number, visible } from "./dom.js";
import { allows, indexes, part, Refused, send } from "./api.js";
import { droppable } from "./files.js";
import { DEFAULTS } from "./known.js";

const section = document.getElementById("ask");
const form = section.querySelector("form");
const told = section.querySelector(".outcome");
const pair = section.querySelector(".pair");
const frame = pair.querySelector("iframe");
const ASKS = {
  identical: "The same text",
  passages: "Shared passages",
  resemblance: "Similar as a whole (resemblance)",
  containment: "Contained in it, or containing it",
  distance: "Similar in its words (simhash distance)",
};
// What a list holds, in plain words; the certificate of the server says how sure that is.
const MEANS = {
  identical: "Documents with the same readable text.",
  passages: "Documents that share a run of the text that is long enough to mean something.",
  resemblance: "Documents that are similar as a whole: most of what stands in either stands in both.",
  containment: "Documents that hold most of yours, or most of which is in yours.",
  distance: "Documents with a similar mix of words. That can be chance, above all in short texts.",
};
const share = (score) => `${Math.round(score.value * 100)} %${score.exact ? "" : " (estimated)"}`;
const MEASURES = {
  identical: () => [],
  passages: (one) => [["Passages", number(one.passages.length)], ["Tokens in them", number(one.passages.reduce((sum, passage) => sum + passage.tokens, 0))]],
  resemblance: (one) => [["Resemblance", share(one.resemblance)]],
  containment: (one) => [["Of this document in it", share(one.inside)], ["Of it in this document", share(one.holds)]],
  distance: (one) => [["Bits that differ", number(one.distance)]],
};
let file = null;
// The document that the answers on the page are about.
let asked = null;
const kinds = {};

export function begin() {
  form.top.defaultValue = DEFAULTS.top;
  droppable(section.querySelector(".drop"), ([first]) => first && choose(first.file));
  form.file.addEventListener("change", () => choose(form.file.files[0] || null));
  form.text.addEventListener("input", () => choose(null));
  form.clear.addEventListener("click", () => {
    form.reset();
    choose(null);
    fill(told);
    close();
  });
  form.addEventListener("submit", acting(form.go, ask, told));
  pair.querySelector("[name=back]").addEventListener("click", close);
  section.addEventListener("keydown", (event) => {
    if (event.key === "Escape" && !pair.hidden) close();
  });
}

export async function shown() {
  await offer(form.index);
}

// Offer archives in a list, and keep what was chosen. Without any, say so and let nothing be asked. Returns their kinds.
export async function offer(select, of = indexes, scope = "read") {
  const found = await of().catch(() => []);
  for (const one of found) kinds[one.name] = one.kind;
  const before = select.value;
  fill(select, ...found.map((one) => make("option", { value: one.name }, visible(one.name))));
  if (found.some((one) => one.name === before)) select.value = before;
  for (const button of select.closest("section").querySelectorAll("[name=go]")) button.disabled = !found.length;
  // Whoever lacks the scope is told that instead.
  select.closest("section").querySelector(".none").hidden = Boolean(found.length) || !(await allows(scope));
  return kinds;
}

function choose(one) {
  file = one;
  section.querySelector(".chosen").textContent = one ? `Chosen: ${visible(one.name)}` : "";
  if (one) {
    form.name.value = one.name;
    form.text.value = "";
  } else form.file.value = "";
}

export function content(given, text) {
  if (!given && !text) throw new Refused(0, "", "Give a document first: paste a text, or choose a file.");
  const isZip = given?.name.toLowerCase().endsWith(".zip");
  return { body: given || new Blob([text]), type: isZip ? "application/zip" : "application/octet-stream" };
}

async function ask() {
  if (!form.index.value) throw new Refused(0, "", "There is no archive that this token may ask.");
  asked = { index: form.index.value, query: { name: form.name.value.trim() }, ...content(file, form.text.value) };
  close();
  fill(told, make("p", { class: "soft" }, "Asking …"));
  const answer = await send("POST", `v1/indexes/${part(asked.index)}/query`, { ...asked, query: { ...asked.query, top: form.top.value } });
  const found = await answer.json();
  fill(told, summary(found), unnamed(), ...found.answers.map(answered));
}

function summary(found) {
  const notes = found.notes.length ? make("ul", { class: "notes" }, ...found.notes.map((one) => make("li", {}, visible(one)))) : null;
  return make("div", {}, make("p", { class: "lead" }, found.name === "document" ? "The document" : name(found.name), ` has ${counted(found.tokens, "token")}. It was compared with ${found.documents_asked < found.documents ? `${found.documents_asked} of ` : ""}${counted(found.documents, "document")} of `, name(found.index), "."), notes);
}

// Without a file extension the content alone tells whether a text of a class is code, and short code may count as prose.
function unnamed() {
  if (kinds[asked.index] !== "class" || asked.query.name.includes(".") || asked.type === "application/zip") return "";
  return make("p", { class: "fault unnamed" }, "There is no file extension, so the language was guessed from the content. If this is code, give a file name such as Main.java and ask again: code that is read as prose finds no copies.");
}

// How many documents there are and how many are listed, as the command line says it.
function heading(answer) {
  if (!answer.documents) return "No document.";
  const listed = answer.matches.length;
  let found = counted(answer.documents, "document");
  if (answer.distinct < answer.documents) found += ` with ${counted(answer.distinct, "text")}`;
  if (answer.question === "passages" && listed < answer.distinct) found += ` with fingerprints of it, ${listed ? `the first ${number(listed)} with passages listed` : "none with a passage"}`;
  else if (listed < answer.distinct) found += `, the nearest ${number(listed)} listed`;
  return `${found}.`;
}

function answered(answer) {
  const rows = answer.matches.map((one) => row(answer.question, one));
  const columns = rows.length ? MEASURES[answer.question](answer.matches[0]).map(([title]) => make("th", { class: "num" }, title)) : [];
  return make("div", { class: "card", "data-question": answer.question }, make("h2", {}, ASKS[answer.question] || visible(answer.question)),
    make("p", { class: "soft" }, MEANS[answer.question] || ""), make("p", {}, heading(answer)),
    rows.length ? make("div", { class: "scroll" }, make("table", { class: "rows stack" },
      make("thead", {}, make("tr", {}, make("th", {}, "Document"), make("th", { class: "num" }, "Copies"), ...columns, make("th", {}))), make("tbody", {}, ...rows))) : null,
    make("details", { class: "soft" }, make("summary", {}, "How sure is this?"), make("p", {}, visible(answer.certificate.charAt(0).toUpperCase() + answer.certificate.slice(1)), ".")));
}

function row(question, one) {
  const button = make("button", { type: "button", class: "plain" }, "Side by side");
  button.addEventListener("click", acting(button, () => beside(one.id, button), told.querySelector(".told") || told));
  return make("tr", {}, make("td", { class: "id" }, name(one.id)), make("td", { class: "num", "data-name": "Copies" }, number(one.copies)),
    ...MEASURES[question](one).map(([title, value]) => make("td", { class: "num", "data-name": title }, value)), make("td", { class: "acts" }, button));
}

let opener = null;

async function beside(id, button) {
  const { index, query, body, type } = asked;
  const note = make("span", { class: "soft" }, " …");
  button.after(note);
  try {
    const answer = await send("POST", `page/pairs/${part(index)}/${part(id)}`, { query, body, type });
    frame.srcdoc = await answer.text();
    pair.hidden = false;
    pair.scrollIntoView();
    told.hidden = form.hidden = true;
    opener = button;
    pair.querySelector("[name=back]").focus();
    note.remove();
  } catch (error) {
    note.textContent = ` ${visible(error.message)}`;
  }
}

function close() {
  pair.hidden = true;
  frame.removeAttribute("srcdoc");
  told.hidden = form.hidden = false;
  opener?.focus();
  opener = null;
}
