// Browses, searches, shows, adds and removes documents of an archive.
import { acting, attempt, counted, fill, make, moment, name, size, visible } from "./dom.js";
import { allows, archives, get, part, Refused, send } from "./api.js";
import { content, offer } from "./asking.js";

const section = document.getElementById("documents");
const form = section.querySelector(".find");
const index = section.querySelector("[name=index]");
const told = section.querySelector(".outcome");
const table = section.querySelector(".list");
const one = section.querySelector(".one");
const more = section.querySelector("[name=more]");
const adding = section.querySelector(".add form");
const addTold = section.querySelector(".add .outcome");
const PAGE = 50;
let next = null;
// Counts searches: the answer to an earlier one is not shown.
let turn = 0;
let kinds = {};
let mayRemove = true;
// The id that the next press of Add replaces.
let replacing = null;

export function begin() {
  form.addEventListener("submit", acting(form.go, () => search(), told));
  index.addEventListener("change", () => { labelled(); attempt(search, told); });
  more.addEventListener("click", acting(more, () => page(next), told));
  adding.addEventListener("submit", acting(adding.go, add, addTold));
  adding.addEventListener("input", () => { unsure(); fill(addTold); });
  adding.file.addEventListener("change", () => { adding.elements.name.value = adding.file.files[0]?.name || ""; });
}

// Labels and languages are for submissions of a class.
function labelled() {
  for (const one of adding.querySelectorAll(".of-class")) one.hidden = kinds[index.value] !== "class";
}

function unsure() {
  replacing = null;
  adding.go.textContent = "Add";
}

export async function shown() {
  kinds = await offer(index, archives, "add");
  mayRemove = await allows("remove");
  labelled();
  if (index.value && table.hidden && one.hidden && (await allows("read"))) form.requestSubmit();
}

const base = () => {
  if (!index.value) throw new Refused(0, "", "There is no archive that this token may read.");
  return `v1/indexes/${part(index.value)}/documents`;
};

async function current(asking) {
  const mine = turn;
  const found = await asking.then((value) => ({ value }), (error) => ({ error }));
  if (mine !== turn) throw new DOMException("", "AbortError");
  if (found.error) throw found.error;
  return found.value;
}

async function search() {
  turn += 1;
  fill(told);
  one.hidden = true;
  fill(table.tBodies[0]);
  next = null;
  more.hidden = table.hidden = true;
  const found = await page(null);
  // One document that is meant is shown at once, and so is the one that has exactly this id.
  const id = form.elements.id.value;
  if (id && (found.documents.length === 1 || found.documents.some((entry) => entry.id === id))) await show(found.documents.length === 1 ? found.documents[0].id : id);
}

async function page(after) {
  const where = form.where.value.split(",").map((text) => text.trim()).filter(Boolean);
  const found = await current(get(base(), { where, prefix: form.elements.id.value, after, limit: PAGE }));
  table.tBodies[0].append(...found.documents.map(row));
  table.hidden = !table.tBodies[0].rows.length;
  if (table.hidden) fill(told, make("p", {}, "No document was found."), ...(found.notes || []).map((note) => make("p", { class: "soft" }, visible(note.charAt(0).toUpperCase() + note.slice(1)), ".")));
  next = found.next;
  more.hidden = next === null;
  return found;
}

// What is shown by itself, or says nothing to people.
const APART = ["id", "time", "content", "files", "languages", "texts", "fields", "length", "unit", "bytes", "template"];
function known(entry) {
  const every = { ...entry, ...entry.fields };
  // A title that is part of the id is not told again, nor a person of that name.
  const isNew = (key) => !["title", "person"].includes(key) || !entry.id.endsWith(every[key]);
  const told_ = Object.keys(every).filter((key) => !APART.includes(key) && ["string", "number", "boolean"].includes(typeof every[key]) && isNew(key))
    .slice(0, 8).map((key) => `${visible(key)}: ${visible(every[key])}`);
  const languages = [...new Set(entry.languages || [])].map(visible).join(", ");
  return [entry.template ? "starter code" : "", ...told_, languages && `read as ${languages}`, counted(entry.length, visible(entry.unit)), size(entry.bytes)].filter(Boolean).join("; ");
}

