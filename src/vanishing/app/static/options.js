// Fields for options, from what the server says of them: a name, a kind, words, a default.

import { el, newId, t } from "./dom.js";

const PLAIN = { number: "number", integer: "number", text: "text" };

// Fields for options; `values` has those that are not by default.
export function optionFields(options, values, columns) {
  return options.map((option) => field(option, values?.[option.name] ?? option.default, columns));
}

function field(option, value, columns) {
  const id = newId("option");
  const label = option.label;
  const isTold = option.help !== `${label}.`;
  const help = isTold ? el("p", { class: "note", id: `${id}-help` }, option.help) : null;
  const names = { id, name: option.name, "aria-describedby": isTold ? `${id}-help` : null };
  if (option.kind === "flag" && option.default !== null) {
    const box = el("input", { ...names, type: "checkbox", checked: Boolean(value) });
    return el("div", { class: "option kind-flag" }, el("label", { for: id }, box, label), help);
  }
  const input = control(option, value, names, columns);
  const more = [];
  if (option.kind === "columns") more.push(el("p", { class: "note" }, t("question.several")));
  if (option.kind === "texts") more.push(el("p", { class: "note" }, t("question.separate")));
  return el("div", { class: `option kind-${option.kind}` }, el("label", { for: id }, label), input, more, help);
}

function control(option, value, names, columns) {
  const absent = option.needed ? t("question.needed") : option.absent || (option.kind === "column" ? t("question.none") : t("question.by_itself"));
  const choice = (of, text, chosen) => el("option", { value: of, selected: chosen }, text);
  switch (option.kind) {
    case "column":
      return el("select", { ...names, required: option.needed }, choice("", absent, !value), columns.map((c) => choice(c.name, c.name, c.name === value)));
    case "columns": {
      const size = Math.min(6, Math.max(2, columns.length));
      const chosen = new Set(value ?? []);
      return el("select", { ...names, multiple: true, size: String(size) }, columns.map((c) => choice(c.name, c.name, chosen.has(c.name))));
    }
    case "choice":
      return el("select", names, option.default === null ? choice("", absent, !value) : null, option.choices.map((c) => choice(c, c, c === value)));
    case "flag": // which may be left to the reader of the table
      return el("select", names, choice("", absent, value === null || value === undefined), choice("yes", t("yes"), value === true), choice("no", t("no"), value === false));
    case "file": // which a page types, or pastes
      return el("textarea", { ...names, rows: "3", spellcheck: "false", placeholder: t("question.pairs") });
    case "texts":
      return el("textarea", { ...names, rows: "2", spellcheck: "false" }, (value ?? []).join("\n"));
    default: {
      const limits = { min: option.low ?? undefined, max: option.high ?? undefined, step: option.kind === "integer" ? "1" : "any" };
      const text = { type: PLAIN[option.kind] ?? "text", placeholder: absent, spellcheck: "false", autocomplete: "off" };
      return el("input", { ...names, ...text, ...(option.kind === "text" ? {} : asTexts(limits)), value: value === null || value === undefined ? "" : String(value) });
    }
  }
}

function asTexts(limits) {
  return Object.fromEntries(Object.entries(limits).filter(([, v]) => v !== undefined).map(([k, v]) => [k, String(v)]));
}

// The values of a form that are not empty.
export function valuesOf(form, options) {
  const values = {};
  for (const option of options) {
    const input = form.elements.namedItem(option.name);
    if (!input) continue;
    const value = valueOf(option, input);
    if (value !== null) values[option.name] = value;
  }
  return values;
}

function valueOf(option, input) {
  if (input.type === "checkbox") return input.checked === Boolean(option.default) ? null : input.checked;
  if (option.kind === "columns") {
    const chosen = [...input.selectedOptions].map((one) => one.value);
    return chosen.length ? chosen : null;
  }
  if (option.kind === "texts") {
    const lines = input.value.split("\n").map((line) => line.trim()).filter(Boolean);
    return lines.length ? lines : null;
  }
  if (option.kind === "file") return pairsOf(input.value);
  if (option.kind === "flag") return input.value === "" ? null : input.value === "yes";
  if (input.value === "") return null;
  return option.kind === "number" || option.kind === "integer" ? Number(input.value) : input.value;
}

// Lines NAME = "VALUE" as an object, or null where there is none.
function pairsOf(text) {
  const lines = text.split("\n").map((line) => line.split("=")).filter((parts) => parts.length > 1);
  if (!lines.length) return null;
  const bare = (part) => part.trim().replace(/^["']|["']$/g, "");
  return Object.fromEntries(lines.map(([name, ...rest]) => [bare(name), bare(rest.join("="))]));
}
