// One piece of work at a time: its progress, its cancel button, and what went wrong.

import { byId, el, hide, number, say, show, t } from "./dom.js";
import { Refusal } from "./server.js";
import { problemList } from "./table.js";

let running = null; // { controller, short, done }

// Run `work({ signal, listen })`, with progress; return what it returns, or null if it failed.
// It replaces what is running. Short work waits for it instead, and is waited for: whatever is
// ended takes the process that has the answers with it.
export async function working(what, work, { reading = {}, again = null, short = false } = {}) {
  while (running && (short || running.short)) await running.done;
  running?.controller.abort();
  const controller = new AbortController();
  let finish;
  const own = { controller, short, done: new Promise((resolve) => (finish = resolve)) };
  running = own;
  hide("problem");
  const focused = document.activeElement;
  const start = performance.now();
  const shown = progress(what, start);
  const late = setTimeout(() => show("working", !short), 300);
  document.documentElement.classList.add("busy");
  try {
    return await work({ signal: controller.signal, listen: shown.listen, report: shown.report });
  } catch (error) {
    if (running === own) tell(error, reading, again);
    return null;
  } finally {
    clearTimeout(late);
    shown.end();
    if (running === own) {
      const isLost = byId("working").contains(document.activeElement);
      hide("working");
      if (isLost) focused.focus();
      document.documentElement.classList.remove("busy");
      running = null;
    }
    finish();
  }
}

function progress(what, start) {
  const [bar, step] = [byId("bar"), byId("step")];
  let text = what;
  bar.removeAttribute("value");
  const write = () => {
    const seconds = Math.round((performance.now() - start) / 1000);
    step.textContent = seconds > 1 ? `${text} (${t("progress.seconds", { seconds })})` : text;
  };
  const report = (line, done, of) => {
    text = line;
    if (of) {
      bar.max = of;
      bar.value = Math.min(done, of);
    } else bar.removeAttribute("value");
    write();
  };
  const listen = (event) => {
    if (event.event === "waiting") report(t("progress.waiting"));
    if (event.event !== "progress") return;
    const { done, of } = event;
    const count = of ? t("progress.step", { done: number(done), of: number(of) }) : t("progress.step_open", { done: number(done) });
    report(done ? `${count}: ${event.what}` : event.what, done, of);
  };
  write();
  say(what);
  const clock = setInterval(write, 1000);
  return { listen, report, end: () => clearInterval(clock) };
}

// Show an error where everybody finds it, with what helps as buttons: `again(reading)`.
export function tell(error, reading, again) {
  if (!(error instanceof Refusal)) console.error(error);
  if (error.cancelled) {
    say(error.message);
    return;
  }
  const inside = error.problems?.length && again ? problemList(error.problems, reading, again) : el("p", {}, error.message);
  byId("problem-text").replaceChildren(inside);
  show("problem", true);
}

byId("cancel").addEventListener("click", () => {
  running?.controller.abort();
  say(t("progress.cancelled"));
});
