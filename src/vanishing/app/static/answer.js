// The answer: what was found, pictures, the front to choose from, the report, files to take away.

import { byId, el, math, newId, number, say, scrolling, show, t, table } from "./dom.js";
import { picture } from "./picture.js";
import { fileAddress } from "./server.js";

const SHOWN = 5; // equations of a group that are shown at once

// Show an answer. `actions` has choose(answer, place), write(answer, name) and apply(answer, file).
export function showAnswer(answer, actions, { heading = "", stays = false, isChecked = false } = {}) {
  const body = byId("answer-body");
  const parts = [
    heading ? el("h3", {}, heading) : null,
    el("p", { class: "heading" }, answer.heading),
    verdictOf(answer, isChecked),
    equationsOf(answer),
    frontOf(answer, actions),
    picturesOf(answer),
    ...answer.tables.map((one) => answerTable(one)),
    listOf(t("answer.notes"), answer.notes),
    listOf(t("answer.warnings"), answer.warnings),
    reportOf(answer, actions),
    listOf(t("answer.next"), answer.next_steps),
    filesOf(answer, actions),
    applyOf(answer, actions),
    sameOf(answer),
  ];
  body.replaceChildren(...parts.filter(Boolean));
  show("answer", !stays);
  say(`${t("progress.done")} ${answer.verdict}`);
}

function verdictOf({ found, verdict }, isChecked) {
  if (isChecked) return el("p", { class: "verdict" }, verdict); // which says itself whether it holds
  const badge = el("span", { class: `badge ${found ? "good" : "bad"}` }, found ? t("answer.found") : t("answer.nothing"));
  return el("p", { class: "verdict" }, badge, " ", verdict);
}

function written(equation) {
  return equation.mathml ? math(equation.mathml) : document.createTextNode(equation.text);
}

function equationsOf({ equations }) {
  if (!equations.length) return null;
  const parts = [];
  for (const group of new Set(equations.map((equation) => equation.group))) {
    const own = equations.filter((equation) => equation.group === group);
    const hidden = own.slice(SHOWN);
    const items = own.slice(0, SHOWN).map(equationOf);
    parts.push(group ? el("h4", {}, group) : null, el("ul", {}, items));
    if (hidden.length) {
      const summary = el("summary", {}, t("answer.more", { count: hidden.length }));
      parts.push(el("details", {}, summary, el("ul", {}, hidden.map(equationOf))));
    }
  }
  return el("div", { class: "equations" }, el("h3", {}, t("answer.equations")), parts);
}

function equationOf(equation) {
  const inside = scrolling(written(equation), equation.text);
  // The only number of an equation stands in it.
  const isAlone = equation.constants.length === 1 && equation.constants[0].name === "1";
  const constants = isAlone ? null : constantsOf(equation.constants);
  return el("li", {}, inside, constants, equation.note ? el("p", { class: "note" }, equation.note) : null);
}

function constantsOf(constants) {
  const one = ({ name, value, std, unit }) => {
    const error = std ? ` ± ${number(std, 2)}` : "";
    return el("li", {}, el("span", { class: "name" }, name), ` ${number(value, 6)}${error}${unit ? ` ${unit}` : ""}`);
  };
  return el("ul", { class: "constants" }, constants.map(one));
}

function frontOf(answer, actions) {
  if (!answer.front?.length || answer.front.length < 2) return null;
  const name = newId("front");
  const rows = answer.front.map((equation, place) => {
    const id = `${name}-${place}`;
    const radio = el("input", { type: "radio", name, id, checked: equation.chosen, "aria-label": equation.text });
    radio.addEventListener("change", () => actions.choose(answer, place));
    const measures = Object.entries(equation.measures ?? {}).map(([what, value]) => `${what.replaceAll("_", " ")} ${number(value, 3)}`);
    return el("li", { class: equation.chosen ? "chosen" : "" }, radio, el("label", { for: id }, written(equation), el("small", {}, measures.join(", "))));
  });
  return el("fieldset", { class: "front" }, el("legend", {}, t("answer.front")), el("p", { class: "note" }, t("answer.front_about")), el("ul", {}, rows));
}

function picturesOf({ pictures }) {
  if (!pictures?.length) return null;
  return el("div", { class: "pictures" }, pictures.map(picture));
}

function answerTable({ title, columns, rows, n_rows: all }) {
  const made = el("div", { class: "told" }, title ? el("h3", {}, title) : null, table(title, columns, rows));
  const shown = Math.min(rows.length, 200);
  if ((all ?? rows.length) > shown) made.append(el("p", { class: "note" }, t("answer.rows_shown", { shown, all: number(all ?? rows.length) })));
  return made;
}

function listOf(title, lines) {
  if (!lines?.length) return null;
  return el("div", {}, el("h3", {}, title), el("ul", { class: "plain" }, lines.map((line) => el("li", {}, line))));
}

function reportOf(answer, actions) {
  const report = answer.files.find((file) => file.name.endsWith(".html"));
  if (!report) return null;
  const details = el("details", { class: "report" }, el("summary", {}, t("answer.report_open")));
  details.addEventListener("toggle", async () => {
    if (!details.open || details.querySelector("iframe")) return;
    if (!(await actions.write(answer, report.name))) return;
    const frame = el("iframe", { title: t("answer.report_frame"), sandbox: "allow-scripts allow-downloads", src: await fileAddress(answer.answer, report.name) });
    details.append(frame);
  });
  return details;
}

function filesOf(answer, actions) {
  if (!answer.files.length) return null;
  const take = async (name) => {
    if (!(await actions.write(answer, name))) return;
    const link = el("a", { href: `${await fileAddress(answer.answer, name)}?download`, download: name });
    document.body.append(link);
    link.click();
    link.remove();
  };
  const items = answer.files.map(({ name, label }) =>
    el("li", {}, el("button", { type: "button", "data-file": name, "aria-label": t("answer.download", { name: label || name }), onclick: () => take(name) }, label || name, el("small", {}, name))),
  );
  return el("div", {}, el("h3", {}, t("answer.files")), el("ul", { class: "files" }, items));
}

function applyOf(answer, actions) {
  if (!answer.applies) return null;
  const id = newId("apply");
  const input = el("input", { type: "file", id });
  input.addEventListener("change", () => {
    if (input.files[0]) actions.apply(answer, input.files[0]);
    input.value = "";
  });
  return el("div", { class: "apply" }, el("h3", {}, t("answer.apply")), el("p", {}, t("answer.apply_about")), el("label", { for: id }, t("answer.apply_choose")), input);
}

function sameOf({ command, python }) {
  if (!command && !python) return null;
  const copyable = (title, text) => {
    const button = el("button", { type: "button", "aria-label": `${t("answer.copy")}: ${title}` }, t("answer.copy"));
    button.addEventListener("click", async () => {
      await navigator.clipboard.writeText(text);
      say(t("answer.copied"));
      button.textContent = t("answer.copied");
    });
    return [el("h4", {}, title), el("div", { class: "copy" }, el("pre", { tabindex: "0" }, el("code", {}, text)), button)];
  };
  const parts = [command ? copyable(t("answer.same_command"), command) : [], python ? copyable(t("answer.same_python"), python) : []];
  return el("details", { class: "same" }, el("summary", {}, t("answer.same")), parts.flat());
}
