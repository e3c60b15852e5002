// The question: which one, and its options.

import { byId, el, newId, show, t } from "./dom.js";
import { formulaField } from "./formula.js";
import { optionFields, valuesOf } from "./options.js";

// Offer the questions for a table; `ask(question, values)` is called when one is asked.
export function showQuestions(questions, columns, guess, ask) {
  const form = byId("asking");
  const chosen = guess.question ?? questions[0].name;
  const details = el("div", { id: "options" });
  const cards = questions.map((question) => {
    const id = newId("question");
    const about = `${id}-about`;
    const radio = el("input", { type: "radio", name: "question", value: question.name, id, "aria-describedby": about, checked: question.name === chosen });
    radio.addEventListener("change", () => offer(question));
    return el("div", { class: "card" }, radio, el("label", { for: id }, question.title), el("p", { id: about, class: "note" }, question.summary));
  });
  const offer = (question) => {
    details.replaceChildren(...optionsOf(question, columns, guess.options?.[question.name] ?? {}));
  };
  const legend = el("legend", {}, t("question.legend"));
  const button = el("button", { class: "main" }, t("question.ask"));
  form.replaceChildren(el("fieldset", { class: "cards" }, legend, cards), details, button);
  form.onsubmit = (event) => {
    event.preventDefault();
    const question = questions.find((one) => one.name === new FormData(form).get("question"));
    ask(question, valuesOf(form, question.options));
  };
  offer(questions.find((question) => question.name === chosen) ?? questions[0]);
  show("question");
}

function optionsOf(question, columns, values) {
  const isEquation = (option) => question.name === "laws" && option.name === "check";
  const basic = question.options.filter((option) => option.basic);
  const others = question.options.filter((option) => !option.basic);
  const fields = basic.map((option) =>
    isEquation(option) ? formulaField(option, values[option.name], columns) : optionFields([option], values, columns),
  );
  const parts = [el("div", { class: "options" }, fields.flat())];
  if (others.length) {
    const more = el("div", { class: "options" }, optionFields(others, values, columns));
    parts.push(el("details", {}, el("summary", {}, t("question.more")), more));
  }
  return parts;
}
