// Browses, searches, shows, adds and removes documents of an archive.
import { acting, attempt, fill, make, moment, name, size, visible } from "./dom.js";
import { get, part, Refused, send } from "./api.js";
import { content, offer } from "./asking.js";

const section = document.getElementById("documents");
const form = section.querySelector(".find");
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

export function begin() {
  form.addEventListener("submit", acting(form.go, () => search(), told));
  form.index.addEventListener("change", () => attempt(search, told));
  more.addEventListener("click", acting(more, () => page(next), told));
  adding.addEventListener("submit", acting(adding.go, add, addTold));
}

export async function shown() {
  await offer(form.index);
  if (form.index.value && table.hidden && one.hidden) form.requestSubmit();
}

const base = () => {
  if (!form.index.value) throw new Refused(0, "", "There is no archive that this token may read.");
  return `v1/indexes/${part(form.index.value)}/documents`;
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
  if (form.elements.id.value) await show(form.elements.id.value);
  else await page(null);
}

async function page(after) {
  const where = form.where.value.split(",").map((text) => text.trim()).filter(Boolean);
  const found = await current(get(base(), { where, after, limit: PAGE }));
  table.tBodies[0].append(...found.documents.map(row));
  table.hidden = !table.tBodies[0].rows.length;
  if (table.hidden) fill(told, make("p", {}, "No document was found."));
  next = found.next;
  more.hidden = next === null;
}

// What is shown by itself, or says nothing to people.
const APART = ["id", "time", "content", "files", "texts", "fields", "bytes", "template"];
function known(entry) {
  const every = { ...entry, ...entry.fields };
  // A title that is part of the id is not told again, nor a person of that name.
  const isNew = (key) => !["title", "person"].includes(key) || !entry.id.endsWith(every[key]);
  const told_ = Object.keys(every).filter((key) => !APART.includes(key) && ["string", "number", "boolean"].includes(typeof every[key]) && isNew(key))
    .slice(0, 8).map((key) => `${visible(key)}: ${visible(every[key])}`);
  return [entry.template ? "starter code" : "", ...told_, size(entry.bytes)].filter(Boolean).join("; ");
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
  const button = make("button", { type: "button", class: "plain" }, "Remove");
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
  const id = adding.elements.id.value.trim();
  const given = adding.file.files[0] || null;
  const { body, type } = content(given, adding.text.value);
  fill(addTold, make("p", { class: "soft" }, `Adding ${size(body.size)} …`));
  const answer = await send("PUT", `${base()}/${part(id)}`, { body, type, query: { name: given ? given.name : "" } });
  const found = await answer.json();
  fill(addTold, make("p", {}, name(found.id), ` was ${found.outcome === "unchanged" ? "there already, unchanged" : visible(found.outcome)}.`),
    found.notes ? make("ul", { class: "notes" }, ...found.notes.map((note) => make("li", {}, visible(note)))) : null);
  adding.reset();
  await search();
}
