// An equation while it is typed: how it is read, or what is wrong, under its place.

import { el, math, newId, t } from "./dom.js";
import { readFormula } from "./server.js";

const WAIT = 200; // milliseconds after the last key

export function formulaField(option, value, columns) {
  const id = newId("equation");
  const input = el("input", { id, name: option.name, type: "text", class: "formula", spellcheck: "false", autocomplete: "off", autocapitalize: "off", value: value ?? "", "aria-describedby": `${id}-read ${id}-help` });
  const marks = el("div", { class: "marks", "aria-hidden": "true" });
  const read = el("div", { id: `${id}-read`, class: "read", "aria-live": "polite" });
  const names = columns.map((column) => column.name);
  const insert = (name) => {
    const text = /^[\p{L}_][\p{L}\p{N}_]*$/u.test(name) ? name : `[${name}]`;
    input.setRangeText(text, input.selectionStart, input.selectionEnd, "end");
    input.focus();
    input.dispatchEvent(new Event("input"));
  };
  let waiting = 0;
  let controller = null;
  const check = async () => {
    controller?.abort();
    controller = new AbortController();
    const text = input.value;
    if (!text.trim()) return clear();
    const found = await readFormula(text, names, controller.signal).catch(() => null);
    if (found && input.value === text) write(found, text);
  };
  const clear = () => {
    marks.replaceChildren();
    read.replaceChildren();
    input.removeAttribute("aria-invalid");
    input.setCustomValidity("");
  };
  const write = (found, text) => {
    clear();
    if (found.problem === undefined) {
      const constants = found.constants.length ? t("question.equation_constants", { names: found.constants.join(", ") }) : t("question.equation_no_constants");
      read.append(el("p", {}, t("question.equation_good"), " ", math(found.mathml)), el("p", { class: "note" }, constants));
      return;
    }
    input.setAttribute("aria-invalid", "true");
    input.setCustomValidity(found.problem);
    // The same letters, unseen, so that the mark is under its place.
    marks.append(text.slice(0, found.start), el("mark", {}, text.slice(found.start, found.end) || " "));
    marks.scrollLeft = input.scrollLeft;
    read.append(el("p", { class: "wrong" }, found.problem));
  };
  input.addEventListener("input", () => {
    input.setCustomValidity(""); // until it is known again
    clearTimeout(waiting);
    waiting = setTimeout(check, WAIT);
  });
  input.addEventListener("scroll", () => (marks.scrollLeft = input.scrollLeft));
  if (value) check();
  const buttons = names.slice(0, 40).map((name) => el("button", { type: "button", onclick: () => insert(name) }, el("bdi", {}, name)));
  return el(
    "div",
    { class: "option equation" },
    el("label", { for: id }, option.label),
    el("div", { class: "typed" }, input, marks),
    read,
    el("div", { class: "names", role: "group", "aria-label": t("question.equation_names") }, buttons),
    el("p", { class: "note", id: `${id}-help` }, option.help),
  );
}
