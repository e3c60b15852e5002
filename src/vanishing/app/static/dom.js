// Elements and words. Text from tables goes into text nodes alone, never into markup.

const words = JSON.parse(document.getElementById("words").textContent);

// The words of a key such as "table.reading", with values in place of {name}.
export function t(key, values = {}) {
  const text = key.split(".").reduce((part, name) => part?.[name], words);
  if (text === undefined) return key;
  return text.replace(/\{(\w+)\}/g, (whole, name) => (name in values ? String(values[name]) : whole));
}

export function has(key) {
  return key.split(".").reduce((part, name) => part?.[name], words) !== undefined;
}

// An element with attributes, listeners (onclick: ...) and children: elements, texts, lists.
export function el(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else if (name in made && typeof value !== "string") made[name] = value;
    else made.setAttribute(name, value === true ? "" : value);
  }
  made.append(...children.flat().filter((child) => child !== null && child !== undefined));
  return made;
}

export function svg(tag, attributes = {}, ...children) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, String(value));
  made.append(...children.flat());
  return made;
}

// An equation that our own writer made: MathML, and nothing else, is taken from the text.
export function math(text) {
  const parsed = new DOMParser().parseFromString(text, "text/html").body.firstElementChild;
  if (parsed?.localName !== "math") return document.createTextNode("");
  const made = document.importNode(parsed, true);
  made.setAttribute("tabindex", "-1");
  return made;
}

export const byId = (id) => document.getElementById(id);

// Say something to those who listen to the page.
export function say(text) {
  byId("status").textContent = text;
}

export function show(id, focus = false) {
  const part = byId(id);
  part.hidden = false;
  if (focus) {
    const calm = matchMedia("(prefers-reduced-motion: reduce)").matches;
    part.focus({ preventScroll: true });
    part.scrollIntoView({ behavior: calm ? "auto" : "smooth", block: "start" });
  }
}

export function hide(...ids) {
  for (const id of ids) byId(id).hidden = true;
}

export function number(value, digits = 4) {
  if (value === null || value === undefined) return "";
  if (typeof value !== "number") return String(value);
  if (Number.isInteger(value) && Math.abs(value) < 1e7) return value.toLocaleString("en");
  const written = Number(value.toPrecision(digits));
  const size = Math.abs(written);
  if (size && (size < 1e-3 || size >= 1e6)) return written.toExponential().replace("e+", "e");
  return String(written);
}

let made = 0;
export const newId = (what) => `${what}-${++made}`;

// A table to read, in a box that scrolls; rows are lists of texts and numbers.
export function table(caption, columns, rows, { most = 200, head = true } = {}) {
  const isNumber = columns.map((_, j) => rows.length && rows.every((row) => row[j] === null || typeof row[j] === "number"));
  const kind = (value, j) => (isNumber[j] ? "number" : String(value ?? "").length > 30 ? "long" : "");
  const cell = (value, j) => el("td", { class: kind(value, j) }, typeof value === "number" ? number(value, 6) : value ?? "");
  const body = el(
    "table",
    {},
    el("caption", {}, caption),
    head ? el("thead", {}, el("tr", {}, columns.map((name, j) => (name ? el("th", { scope: "col", class: isNumber[j] ? "number" : "" }, name) : el("td"))))) : null,
    el("tbody", {}, rows.slice(0, most).map((row) => el("tr", {}, row.map(cell)))),
  );
  return scrolling(body, caption);
}

export function scrolling(inside, label) {
  return el("div", { class: "scroll", role: "region", tabindex: "0", "aria-label": label }, inside);
}
