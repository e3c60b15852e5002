// Tables: sorting by a head, and rows that are shown on demand.
"use strict";

function sortRows(table, column, order) {
  const sign = order === "ascending" ? 1 : -1;
  const rows = [...table.tBodies[0].rows].map((row) => [parseFloat(row.cells[column].dataset.value), row]);
  rows.sort(([a], [b]) => {
    // Where there is no number the row comes last, in both orders.
    if (Number.isNaN(a) || Number.isNaN(b)) return Number.isNaN(a) - Number.isNaN(b);
    return a === b ? 0 : sign * (a < b ? -1 : 1);
  });
  table.tBodies[0].append(...rows.map((pair) => pair[1]));
  hideRows(table);
}

function hideRows(table) {
  const limit = table.classList.contains("all") ? Infinity : Number(table.dataset.limit);
  [...table.tBodies[0].rows].forEach((row, i) => (row.hidden = i >= limit));
}

for (const table of document.querySelectorAll("table.sortable")) {
  const heads = [...table.tHead.rows[0].cells];
  heads.forEach((head, column) => {
    const button = head.querySelector("button");
    if (!button) return;
    button.addEventListener("click", () => {
      const first = head.dataset.first;
      const second = first === "descending" ? "ascending" : "descending";
      const order = head.getAttribute("aria-sort") === first ? second : first;
      heads.forEach((other) => other.removeAttribute("aria-sort"));
      head.setAttribute("aria-sort", order);
      sortRows(table, column, order);
    });
  });
}

for (const button of document.querySelectorAll("button.show-all")) {
  const table = document.getElementById(button.getAttribute("aria-controls"));
  const fewer = button.textContent;
  button.hidden = false;
  button.addEventListener("click", () => {
    const all = table.classList.toggle("all");
    hideRows(table);
    button.textContent = all ? "Show fewer" : fewer;
    button.setAttribute("aria-expanded", String(all));
  });
}
