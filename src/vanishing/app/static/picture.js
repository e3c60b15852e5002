// A picture to look into: point at a row, zoom, move; the same with keys.

import { el, newId, number, svg, t } from "./dom.js";

// On a phone fewer units are as wide as the screen, so that letters can be read.
const [WIDTH, HEIGHT] = matchMedia("(max-width: 640px)").matches ? [380, 320] : [640, 380];
const EDGE = { left: 84, right: 34, top: 12, bottom: 46 };
const NEAR = 24; // pixels from a point at which it is meant

export function picture({ title, x_label: xLabel, y_label: yLabel, series }) {
  const points = series.filter((one) => one.kind !== "line").flatMap((one) => pointsOf(one, series.indexOf(one)));
  const whole = bounds(series);
  const state = { ...whole, chosen: null };
  const digits = { x: digitsOf(whole.x0, whole.x1), y: digitsOf(whole.y0, whole.y1) };
  const inner = svg("g");
  const axes = svg("g", { class: "axes" });
  const ring = svg("circle", { r: 7, class: "ring", visibility: "hidden" });
  const clip = newId("clip");
  const help = newId("picture");
  const area = { x: EDGE.left, y: EDGE.top, width: WIDTH - EDGE.left - EDGE.right, height: HEIGHT - EDGE.top - EDGE.bottom };
  const drawing = svg(
    "svg",
    { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, tabindex: 0, role: "application", "aria-label": title, "aria-describedby": help, class: "picture" },
    svg("clipPath", { id: clip }, svg("rect", area)),
    axes,
    svg("g", { "clip-path": `url(#${clip})` }, inner, ring),
  );
  const told = el("p", { class: "chosen", role: "status" }, t("answer.picture_none"));
  const X = (x) => area.x + (area.width * (x - state.x0)) / (state.x1 - state.x0);
  const Y = (y) => area.y + area.height - (area.height * (y - state.y0)) / (state.y1 - state.y0);

  const draw = () => {
    const parts = series.map((one, k) => drawn(one, k, X, Y));
    const isLine = (part) => part.localName === "path";
    inner.replaceChildren(...parts.filter(isLine), ...parts.filter((part) => !isLine(part)));
    axes.replaceChildren(...drawnAxes(state, area, X, Y, xLabel, yLabel));
    mark();
  };
  const mark = () => {
    const point = state.chosen;
    ring.setAttribute("visibility", point ? "visible" : "hidden");
    if (!point) return;
    ring.setAttribute("cx", X(point.x));
    ring.setAttribute("cy", Y(point.y));
  };
  const choose = (point) => {
    if (point === state.chosen) return;
    state.chosen = point;
    const values = point && { row: point.row, x_label: xLabel, x: number(point.x, digits.x), y_label: yLabel, y: number(point.y, digits.y) };
    const words = xLabel === "row" ? "answer.picture_value" : "answer.picture_row";
    told.textContent = point ? t(words, values) : t("answer.picture_none");
    drawing.dataset.row = point ? String(point.row) : "";
    mark();
  };
  const zoom = (factor, at = [0.5, 0.5]) => {
    for (const [low, high, part] of [["x0", "x1", at[0]], ["y0", "y1", at[1]]]) {
      const span = state[high] - state[low];
      const least = 1e-6 * (whole[high] - whole[low]);
      const next = Math.min(Math.max(span / factor, least), 4 * (whole[high] - whole[low]));
      const fixed = state[low] + part * span;
      state[low] = fixed - part * next;
      state[high] = fixed + (1 - part) * next;
    }
    draw();
  };
  const move = (dx, dy) => {
    const [spanX, spanY] = [state.x1 - state.x0, state.y1 - state.y0];
    state.x0 += dx * spanX;
    state.x1 += dx * spanX;
    state.y0 += dy * spanY;
    state.y1 += dy * spanY;
    draw();
  };
  const reset = () => {
    Object.assign(state, whole);
    draw();
  };
  listen(drawing, { points, state, area, X, Y, choose, zoom, move, reset });
  draw();
  const legend = series.length > 1 ? el("ul", { class: "legend" }, series.map((one, k) => el("li", { class: `c${k % 6}` }, one.name))) : null;
  const about = el("p", { class: "note", id: help }, t("answer.picture_about", { count: number(points.length) }));
  return el("figure", { class: "look" }, el("figcaption", {}, title), drawing, legend, told, about);
}

function pointsOf(one, k) {
  const points = one.x.map((x, i) => ({ x, y: one.y[i], row: one.rows?.[i] ?? i + 1, series: k }));
  return points.filter(({ x, y }) => Number.isFinite(x) && Number.isFinite(y));
}

function bounds(series) {
  const of = (axis) => {
    const values = series.flatMap((one) => one[axis].filter(Number.isFinite));
    const [low, high] = values.length ? [values.reduce((a, b) => Math.min(a, b)), values.reduce((a, b) => Math.max(a, b))] : [0, 1];
    const span = high - low || Math.abs(high) || 1;
    return [low - 0.04 * span, high + 0.04 * span];
  };
  const [[x0, x1], [y0, y1]] = [of("x"), of("y")];
  return { x0, x1, y0, y1 };
}

// As many digits as tell values of a range apart, such as Unix times.
function digitsOf(low, high) {
  return Math.min(15, Math.max(6, 4 + Math.ceil(Math.log10(Math.max(Math.abs(low), Math.abs(high)) / (high - low)))));
}

