// Shows one part of the page at a time, by the address, and looks after the token.
import { fill } from "./dom.js";
import { granted, onToken, Refused, setToken, token } from "./api.js";
import { guard } from "./files.js";
import * as asking from "./asking.js";
import * as comparing from "./comparing.js";
import * as documents from "./documents.js";
import * as state from "./state.js";

const PARTS = { compare: comparing, ask: asking, documents, state };
const form = document.getElementById("token");
const told = document.getElementById("token-told");

function show() {
  const wanted = location.hash.slice(1) in PARTS ? location.hash.slice(1) : "compare";
  for (const id of Object.keys(PARTS)) document.getElementById(id).hidden = id !== wanted;
  for (const link of document.querySelectorAll(".top nav a")) {
    if (link.hash === `#${wanted}`) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  PARTS[wanted].shown();
}

async function look() {
  form.forget.hidden = !token();
  form.token.placeholder = "";
  fill(told);
  try {
    const { scopes } = await granted();
    // A server that asks for no token has no field for one.
    form.hidden = !token();
    form.token.placeholder = token() ? "in use" : "";
    fill(told, token() ? `The token is valid. It allows: ${scopes.join(", ")}.` : "");
    allow(scopes);
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    form.hidden = false;
    allow(null);
    fill(told, error.status === 401 ? (token() ? "The token is not valid." : "A token is needed.") : error.message);
  }
}

// Say beside each form that the token does not allow, which scope it needs, and let nothing be typed there.
function allow(scopes) {
  for (const one of document.querySelectorAll("form[data-needs]")) {
    const isAllowed = scopes === null || scopes.includes(one.dataset.needs);
    one.inert = !isAllowed;
    const line = one.previousElementSibling;
    line.hidden = isAllowed;
    fill(line, isAllowed ? "" : `Your token does not allow this: it needs the scope ${one.dataset.needs}.`);
  }
}

form.addEventListener("submit", (event) => {
  event.preventDefault();
  if (form.token.value) setToken(form.token.value.trim());
  form.token.value = "";
});
form.forget.addEventListener("click", () => setToken(""));
onToken(() => {
  // What was refused before says nothing about this token.
  for (const old of document.querySelectorAll(".outcome .fault")) old.remove();
  look();
  show();
});
window.addEventListener("hashchange", () => {
  show();
  document.getElementById("main").focus({ preventScroll: true });
});
guard();
for (const part of Object.values(PARTS)) part.begin();
look();
show();
