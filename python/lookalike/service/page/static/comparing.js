// Compares a class: uploads what was chosen, follows the job, and leads to the report.
import { acting, counted, fault, fill, make, name, size, visible } from "./dom.js";
import { get, indexes, part, Refused, send, wait } from "./api.js";
import { ARCHIVE, arranged, choices, droppable, kindOf, picked } from "./files.js";
import { DEFAULTS, LANGUAGES } from "./known.js";

const section = document.getElementById("compare");
const form = section.querySelector("form");
const told = section.querySelector(".outcome");
const LOOK = 400;
const FINAL = ["done", "failed", "cancelled"];
// Figures of a result: whether they are told if they are nothing, and their nouns.
const FACTS = {
  submissions: [true, "submission"],
  pairs: [true, "pair above the cut-off", "pairs above the cut-off"],
  contained: [false, "pair of which one is contained in the other", "pairs of which one is contained in the other"],
  shared: [false, "pair with a strong shared passage", "pairs with a strong shared passage"],
  clusters: [true, "cluster"],
  not_compared: [false, "submission could not be compared", "submissions could not be compared"],
  skipped: [false, "file was skipped", "files were skipped"],
  warnings: [false, "note on what was read", "notes on what was read"],
};
// What a folder or an archive may be taken for.
const KINDS = { class: "a class: each folder or file in it is a submission", one: "one submission", year: "an earlier year: compared with the new ones only" };
let chosen = [];
let following = null;

export function begin() {
  form.language.append(make("option", { value: "" }, "detect for each file"), ...LANGUAGES.map((one) => make("option", { value: one }, one)));
  form.min_score.placeholder = DEFAULTS.min_score;
  droppable(section.querySelector(".drop"), take);
  for (const input of [form.files, form.folder]) {
    input.addEventListener("change", () => {
      take(picked(input));
      input.value = "";
    });
  }
  form.clear.addEventListener("click", clear);
  form.addEventListener("submit", acting(form.go, compare, told));
  tell();
}

export async function shown() {
  const box = section.querySelector("fieldset");
  const found = await indexes().catch(() => []);
  const ticked = new Set([...box.querySelectorAll("input:checked")].map((one) => one.value));
  const classes = found.filter((one) => one.kind === "class");
  box.hidden = !classes.length;
  fill(box, make("legend", {}, "Also compare with the archive"), ...classes.map((one) =>
    make("label", {}, make("input", { type: "checkbox", name: "index", value: one.name, checked: ticked.has(one.name) }), name(one.name), ` (${counted(one.documents, "document")})`)));
}

function take(files) {
  chosen.push(...choices(files));
  tell();
}

function clear() {
  chosen = [];
  form.reset();
  following?.abort();
  fill(told);
  tell();
}

// Show each choice on a line of its own, with what is taken for what, and the sum.
function tell() {
  const files = chosen.flatMap((choice) => choice.files);
  const { numbered } = arranged(chosen);
  section.querySelector(".chosen").textContent = files.length ? `${amount(files)} in all.` : "Nothing is chosen yet.";
  fill(section.querySelector(".choices"), ...chosen.map(line));
  section.querySelector(".numbered").textContent = numbered.length
    ? `No file is replaced. ${counted(numbered.length, "name occurs", "names occur")} twice and get a number, such as ${visible(numbered[0])}.` : "";
}

const amount = (files) => `${counted(files.length, "file")}, ${size(files.reduce((sum, { file }) => sum + file.size, 0))}`;

function line(choice) {
  const remove = make("button", { type: "button", class: "plain" }, "Remove");
  remove.addEventListener("click", () => {
    chosen = chosen.filter((one) => one !== choice);
    tell();
  });
  const names = choice.files.slice(0, 3).map(({ path }) => path).join(", ") + (choice.files.length > 3 ? " …" : "");
  return make("li", {}, choice.isArchive ? "Archive " : choice.root ? "Folder " : "", name(choice.root || names), ` (${amount(choice.files)}) `, choice.root ? taken(choice) : null, remove);
}

// What a folder or an archive is taken for, which its user may change.
function taken(choice) {
  const kind = kindOf(choice, chosen);
  const select = make("select", { "aria-label": `What ${visible(choice.root)} is` }, ...Object.entries(KINDS).map(([value, text]) => make("option", { value, selected: value === kind }, text)));
  select.addEventListener("change", () => {
    choice.kind = select.value;
    tell();
    section.querySelectorAll(".choices select")[chosen.filter((one) => one.root).indexOf(choice)].focus();
  });
  return select;
}

function options() {
  const query = { title: form.title.value, language: form.language.value, layout: form.layout.value, min_score: form.min_score.value, max_sharing: form.max_sharing.value };
  for (const tick of ["comments", "anonymise"]) if (form[tick].checked) query[tick] = "true";
  query.index = [...section.querySelectorAll("fieldset input:checked")].map((one) => one.value);
  return query;
}

