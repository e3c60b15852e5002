// A table: where it comes from, and how it was read.

import { byId, el, has, number, show, svg, t, table as tableOf } from "./dom.js";
import { optionFields, valuesOf } from "./options.js";

const SHOWN = 60; // columns that have a picture

// Call `take(body, name, pasted)` for each table that is dropped, chosen or pasted.
export function listenToTables(take, takeExample) {
  const drop = byId("drop");
  const file = byId("file");
  file.addEventListener("change", () => {
    if (file.files[0]) take(file.files[0], file.files[0].name, false);
    file.value = "";
  });
  for (const target of [document.body]) {
    target.addEventListener("dragover", (event) => {
      event.preventDefault();
      drop.classList.add("over");
    });
    target.addEventListener("dragleave", () => drop.classList.remove("over"));
    target.addEventListener("drop", (event) => {
      event.preventDefault();
      drop.classList.remove("over");
      const dropped = event.dataTransfer.files[0];
      const text = event.dataTransfer.getData("text/plain");
      if (dropped) take(dropped, dropped.name, false);
      else if (text) take(text, t("table.pasted_name"), true);
    });
  }
  const cells = byId("cells");
  byId("use-cells").addEventListener("click", () => {
    const text = cells.value.trim();
    const isTable = text.split("\n").length > 1;
    cells.setCustomValidity(isTable ? "" : t("table.paste_empty"));
    if (isTable) take(text, t("table.pasted_name"), true);
    else cells.reportValidity();
  });
  cells.addEventListener("input", () => cells.setCustomValidity(""));
  for (const button of document.querySelectorAll("[data-example]")) {
    button.addEventListener("click", () => takeExample(button.dataset.example));
  }
}

// Show how a table was read; `again(reading)` reads it in another way.
export function showDescription(description, reading, options, again) {
  const { columns, problems, name, n_rows: rows } = description;
  const size = t("columns.size", { name, rows: number(rows), columns: number(columns.length) });
  const parts = [el("p", { class: "size" }, size)];
  if (problems.length) parts.push(problemList(problems, reading, again));
  for (const note of description.notes ?? []) parts.push(el("p", { class: "note" }, note));
  parts.push(el("ul", { class: "columns" }, columns.slice(0, SHOWN).map(columnCard)));
  if (columns.length > SHOWN) {
    parts.push(el("p", { class: "note" }, t("columns.shown", { shown: SHOWN, all: number(columns.length) })));
  }
  if (description.first?.length) {
    const first = tableOf(t("columns.first"), columns.map((column) => column.name), description.first);
    parts.push(el("details", {}, el("summary", {}, t("columns.first")), first));
  }
  const form = el("form", { class: "options" }, optionFields(options, reading, columns), el("button", {}, t("columns.again")));
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    again(valuesOf(form, options));
  });
  parts.push(el("details", { id: "reading" }, el("summary", {}, t("columns.more")), form));
  byId("description").replaceChildren(...parts);
  show("columns");
}

function problemList(problems, reading, again) {
  const heading = problems.length === 1 ? t("columns.problems_one") : t("columns.problems");
  const items = problems.map((problem) => {
    const buttons = problem.remedies.map((remedy) =>
      el("button", { type: "button", onclick: () => again(changed(reading, remedy)) }, remedy.label),
    );
    return el("li", {}, el("p", {}, problem.sentence), el("p", { class: "remedies" }, buttons));
  });
  return el("div", { class: "problems" }, el("h3", {}, heading), el("ul", {}, items));
}

// The reading with the option of a remedy; one of several values is added to the others.
function changed(reading, { option, value }) {
  const before = reading[option];
  const values = Array.isArray(value) ? [...(before ?? []), ...value] : value;
  return { ...reading, [option]: values };
}

function columnCard(column) {
  const kind = has(`columns.kind_${column.kind}`) ? t(`columns.kind_${column.kind}`) : column.kind;
  const facts = [kind];
  if (column.unit) facts.push(t("columns.unit", { unit: column.unit }));
  if (column.gaps) facts.push(t("columns.gaps", { count: number(column.gaps) }));
  const isRange = typeof column.low === "number" && typeof column.high === "number";
  if (isRange) facts.push(t("columns.range", { low: number(column.low), high: number(column.high) }));
  else if (column.distinct) facts.push(t("columns.different", { count: number(column.distinct) }));
  return el(
    "li",
    { class: column.suspicion ? "suspicious" : "" },
    el("h3", {}, el("bdi", {}, column.name)),
    column.counts?.length ? histogram(column, isRange) : null,
    el("p", {}, facts.join(" · ")),
    column.suspicion ? el("p", { class: "suspicion" }, column.suspicion) : null,
  );
}

function histogram({ name, counts, low, high }, isRange) {
  const most = Math.max(...counts, 1);
  const label = isRange ? t("columns.picture", { name, low: number(low), high: number(high) }) : t("columns.counts", { name });
  const bars = counts.map((count, i) => {
    const height = count ? Math.max(1, (36 * count) / most) : 0;
    return svg("rect", { x: i + 0.06, y: 36 - height, width: 0.88, height });
  });
  return svg("svg", { viewBox: `0 0 ${counts.length} 36`, preserveAspectRatio: "none", role: "img", "aria-label": label, class: "histogram" }, bars);
}