function row(entry) {
  const open = make("button", { type: "button", class: "plain" }, "Show");
  open.addEventListener("click", acting(open, () => show(entry.id), told));
  const made = make("tr", {}, make("td", { class: "id" }, name(entry.id)), make("td", { "data-name": "Details" }, known(entry)),
    make("td", { class: "when", "data-name": "Time" }, moment(entry.time)), make("td", { class: "acts" }, open, removal(entry.id, () => made.remove())));
  return made;
}

// Remove a document after a second press.
function removal(id, after) {
  const button = make("button", { type: "button", class: "plain", disabled: !mayRemove, title: mayRemove ? null : "Your token needs the scope remove for this." }, "Remove");
  let isSure = false;
  button.addEventListener("blur", () => {
    isSure = false;
    button.textContent = "Remove";
  });
  const remove = acting(button, async () => {
    await send("DELETE", `${base()}/${part(id)}`);
    after();
    fill(told, make("p", {}, name(id), " was removed."));
  }, told);
  button.addEventListener("click", (event) => {
    if (isSure) return remove(event);
    isSure = true;
    button.textContent = "Really remove?";
    return undefined;
  });
  return button;
}

async function show(id) {
  const found = await current(get(`${base()}/${part(id)}`));
  const texts = found.texts.flatMap((text) => [make("h3", {}, name(text.name || "text")), make("pre", { tabindex: "0" }, text.text)]);
  const close = make("button", { type: "button" }, "Close");
  close.addEventListener("click", () => { one.hidden = true; });
  fill(one, make("h2", { tabindex: "-1" }, name(found.id)), make("p", { class: "soft" }, [known(found), moment(found.time)].filter(Boolean).join("; ")),
    ...(texts.length ? texts : [make("p", {}, "The archive does not keep its text.")]),
    make("p", {}, close, " ", removal(found.id, () => { one.hidden = true; form.requestSubmit(); })));
  one.hidden = false;
  one.querySelector("h2").focus();
}

async function add() {
  fill(addTold);
  const isClass = kinds[index.value] === "class";
  const label = isClass ? adding.label.value.trim() : "";
  const plain = adding.elements.id.value.trim();
  if (!plain) throw new Refused(0, "", "Give an id first: the archive knows a document by it.");
  // As on the command line, a label stands before the name.
  const id = label ? `${label}/${plain}` : plain;
  const given = adding.file.files[0] || null;
  const { body, type } = content(given, adding.text.value);
  if (replacing !== id && (await isThere(id))) {
    replacing = id;
    adding.go.textContent = "Replace it";
    fill(addTold, make("p", { class: "fault" }, "There is a document ", name(id), " already. Press “Replace it” to replace it, or give another id."));
    return;
  }
  unsure();
  fill(addTold, make("p", { class: "soft" }, `Adding ${size(body.size)} …`));
  const answer = await send("PUT", `${base()}/${part(id)}`, { body, type, query: { name: isClass ? adding.elements.name.value.trim() : given?.name || "", label } });
  const found = await answer.json();
  const read = (found.files || []).map((file) => `${visible(file.name)} as ${visible(file.language)}`).join(", ");
  fill(addTold, make("p", {}, name(found.id), ` was ${found.outcome === "unchanged" ? "there already, unchanged" : visible(found.outcome)}.${read ? ` Read: ${read}.` : ""}`),
    found.notes ? make("ul", { class: "notes" }, ...found.notes.map((note) => make("li", {}, visible(note)))) : null);
  adding.elements.id.value = adding.elements.name.value = adding.file.value = adding.text.value = "";
  if (await allows("read")) await search();
}

// Whether an archive has a document. A token that may not read cannot know it.
async function isThere(id) {
  if (!(await allows("read"))) return false;
  return (await get(base(), { id })).documents.length > 0;
}
