// What the page asks of the server: its session, tables, and tasks with their events.

import { t, has } from "./dom.js";

let session = null; // its name, once it has begun
let beginning = null;

export class Refusal extends Error {
  // An error to show: a message, problems with their remedies.
  constructor(message, details = {}) {
    super(message);
    Object.assign(this, { problems: [], cancelled: false }, details);
  }
}

async function asked(address, options) {
  let response;
  try {
    response = await fetch(address, { method: "POST", ...options });
  } catch (error) {
    if (error.name === "AbortError") throw new Refusal(t("progress.cancelled"), { cancelled: true });
    throw new Refusal(t("errors.unreachable"));
  }
  if (response.ok) return response;
  if (response.status === 403) throw new Refusal(t("errors.refused"));
  if (response.status === 410) throw new Refusal(t("errors.session"));
  const said = await response.json().catch(() => ({}));
  throw refusal(said, `${response.status}`);
}

function refusal(event, otherwise = "") {
  const details = { ...event.details };
  if (details.most) details.most = Math.round(details.most / 1e6).toLocaleString("en");
  const key = `errors.${event.kind}`;
  const message = event.kind && has(key) ? t(key, details) : event.message || otherwise;
  return new Refusal(message, { problems: event.problems ?? [] });
}

// The same session for all who ask before there is one.
async function address(rest) {
  beginning ??= asked("/sessions").then((response) => response.json());
  try {
    session = (await beginning).session;
  } catch (error) {
    beginning = null;
    throw error;
  }
  return `/sessions/${session}/${rest}`;
}

// Send a table (a file, or text) and return what the server calls it.
export async function send(body, name, { pasted = false, signal } = {}) {
  const query = new URLSearchParams({ name, pasted: pasted ? "yes" : "no" });
  return (await asked(await address(`tables?${query}`), { body, signal })).json();
}

// Run a task; `listen` hears its events, and its result is returned.
export async function run(task, { signal, listen = () => {} } = {}) {
  const response = await asked(await address("tasks"), { body: JSON.stringify(task), signal });
  const reader = response.body.getReader();
  const decoder = new TextDecoder();
  let text = "";
  let result = null;
  try {
    for (;;) {
      const { done, value } = await reader.read();
      text += decoder.decode(value, { stream: !done });
      const lines = text.split("\n");
      text = lines.pop();
      for (const event of lines.filter(Boolean).map((line) => JSON.parse(line))) {
        if (event.event === "result") result = { ...event.result, warnings: event.warnings ?? [] };
        else if (event.event === "error") throw refusal(event);
        else listen(event);
      }
      if (done && result === null) throw new Refusal(t("errors.unreachable"));
      if (done) return result;
    }
  } catch (error) {
    if (error.name === "AbortError") throw new Refusal(t("progress.cancelled"), { cancelled: true });
    if (error instanceof Refusal) throw error;
    throw new Refusal(t("errors.unreachable"));
  }
}

export async function readFormula(text, names, signal) {
  const body = JSON.stringify({ text, names });
  return (await asked(await address("formulas"), { body, signal })).json();
}

export async function fileAddress(answer, name) {
  return address(`answers/${answer}/${encodeURIComponent(name)}`);
}

// A browser that has crashed says nothing any more; its tables go.
setInterval(() => {
  if (session !== null) navigator.sendBeacon(`/sessions/${session}/alive`);
}, 60_000);
// A page that is left takes what it had with it.
addEventListener("pagehide", () => {
  if (session !== null) navigator.sendBeacon(`/sessions/${session}/end`);
  session = beginning = null;
});
// A page that comes back out of the browser's memory has nothing any more.
addEventListener("pageshow", (event) => {
  if (event.persisted) location.reload();
});
