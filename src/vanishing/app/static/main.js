// The page: a table, a question, an answer.

import { showAnswer } from "./answer.js";
import { hide, t } from "./dom.js";
import { showQuestions } from "./question.js";
import { run, send } from "./server.js";
import { listenToTables, showDescription } from "./table.js";
import { working } from "./work.js";

// The token has done its work; nobody shall copy it from the address, or find it in the history.
history.replaceState(null, "", "/");

const page = { table: null, name: "", reading: {}, guess: {}, known: null };

const known = () => (page.known ??= run({ task: "questions" }));

async function take(body, name, pasted) {
  await working(t("table.reading", { name }), async ({ signal, listen }) => {
    hide("columns", "question", "answer");
    const sent = await send(body, name, { pasted, signal });
    await describe({ table: sent.table, name, guess: {} }, {}, { signal, listen });
  });
}

async function takeExample(example) {
  await working(t("table.reading", { name: example }), async ({ signal, listen }) => {
    hide("columns", "question", "answer");
    const made = await run({ task: "example", name: example }, { signal, listen });
    await describe({ table: made.table, name: made.name, guess: made.guess }, {}, { signal, listen });
  });
}

async function describe(source, reading, { signal, listen }) {
  hide("columns", "question", "answer");
  const found = await run({ task: "describe", table: source.table, reading }, { signal, listen });
  const { questions, reading: options } = await known();
  Object.assign(page, source, { reading });
  const again = (changed) =>
    working(t("table.reading", { name: source.name }), (work) => describe(source, changed, work));
  showDescription({ ...found, name: source.name }, reading, options, again);
  // What a source knows of itself counts more than what its columns look like.
  const guess = { ...source.guess, options: { ...found.guess, ...source.guess.options } };
  if (found.columns.length) showQuestions(questions, found.columns, guess, ask);
  else hide("question");
}

async function ask(question, options) {
  const { table, reading } = page;
  const task = { task: "ask", table, reading, question: question.name, options };
  // What helps with the table changes how it is read; then the question is asked again.
  const again = async (changed) => {
    const guess = { question: question.name, options: { [question.name]: options } };
    const source = { ...page, guess };
    const done = await working(t("table.reading", { name: page.name }), async (work) => {
      await describe(source, changed, work);
      return true;
    });
    if (done) await ask(question, options);
  };
  hide("answer");
  const answer = await working(question.title, (work) => run(task, work), { reading, again });
  if (answer) showAnswer(answer, actions, { isChecked: "check" in options });
}

// Another table is most likely written as this one is; which rows and columns are meant may differ.
function layoutOf(reading) {
  const layout = ["missing", "decimal", "separator", "encoding", "header", "header_row"];
  return Object.fromEntries(Object.entries(reading).filter(([name]) => layout.includes(name)));
}

const actions = {
  async choose(answer, place) {
    const task = { task: "choose", answer: answer.answer, place };
    const chosen = await working(t("answer.front"), (work) => run(task, work), { short: true });
    if (!chosen) return;
    showAnswer(chosen, actions, { stays: true });
    document.querySelector(".front :checked")?.focus({ preventScroll: true });
  },
  async write(answer, name) {
    const task = { task: "write", answer: answer.answer, name };
    return working(t("answer.download", { name }), (work) => run(task, work), { short: true });
  },
  async apply(answer, file, reading = layoutOf(page.reading)) {
    const again = (changed) => actions.apply(answer, file, changed);
    const work = async ({ signal, listen }) => {
      const sent = await send(file, file.name, { signal });
      return run({ task: "apply", answer: answer.answer, table: sent.table, reading }, { signal, listen });
    };
    const applied = await working(t("table.reading", { name: file.name }), work, { reading, again });
    if (applied) showAnswer(applied, actions, { heading: t("answer.apply_heading", { name: file.name }) });
  },
};

// The second click of a double click asks for the same once more.
document.addEventListener(
  "click",
  (event) => {
    if (event.detail > 1 && event.target.closest("button") && !event.target.closest(".names")) {
      event.preventDefault();
      event.stopPropagation();
    }
  },
  true,
);
listenToTables(take, takeExample);
known().catch(() => (page.known = null));
document.documentElement.dataset.ready = "yes";
