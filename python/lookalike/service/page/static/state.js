// Shows whether the server is ready, what its archives hold, and the comparisons of this token.
import { acting, counted, fault, fill, make, moment, name, number, size, visible } from "./dom.js";
import { allows, archives as reachable, get, part, Refused, send } from "./api.js";
import { report } from "./comparing.js";

const section = document.getElementById("state");
const again = section.querySelector("[name=again]");
const more = section.querySelector("[name=more]");
const told = section.querySelector(".outcome");
const jobs = section.querySelector(".jobs").tBodies[0];
let next = null;

export function begin() {
  again.addEventListener("click", acting(again, look, told));
  more.addEventListener("click", acting(more, () => page(next), told));
}

export const shown = () => again.click();

async function look() {
  fill(told);
  await Promise.all([ready(), archives(), page(null)]);
}

async function ready() {
  const line = section.querySelector(".ready");
  try {
    await get("ready");
    fill(line, "The server is ready.");
  } catch (error) {
    fill(line, error.message);
  }
}

async function archives() {
  const body = section.querySelector(".indexes").tBodies[0];
  const found = await reachable().catch(() => []);
  const rows = await Promise.all(found.map(archive));
  fill(body, ...(rows.length ? rows : [make("tr", {}, make("td", { colspan: "5" }, "There is no archive that you may see."))]));
}

async function archive(one) {
  const told_ = await get(`v1/indexes/${part(one.name)}`).catch(() => null);
  const stats = told_?.stats || {};
  const figure = (title, value) => make("td", { class: "num", "data-name": title }, value === undefined ? "" : number(value));
  return make("tr", {}, make("td", {}, name(one.name)), make("td", { "data-name": "Kind" }, one.kind),
    figure("Documents", stats.documents ?? one.documents), figure("Starter code", stats.templates),
    make("td", { class: "num", "data-name": "Size" }, stats.bytes === undefined ? "" : size(stats.bytes)));
}

async function page(after) {
  const isAllowed = await allows("compare");
  try {
    if (!isAllowed) throw new Refused(403, "no-scope", "Your token does not allow comparisons: it needs the scope compare.");
    const found = await get("v1/comparisons", { after, limit: 50 });
    if (after === null) fill(jobs);
    jobs.append(...found.comparisons.map(job));
    next = found.next;
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    fill(jobs);
    next = null;
    if (error.status !== 401) fill(told, fault(error));
  }
  if (!jobs.rows.length) jobs.append(make("tr", {}, make("td", { colspan: "5" }, "There is no comparison.")));
  more.hidden = next === null;
}

// A title, or what tells comparisons without one apart.
function title(one) {
  if (one.options?.title) return visible(one.options.title);
  const many = one.summary?.submissions;
  const extent = many === undefined ? (one.files ? counted(one.files, "file") : "") : counted(many, "submission");
  return make("span", { class: "soft" }, ["untitled", extent, one.origin === "moss" ? "sent by MOSS" : ""].filter(Boolean).join(", "));
}

function job(one) {
  const remove = make("button", { type: "button", class: "plain" }, "Delete");
  const made = make("tr", {}, make("td", { class: "when" }, moment(one.created)), make("td", { "data-name": "Comparison" }, title(one)), make("td", { "data-name": "State" }, visible(one.reason ? `${one.state}: ${one.reason}` : one.state)),
    make("td", {}, one.report ? report(one, "Open") : ""), make("td", { class: "acts" }, remove));
  remove.addEventListener("click", acting(remove, async () => {
    await send("DELETE", `v1/comparisons/${part(one.id)}`);
    made.remove();
  }, told));
  return made;
}