async function compare() {
  if (!chosen.length) throw new Refused(0, "", "Choose submissions first: a zip archive, a folder, or files.");
  following?.abort();
  following = new AbortController();
  const { signal } = following;
  const bar = make("progress", { max: 1, value: 0 });
  const line = make("p", {}, "Uploading …");
  const stop = make("button", { type: "button" }, "Cancel");
  fill(told, make("div", { class: "card" }, line, bar, make("p", {}, stop)));
  let job = null;
  stop.addEventListener("click", acting(stop, async () => {
    following.abort();
    if (job) await send("DELETE", `v1/comparisons/${part(job.id)}`);
    fill(told, make("p", {}, "The comparison was cancelled, and everything uploaded for it is deleted."));
  }, told));
  try {
    job = await uploaded((one) => { job = one; }, (done, all) => {
      line.textContent = `Uploading: ${size(done)} of ${size(all)}`;
      bar.value = all ? done / all : 1;
    }, signal);
    await follow(job, line, bar, signal);
  } catch (error) {
    if (job && error.name !== "AbortError" && !FINAL.includes(job.state)) await send("DELETE", `v1/comparisons/${part(job.id)}`).catch(() => {});
    throw error;
  }
}

// Send a zip archive of a class as it is, and everything else file by file.
async function uploaded(began, progress, signal) {
  const starter = [form.templates, form.starter].flatMap((input) => choices(picked(input))).map((one) => ({ ...one, kind: "template" }));
  const every = arranged([...chosen, ...starter]).sent;
  const [whole, ...more] = every.filter(([role]) => role === ARCHIVE);
  const files = every.filter(([role]) => role !== ARCHIVE);
  if (more.length || (whole && files.some(([role]) => role === "submissions"))) {
    throw new Refused(0, "", "An archive that is a class is compared by itself. Set the others to “an earlier year”, or all to “one submission”; or unpack them into one folder.");
  }
  const all = every.reduce((sum, [, , file]) => sum + file.size, 0);
  let done = 0;
  progress(done, all);
  const first = whole ? { body: whole[2], type: "application/zip" } : {};
  const isAll = whole && !files.length;
  const job = await (await send("POST", "v1/comparisons", { query: { ...options(), ...(isAll ? {} : { start: "false" }) }, ...first, signal })).json();
  if (isAll) return job;
  began(job);
  done += whole ? whole[2].size : 0;
  for (const [role, name_, file] of files) {
    progress(done, all);
    const address = name_.split("/").map(part).join("/");
    await send("PUT", `v1/comparisons/${part(job.id)}/files/${role}/${address}`, { body: file, type: "application/octet-stream", signal });
    done += file.size;
  }
  return (await send("POST", `v1/comparisons/${part(job.id)}/start`, { signal })).json();
}

async function follow(job, line, bar, signal) {
  for (;;) {
    if (signal.aborted) throw new DOMException("", "AbortError");
    if (FINAL.includes(job.state)) break;
    const { phase = "", done = 0, total = null } = job.progress || {};
    line.textContent = job.state === "running" ? `Comparing: ${visible(phase) || "beginning"}` : "Waiting for its turn …";
    if (total) bar.value = done / total;
    else bar.removeAttribute("value");
    await wait(LOOK);
    job = await get(`v1/comparisons/${part(job.id)}`, {}, signal);
  }
  if (job.state === "done") fill(told, result(job));
  else fill(told, fault(new Error(`The comparison ${job.state === "failed" ? "failed" : "was cancelled"}: ${plain(job.reason || "no reason is known")}.`)));
}

// A reason in the words of this page instead of the names of options.
const plain = (reason) => reason.replace("earlier ones with old=… or index=…", "compare with an earlier year or an archive")
  .replace('layout="flat"', "“each file is a submission” under More options");

function result(job) {
  const found = job.summary || {};
  const facts = Object.entries(FACTS).filter(([key, [isAlways]]) => isAlways || found[key]).map(([key, [, one, many]]) => counted(found[key] || 0, one, many));
  const remarks = found.remarks || [];
  const notes = remarks.map((one) => make("li", {}, `${visible(one.kind)}: `, name(one.name), `: ${visible(one.reason)}`));
  notes.push(...(found.left_out || []).map((note) => make("li", {}, visible(note))));
  const more = (found.not_compared || 0) + (found.skipped || 0) + (found.warnings || 0) - remarks.length;
  if (more > 0) notes.push(make("li", {}, `${counted(more, "more remark")}, listed in the report`));
  const link = report(job, "Open the report");
  link.classList.add("open");
  return make("div", { class: "card" }, make("h2", {}, "The report is ready"), found.understood ? make("p", { class: "understood" }, `Read as: ${visible(found.understood)}.`) : null, make("p", {}, `${facts.join("; ")}.`), notes.length ? make("ul", { class: "notes" }, ...notes) : null,
    make("p", {}, link), make("p", { class: "soft" }, "Anyone who has this address can open the report until it expires. You can delete it under “State”."));
}

// The link to a report: only an address on this server is followed.
export function report(job, text) {
  const url = new URL(job.report, document.baseURI);
  const own = url.protocol === "http:" || url.protocol === "https:";
  return make("a", { href: own ? url.href : null, target: "_blank", rel: "noopener noreferrer" }, text);
}