function drawn(one, k, X, Y) {
  if (one.kind === "line") {
    let path = "";
    let pen = "M";
    one.x.forEach((x, i) => {
      const isThere = Number.isFinite(x) && Number.isFinite(one.y[i]);
      if (isThere) path += `${pen}${X(x).toFixed(1)} ${Y(one.y[i]).toFixed(1)}`;
      pen = isThere ? "L" : "M";
    });
    return svg("path", { d: path, class: `line c${k % 6}` });
  }
  const dots = pointsOf(one, k).map(({ x, y }) => svg("circle", { cx: X(x).toFixed(1), cy: Y(y).toFixed(1), r: 3 }));
  return svg("g", { class: `dots c${k % 6}` }, dots);
}

function ticks(low, high, most) {
  const raw = (high - low) / most;
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].map((m) => m * power).find((s) => s >= raw);
  const first = Math.ceil(low / step);
  const count = Math.min(20, Math.floor(high / step) - first + 1);
  return Array.from({ length: Math.max(0, count) }, (_, i) => Number(((first + i) * step).toPrecision(15)));
}

// What numbers at an axis count from, and their digits: from 0, unless that takes too many to read.
function labels(values) {
  const step = values.length > 1 ? values[1] - values[0] : Infinity;
  const size = Math.max(...values.map(Math.abs), 0) / step;
  const digits = size > 1 ? Math.ceil(Math.log10(size)) + 1 : 1;
  return digits > 7 ? [values[0], 4] : [0, Math.max(4, digits)];
}

const since = (label, from) => (from ? `${label} ${from < 0 ? "+" : "-"} ${number(Math.abs(from), 15)}` : label);

function drawnAxes(state, area, X, Y, xLabel, yLabel) {
  const [right, bottom] = [area.x + area.width, area.y + area.height];
  const text = (content, attributes) => {
    const made = svg("text", attributes);
    made.textContent = content.length > 60 ? `${content.slice(0, 57)}...` : content;
    return made;
  };
  const lines = [];
  const xs = ticks(state.x0, state.x1, area.width / 75);
  const ys = ticks(state.y0, state.y1, area.height / 54);
  const [[xFrom, xDigits], [yFrom, yDigits]] = [xs, ys].map(labels);
  for (const x of xs) {
    lines.push(svg("line", { x1: X(x), x2: X(x), y1: area.y, y2: bottom }), text(number(x - xFrom, xDigits), { x: X(x), y: bottom + 17, "text-anchor": "middle" }));
  }
  for (const y of ys) {
    lines.push(svg("line", { x1: area.x, x2: right, y1: Y(y), y2: Y(y) }), text(number(y - yFrom, yDigits), { x: area.x - 7, y: Y(y) + 4, "text-anchor": "end" }));
  }
  const middle = area.y + area.height / 2;
  lines.push(text(since(xLabel, xFrom), { x: area.x + area.width / 2, y: HEIGHT - 8, "text-anchor": "middle", class: "label" }));
  lines.push(text(since(yLabel, yFrom), { x: 14, y: middle, "text-anchor": "middle", class: "label", transform: `rotate(-90 14 ${middle})` }));
  return lines;
}

function listen(drawing, { points, state, area, X, Y, choose, zoom, move, reset }) {
  const place = (event) => {
    const box = drawing.getBoundingClientRect();
    const scale = WIDTH / box.width;
    return [(event.clientX - box.left) * scale, (event.clientY - box.top) * scale];
  };
  const nearest = ([x, y]) => {
    let [best, least] = [null, NEAR];
    for (const point of points) {
      const distance = Math.hypot(X(point.x) - x, Y(point.y) - y);
      if (distance < least) [best, least] = [point, distance];
    }
    return best;
  };
  let from = null;
  drawing.addEventListener("pointerdown", (event) => {
    from = place(event);
    drawing.setPointerCapture(event.pointerId);
    choose(nearest(from));
  });
  drawing.addEventListener("pointermove", (event) => {
    const here = place(event);
    if (from === null) return choose(nearest(here) ?? state.chosen);
    move((from[0] - here[0]) / area.width, (here[1] - from[1]) / area.height);
    from = here;
  });
  for (const end of ["pointerup", "pointercancel"]) drawing.addEventListener(end, () => (from = null));
  drawing.addEventListener(
    "wheel",
    (event) => {
      // The wheel belongs to the page until someone has chosen the picture.
      if (document.activeElement !== drawing && !event.ctrlKey) return;
      event.preventDefault();
      const [x, y] = place(event);
      zoom(Math.exp(-event.deltaY * 0.0015), [(x - area.x) / area.width, 1 - (y - area.y) / area.height]);
    },
    { passive: false },
  );
  drawing.addEventListener("dblclick", reset);
  const inOrder = [...points].sort((a, b) => a.x - b.x);
  const step = (by) => {
    const now = inOrder.indexOf(state.chosen);
    if (inOrder.length) choose(inOrder[(now + by + inOrder.length) % inOrder.length]);
  };
  const actions = {
    ArrowRight: () => step(1),
    ArrowLeft: () => step(state.chosen ? -1 : 0),
    ArrowUp: () => move(0, 0.1),
    ArrowDown: () => move(0, -0.1),
    "+": () => zoom(1.3),
    "=": () => zoom(1.3),
    "-": () => zoom(1 / 1.3),
    0: reset,
    Escape: () => choose(null),
  };
  drawing.addEventListener("keydown", (event) => {
    const action = actions[event.key];
    if (!action || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    action();
  });
}
