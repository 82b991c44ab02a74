// Files that were chosen or dropped, folders with everything in them.
export async function dropped(transfer) {
  const entries = [...transfer.items].map((item) => item.webkitGetAsEntry?.()).filter(Boolean);
  if (!entries.length) return [...transfer.files].map((file) => ({ path: file.name, file }));
  const found = [];
  for (const entry of entries) await walk(entry, found);
  return found;
}

async function walk(entry, found) {
  const path = entry.fullPath.replace(/^\/+/, "");
  if (entry.isFile) {
    found.push({ path, file: await new Promise((done, failed) => entry.file(done, failed)) });
    return;
  }
  const reader = entry.createReader();
  for (;;) {
    // A browser gives a folder in parts.
    const some = await new Promise((done, failed) => reader.readEntries(done, failed));
    if (!some.length) return;
    for (const one of some) await walk(one, found);
  }
}

// Zip archives that are chosen together get a line each up to this many; more are the files of a class.
const FEW = 3;
const isZip = ({ path }) => !path.includes("/") && path.toLowerCase().endsWith(".zip");

// What was chosen at once, as choices: each folder, each zip archive if there are few, and the other files that stand in no folder.
export function choices(files) {
  const zips = files.filter(isZip);
  const archives = zips.length <= FEW ? zips.map((file) => ({ root: file.path, files: [file], isArchive: true, isAlone: zips.length === 1, kind: null })) : [];
  const loose = files.filter((file) => !file.path.includes("/") && !(archives.length && isZip(file)));
  const folders = new Map();
  for (const file of files.filter(({ path }) => path.includes("/"))) {
    const root = file.path.slice(0, file.path.indexOf("/"));
    if (!folders.has(root)) folders.set(root, []);
    folders.get(root).push(file);
  }
  const made = [...folders].map(([root, some]) => ({ root, files: some, isArchive: false, isAlone: folders.size === 1, kind: null }));
  return [...(loose.length ? [{ root: "", files: loose, isArchive: false, isAlone: true, kind: "files" }] : []), ...archives, ...made];
}

// What a folder or archive is taken for: what its user said; else a class, unless it came together with others or holds no folder.
// A zip archive is a class only if nothing else is new: the server reads it as a whole.
export function kindOf(choice, all) {
  if (choice.kind) return choice.kind;
  const others = all.filter((one) => one !== choice && !["year", "template"].includes(one.kind));
  if (choice.isArchive) return choice.isAlone && !others.length ? "class" : "one";
  const isFlat = choice.files.every(({ path }) => path.lastIndexOf("/") === choice.root.length);
  return choice.isAlone && (!others.some((one) => one.root) || !isFlat) ? "class" : "one";
}

// The role of a zip archive that is a whole class.
export const ARCHIVE = "archive";
const ROLES = { year: "years", template: "templates" };

// The role and path under which each file is sent. Nothing replaces anything: a second name gets a number, as in `a (2).c`,
// and a second folder of one name too, with everything in it. `numbered` lists these new names.
export function arranged(all) {
  const sent = [];
  const numbered = [];
  const last = new Map();
  for (const choice of all) {
    const kind = kindOf(choice, all);
    const isWhole = choice.isArchive && kind === "class";
    const role = isWhole ? ARCHIVE : ROLES[kind] || "submissions";
    const folders = new Map();
    for (const { path, file } of choice.files) {
      const [top, ...rest] = (kind === "class" && !isWhole ? path.slice(choice.root.length + 1) : path).split("/");
      const place = (rest.length && folders.get(top)) || free(last, `${role}/`, top);
      if (place !== top && !(rest.length && folders.has(top))) numbered.push(place);
      if (rest.length) folders.set(top, place);
      sent.push([role, [place, ...rest].join("/"), file]);
    }
  }
  return { sent, numbered };
}

// A name that no other has; `last` has the last number of each name that was given.
function free(last, before, name) {
  let count = last.get(before + name) || 0;
  let place = name;
  do {
    count += 1;
    const at = count > 1 ? name.search(/(\.[A-Za-z0-9]{1,10})?$/) : 0;
    if (count > 1) place = `${name.slice(0, at)} (${count})${name.slice(at)}`;
  } while (last.has(before + place));
  last.set(before + name, count);
  if (place !== name) last.set(before + place, 1);
  return place;
}

export const picked = (input) => [...input.files].map((file) => ({ path: file.webkitRelativePath || file.name, file }));

export function droppable(zone, take) {
  zone.addEventListener("dragover", (event) => {
    event.preventDefault();
    zone.classList.add("over");
  });
  zone.addEventListener("dragleave", () => zone.classList.remove("over"));
  zone.addEventListener("drop", async (event) => {
    event.preventDefault();
    zone.classList.remove("over");
    take(await dropped(event.dataTransfer));
  });
}

// A file that is dropped beside a zone must not be opened by the browser in the place of this page.
export function guard() {
  for (const kind of ["dragover", "drop"]) window.addEventListener(kind, (event) => event.preventDefault());
}
