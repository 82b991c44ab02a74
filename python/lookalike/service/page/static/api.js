// Asks the server. The token lives in this tab only, and is sent as a header, never in an address.
const KEY = "lookalike token";
const listeners = [];

export const token = () => sessionStorage.getItem(KEY) || "";
export function setToken(value) {
  if (value) sessionStorage.setItem(KEY, value);
  else sessionStorage.removeItem(KEY);
  for (const listener of listeners) listener();
}
export const onToken = (listener) => listeners.push(listener);

export class Refused extends Error {
  constructor(status, code, message) {
    super(message);
    [this.status, this.code] = [status, code];
  }
}

const WORDS = { 0: "The server cannot be reached." };
// Refusals that speak of requests, in the words of this page.
const REASONS = { "not-a-zip": "The file is no zip archive, or it is damaged: choose another one." };
// What a person is told about a request without a valid token: programs read the server's own words.
const noToken = () => (token() ? "The token is not valid: give another at the top of this page." : "A token is needed: give yours at the top of this page.");

export async function send(method, path, { body = undefined, type = undefined, query = {}, signal = undefined } = {}) {
  const pairs = Object.entries(query).flatMap(([name, value]) => (Array.isArray(value) ? value : [value]).map((one) => [name, one]));
  const asked = new URLSearchParams(pairs.filter(([, value]) => value !== "" && value !== undefined && value !== null));
  const headers = {};
  if (token()) headers.Authorization = `Bearer ${token()}`;
  if (type) headers["Content-Type"] = type;
  let answer;
  try {
    answer = await fetch(`${path}${asked.size ? `?${asked}` : ""}`, { method, body, headers, signal, credentials: "omit", redirect: "error" });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Refused(0, "unreachable", WORDS[0]);
  }
  if (answer.ok) return answer;
  const told = await answer.json().catch(() => ({}));
  const message = answer.status === 401 ? noToken() : REASONS[told.error?.code] || told.error?.message || `The server answered ${answer.status}.`;
  throw new Refused(answer.status, told.error?.code || "", message.charAt(0).toUpperCase() + message.slice(1) + (/[.!?]$/.test(message) ? "" : "."));
}

export const get = async (path, query = {}, signal = undefined) => (await send("GET", path, { query, signal })).json();
export const part = (text) => encodeURIComponent(text);
export const wait = (milliseconds) => new Promise((done) => setTimeout(done, milliseconds));

// What the token allows; without a valid one the promise fails.
let grant = null;
export function granted() {
  grant ??= get("v1/token");
  return grant;
}
// Whether the token has a scope. Without a valid token nothing is known: the server says what is missing.
export const allows = (scope) => granted().then((told) => told.scopes.includes(scope), () => true);

// The archives that exist for this token, and those that it may read; none if it may not.
let known = null;
export async function archives() {
  const told = await granted();
  if (!["read", "add", "remove"].some((one) => told.scopes.includes(one))) return [];
  known ??= get("v1/indexes").then((found) => found.indexes);
  return known;
}
export const indexes = async () => ((await allows("read")) ? archives() : []);
onToken(() => { known = grant = null; });
