// What the reader does: mouse, touch, keys, boxes to tick, axes and sliders.

function listenToPointers({ canvas, state }, turn, move) {
  const pointers = new Map();
  canvas.addEventListener("pointerdown", (event) => {
    canvas.setPointerCapture(event.pointerId);
    pointers.set(event.pointerId, [event.clientX, event.clientY]);
  });
  canvas.addEventListener("pointermove", (event) => {
    const before = pointers.get(event.pointerId);
    if (!before) return;
    const now = [event.clientX, event.clientY];
    if (pointers.size === 1) turn(now[0] - before[0], now[1] - before[1]);
    else {
      const other = [...pointers].find(([id]) => id !== event.pointerId)[1];
      const span = (p) => Math.hypot(p[0] - other[0], p[1] - other[1]) || 1;
      move({ zoom: (state.zoom * span(now)) / span(before) });
    }
    pointers.set(event.pointerId, now);
  });
  for (const name of ["pointerup", "pointercancel"]) {
    canvas.addEventListener(name, (event) => pointers.delete(event.pointerId));
  }
  const wheel = (event) => {
    // The wheel belongs to the page until the reader has chosen the picture.
    if (document.activeElement !== canvas && !event.ctrlKey) return;
    event.preventDefault();
    move({ zoom: state.zoom * Math.exp(-event.deltaY * 0.0015) });
  };
  canvas.addEventListener("wheel", wheel, { passive: false });
}

function listenToKeys({ canvas, state }, turn, move) {
  const closer = () => move({ zoom: state.zoom * 1.15 });
  const actions = {
    ArrowLeft: () => turn(-14, 0),
    ArrowRight: () => turn(14, 0),
    ArrowUp: () => turn(0, -14),
    ArrowDown: () => turn(0, 14),
    "+": closer,
    "=": closer,
    "-": () => move({ zoom: state.zoom / 1.15 }),
    0: () => move(HOME),
  };
  canvas.addEventListener("keydown", (event) => {
    const action = actions[event.key];
    if (!action || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    action();
  });
  for (const button of document.querySelectorAll("button[data-key]")) {
    button.addEventListener("click", () => actions[button.dataset.key]());
  }
}

function listenToBoxes({ state }, repaint) {
  for (const input of document.querySelectorAll("#scene-controls input[type=checkbox]")) {
    const { class: k, surface } = input.dataset;
    const apply = () => {
      if (k !== undefined) state.shown[k] = input.checked;
      else if (surface === undefined) state.errors = input.checked;
      else if (input.checked) state.on.add(Number(surface));
      else state.on.delete(Number(surface));
    };
    input.addEventListener("change", () => {
      apply();
      repaint();
    });
    apply();
  }
}

function presetButton({ data, state }, centre, place, refresh) {
  const button = document.createElement("button");
  button.type = "button";
  button.textContent = place === 0 ? "medians of all rows" : `of class ${data.classes[place - 1]}`;
  button.addEventListener("click", () => {
    state.at = centre.slice();
    refresh();
  });
  return button;
}

function slider({ data, state }, j, recompute) {
  const [label, name, input, output] = ["label", "span", "input", "output"].map((tag) => document.createElement(tag));
  const [low, span] = [data.low[j], data.high[j] - data.low[j]];
  const show = () => (output.textContent = written(inUnits(data, j, state.at[j]), 3));
  name.textContent = data.names[j];
  input.type = "range";
  [input.min, input.max, input.step] = [0, 1000, 1];
  input.value = String(Math.round((1000 * (state.at[j] - low)) / span));
  input.addEventListener("input", () => {
    state.at[j] = low + (span * input.value) / 1000;
    show();
    recompute();
  });
  show();
  label.className = "slider";
  label.append(name, input, output);
  return label;
}

function offerColumns(picture, recompute) {
  // Which columns are drawn, and sliders for the values of the others.
  const axes = document.getElementById("scene-axes");
  const section = document.getElementById("scene-section");
  if (!axes) return;
  const { data, state } = picture;
  const refresh = () => {
    recompute();
    fillSliders();
  };
  const fillSliders = () => {
    const presets = document.createElement("div");
    presets.className = "presets";
    presets.append(...data.centres.map((centre, c) => presetButton(picture, centre, c, refresh)));
    const others = [...data.names.keys()].filter((j) => !state.columns.includes(j));
    const sliders = others.map((j) => slider(picture, j, recompute));
    section.replaceChildren(section.querySelector("legend"), presets, ...sliders);
  };
  const selects = state.columns.map((column, axis) => {
    const [label, select] = ["label", "select"].map((tag) => document.createElement(tag));
    data.names.forEach((name, j) => select.add(new Option(name, String(j))));
    select.value = String(column);
    select.setAttribute("aria-label", `Column on the ${["first", "second", "upright"][axis]} axis`);
    select.addEventListener("change", () => {
      const chosen = Number(select.value);
      const other = state.columns.indexOf(chosen);
      if (other >= 0) state.columns[other] = state.columns[axis];
      state.columns[axis] = chosen;
      selects.forEach((s, a) => (s.value = String(state.columns[a])));
      refresh();
    });
    label.append(select);
    axes.append(label);
    return select;
  });
  fillSliders();
}
