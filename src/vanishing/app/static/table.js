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
  const { columns, problems, name, n_rows: rows, first_rows: firstRows } = description;
  const size = t("columns.size", { name, rows: number(rows), columns: number(columns.length) });
  const parts = [el("p", { class: "size" }, size)];
  if (problems.length) parts.push(el("h3", {}, t(columns.length ? "columns.problems" : "errors.heading")), problemList(problems, reading, again));
  for (const note of description.notes ?? []) parts.push(el("p", { class: "note" }, note));
  parts.push(el("ul", { class: "columns" }, columns.slice(0, SHOWN).map(columnCard)));
  if (columns.length > SHOWN) {
    parts.push(el("p", { class: "note" }, t("columns.shown", { shown: SHOWN, all: number(columns.length) })));
  }
  if (firstRows.length) {
    const first = tableOf(t("columns.first"), columns.map((column) => column.name), firstRows);
    parts.push(el("details", {}, el("summary", {}, t("columns.first")), first));
  }
  const form = el("form", { class: "options" }, optionFields(options, reading, columns), el("button", {}, t("columns.again")));
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    again(valuesOf(form, options));
  });
  parts.push(el("details", { id: "reading" }, el("summary", {}, t("columns.more")), form));
  byId("description").replaceChildren(...parts);
  show("columns", true);
}

// Problems with buttons for what helps; `again(reading)` is called by these.
export function problemList(problems, reading, again) {
  const items = problems.map((problem) => {
    const buttons = problem.remedies.map((remedy) =>
      el("button", { type: "button", "data-option": remedy.option, onclick: () => again(changed(reading, remedy)) }, remedy.label),
    );
    return el("li", {}, el("p", {}, problem.sentence), buttons.length ? el("p", { class: "remedies" }, buttons) : null);
  });
  return el("ul", { class: "problems" }, items);
}

// The reading with the option of a remedy; one more column is left out beside the others.
function changed(reading, { option, value }) {
  return { ...reading, [option]: option === "drop" ? [...(reading.drop ?? []), value] : value };
}

function columnCard(column) {
  const kind = has(`columns.kind_${column.kind}`) ? t(`columns.kind_${column.kind}`) : column.kind;
  const facts = [kind];
  if (column.unit) facts.push(t("columns.unit", { unit: column.unit }));
  if (column.n_gaps) facts.push(t("columns.gaps", { count: number(column.n_gaps) }));
  if (column.low !== "") facts.push(t("columns.range", { low: column.low, high: column.high }));
  else if (column.n_distinct) facts.push(t("columns.different", { count: number(column.n_distinct) }));
  return el(
    "li",
    { class: column.suspicion ? "suspicious" : "" },
    el("h3", {}, el("bdi", {}, column.name)),
    column.counts.length ? histogram(column) : null,
    column.texts.length ? texts(column) : null,
    el("p", {}, facts.join(" · ")),
    column.suspicion ? el("p", { class: "suspicion" }, column.suspicion) : null,
  );
}

function histogram({ name, counts, low, high }) {
  const most = Math.max(...counts, 1);
  const bars = counts.map((count, i) => {
    const height = count ? Math.max(1, (36 * count) / most) : 0;
    return svg("rect", { x: i + 0.06, y: 36 - height, width: 0.88, height });
  });
  const label = t("columns.picture", { name, low, high });
  return svg("svg", { viewBox: `0 0 ${counts.length} 36`, preserveAspectRatio: "none", role: "img", "aria-label": label, class: "histogram" }, bars);
}

// The most frequent texts, with a bar each.
function texts({ texts: pairs }) {
  const most = Math.max(...pairs.map(([, count]) => count), 1);
  const bar = (count) => svg("svg", { viewBox: "0 0 100 4", preserveAspectRatio: "none", class: "share", "aria-hidden": "true" }, svg("rect", { width: (100 * count) / most, height: 4 }));
  return el("ul", { class: "texts" }, pairs.map(([text, count]) => el("li", {}, el("span", {}, el("bdi", {}, text), ` ${number(count)}`), bar(count))));
}
