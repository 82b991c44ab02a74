// Makes elements. Everything that comes from a document or a server is text, never markup.
export function make(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name === "on") for (const [event, act] of Object.entries(value)) made.addEventListener(event, act);
    else if (value === true) made.setAttribute(name, "");
    else if (value !== false && value !== null && value !== undefined) made.setAttribute(name, value);
  }
  made.append(...children.filter((child) => child !== null && child !== undefined));
  return made;
}

export const fill = (element, ...children) => element.replaceChildren(...children.filter((child) => child !== null));

// A name in a direction of its own, so that it cannot turn what stands around it.
export const name = (text) => make("bdi", {}, visible(text));

// Control characters and marks of direction are shown as their numbers, and half a pair of surrogates as a replacement.
export const visible = (text) => String(text)
  .replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069]/g, (one) => `\\u${one.codePointAt(0).toString(16).padStart(4, "0")}`)
  .replace(/[\ud800-\udfff]/gu, "\ufffd");

export const number = (value) => new Intl.NumberFormat("en-GB").format(value);
export const counted = (value, one, many = `${one}s`) => `${number(value)} ${value === 1 ? one : many}`;

export function size(bytes) {
  const units = ["bytes", "KB", "MB", "GB", "TB"];
  let unit = 0;
  for (; bytes >= 1000 && unit < units.length - 1; unit += 1) bytes /= 1000;
  return `${unit ? bytes.toPrecision(3) : bytes} ${units[unit]}`;
}

export const moment = (text) => (text ? String(text).replace("T", " ").replace(/(\.\d+)?(\+00:00|Z)$/, " UTC") : "");

export const fault = (error) => make("p", { class: "fault" }, visible(error.message));

// Do something, and tell what goes wrong; what was given up on purpose is no fault.
export async function attempt(act, told) {
  try {
    await act();
  } catch (error) {
    if (error.name !== "AbortError") fill(told, fault(error));
  }
}

// Give a button something to do; meanwhile it cannot be pressed again.
export function acting(button, act, told) {
  return async (event) => {
    event?.preventDefault();
    if (button.disabled) return;
    button.disabled = true;
    await attempt(() => act(event), told);
    button.disabled = false;
  };
}
