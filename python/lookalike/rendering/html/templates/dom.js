// Elements, numbers and files for all scripts. Text becomes a text node, so nothing of a submission is ever markup.
const SVG = "http://www.w3.org/2000/svg";
const HTML = "http://www.w3.org/1999/xhtml";

function put(space, tag, attributes, children) {
  const element = document.createElementNS(space, tag);
  for (const [key, value] of Object.entries(attributes || {})) if (value !== undefined) element.setAttribute(key, value);
  element.append(...children);
  return element;
}
const make = (tag, attributes, ...children) => put(HTML, tag, attributes, children);
const draw = (tag, attributes, ...children) => put(SVG, tag, attributes, children);
const one = (id) => document.getElementById(id);

const plain = (number) => number.toLocaleString("en");
const counted = (count, noun) => `${plain(count)} ${noun}${count === 1 ? "" : "s"}`;
// As lookalike/rendering/wording.py has them: only nothing is 0 %, and only all of it is 100 %.
const whole = (share) => { const nearest = Math.floor(share * 100 + 0.5); return share > 0 && share < 1 ? Math.min(99, Math.max(1, nearest)) : nearest; };
const percent = (share) => whole(share) + " %";
const decimal = (score) => (whole(score) / 100).toFixed(2);

// Hand a file to the reader of the page; nothing leaves the browser.
function save(name, type, text) {
  const address = URL.createObjectURL(new Blob([text], { type }));
  const link = make("a", { href: address, download: name });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(address), 10000);
}
