"use strict";

// -- Tables ---------------------------------------------------------------------------------------

for (const table of document.querySelectorAll("table.sortable")) {
  const body = table.tBodies[0];
  const heads = [...table.tHead.rows[0].cells];
  heads.forEach((head, column) => {
    const button = head.querySelector("button");
    if (!button) return;
    button.addEventListener("click", () => {
      const first = head.dataset.first || "descending";
      const second = first === "descending" ? "ascending" : "descending";
      const order = head.getAttribute("aria-sort") === first ? second : first;
      heads.forEach((other) => other.removeAttribute("aria-sort"));
      head.setAttribute("aria-sort", order);
      const sign = order === "ascending" ? 1 : -1;
      const key = (row) => {
        const value = parseFloat(row.cells[column].dataset.value);
        return Number.isNaN(value) ? -Infinity * sign : value;
      };
      const rows = [...body.rows].map((row) => [key(row), row]);
      rows.sort((a, b) => (a[0] === b[0] ? 0 : sign * (a[0] < b[0] ? -1 : 1)));
      body.append(...rows.map((pair) => pair[1]));
      const limit = table.classList.contains("all") ? rows.length : Number(table.dataset.limit);
      rows.forEach((pair, i) => (pair[1].hidden = i >= limit));
    });
  });
}

for (const button of document.querySelectorAll("button.show-all")) {
  const table = document.getElementById(button.getAttribute("aria-controls"));
  const fewer = button.textContent;
  button.hidden = false;
  button.addEventListener("click", () => {
    const all = table.classList.toggle("all");
    [...table.tBodies[0].rows].forEach((row, i) => {
      row.hidden = !all && i >= Number(table.dataset.limit);
    });
    button.textContent = all ? "Show fewer" : fewer;
    button.setAttribute("aria-expanded", String(all));
  });
}

// -- The picture ----------------------------------------------------------------------------------

const node = document.getElementById("scene-data");
if (node) draw(JSON.parse(node.textContent));

function draw(data) {
  const canvas = document.getElementById("scene");
  const context = canvas.getContext("2d");
  const status = document.getElementById("scene-status");
  const n = data.names.length;
  const dimension = data.dimension;
  const N = dimension === 3 ? 28 : 160; // points of the grid along an axis
  const twoClasses = data.decision && data.decision.intercept.length === 1;

  const bytes = Uint8Array.from(atob(data.points), (c) => c.charCodeAt(0));
  const packed = new Uint16Array(bytes.buffer);
  const nPoints = packed.length / n;
  const wrong = new Uint8Array(nPoints);
  for (const i of data.wrong || []) wrong[i] = 1;

  const home = { yaw: -0.6, pitch: 0.38, zoom: 1, x: 0, y: 0 };
  const state = {
    ...home,
    columns: [...Array(dimension).keys()],
    at: data.centres[0].slice(),
    on: new Set(),
    shown: data.classes.map(() => true),
    errors: true,
  };

  // -- Colours --

  let colours, background, ink, muted, line;
  function readColours() {
    const style = getComputedStyle(document.documentElement);
    const rgb = (name) => {
      context.fillStyle = "#000";
      context.fillStyle = style.getPropertyValue(name).trim();
      const hex = context.fillStyle;
      return [1, 3, 5].map((i) => parseInt(hex.slice(i, i + 2), 16));
    };
    background = rgb("--canvas");
    ink = rgb("--ink");
    muted = rgb("--muted");
    line = rgb("--line");
    colours = [];
    for (let k = 0; k < Math.max(data.classes.length, data.surfaces.length); k++) {
      colours.push(style.getPropertyValue(`--c${k}`).trim() ? rgb(`--c${k}`) : muted);
    }
  }
  const css = (c, alpha = 1) => `rgb(${c[0]} ${c[1]} ${c[2]} / ${alpha})`;
  const colourOf = (surface) => (surface.colour === null ? ink : colours[surface.colour]);

  // -- Polynomials on a grid --

  function restricted(f) {
    // What is left of a polynomial when all columns but those drawn have their values.
    const merged = new Map();
    f.terms.forEach((term, t) => {
      let value = f.coef[t];
      for (let j = 0; j < n; j++) {
        if (term[j] && !state.columns.includes(j)) value *= state.at[j] ** term[j];
      }
      const key = state.columns.map((j) => term[j]).join();
      merged.set(key, (merged.get(key) || 0) + value);
    });
    return [...merged].map(([key, value]) => [key.split(",").map(Number), value]);
  }

  function powers(axis, exponent) {
    const j = state.columns[axis];
    return Float64Array.from({ length: N }, (_, i) => {
      return (data.low[j] + ((data.high[j] - data.low[j]) * i) / (N - 1)) ** exponent;
    });
  }

  function evaluate(f) {
    const out = new Float64Array(N ** dimension);
    for (const [exponents, value] of restricted(f)) {
      const [px, py, pz] = exponents.map((e, axis) => powers(axis, e));
      let place = 0;
      for (let i = 0; i < N; i++) {
        for (let j = 0; j < N; j++) {
          const c = value * px[i] * py[j];
          if (!pz) out[place++] += c;
          else for (let k = 0; k < N; k++) out[place++] += c * pz[k];
        }
      }
    }
    return out;
  }

  let scores = null; // decision values on the grid, until a slider moves
  function decisionScores() {
    if (scores) return scores;
    const { intercept, absolute } = data.decision;
    scores = intercept.map((b) => new Float64Array(N ** dimension).fill(b));
    for (const f of data.functions) {
      if (!f.weights.some(Boolean)) continue;
      const values = evaluate(f);
      f.weights.forEach((w, s) => {
        if (!w) return;
        const to = scores[s];
        for (let i = 0; i < to.length; i++) to[i] += w * (absolute ? Math.abs(values[i]) : values[i]);
      });
    }
    return scores;
  }

  function field(surface) {
    if (surface.score === undefined) return evaluate(data.functions[surface.function]);
    const all = decisionScores();
    if (all.length === 1) return all[0];
    return all[surface.score].map((value, i) => {
      let other = -Infinity;
      for (let s = 0; s < all.length; s++) if (s !== surface.score) other = Math.max(other, all[s][i]);
      return value - other;
    });
  }

  // -- Zero sets: marching tetrahedra in space, marching triangles in the plane --

  const TETRAHEDRA = [[0, 1, 3, 7], [0, 1, 5, 7], [0, 2, 3, 7], [0, 2, 6, 7], [0, 4, 5, 7], [0, 4, 6, 7]];
  const STEPS = [N * N, N, 1];
  const OFFSETS = [...Array(8).keys()].map((c) => (c & 1) * STEPS[0] + ((c >> 1) & 1) * N + (c >> 2));

  function march(values) {
    const positions = [];
    const normals = [];
    const slope = (place, coordinate, step) => {
      const a = coordinate > 0 ? place - step : place;
      const b = coordinate < N - 1 ? place + step : place;
      return (values[b] - values[a]) / (a === place || b === place ? 1 : 2);
    };
    const emit = (a, b) => {
      const t = values[a] / (values[a] - values[b]);
      for (let axis = 0; axis < 3; axis++) {
        const ia = Math.floor(a / STEPS[axis]) % N;
        const ib = Math.floor(b / STEPS[axis]) % N;
        positions.push((2 * (ia + t * (ib - ia))) / (N - 1) - 1);
        normals.push((1 - t) * slope(a, ia, STEPS[axis]) + t * slope(b, ib, STEPS[axis]));
      }
    };
    const low = [0, 0, 0, 0];
    const high = [0, 0, 0, 0];
    for (let i = 0; i < N - 1; i++) {
      for (let j = 0; j < N - 1; j++) {
        for (let k = 0; k < N - 1; k++) {
          const corner = i * STEPS[0] + j * N + k;
          let count = 0;
          for (const offset of OFFSETS) if (values[corner + offset] > 0) count++;
          if (count === 0 || count === 8) continue;
          for (const tetrahedron of TETRAHEDRA) {
            let nl = 0;
            let nh = 0;
            for (const c of tetrahedron) {
              const place = corner + OFFSETS[c];
              if (values[place] > 0) high[nh++] = place;
              else low[nl++] = place;
            }
            if (nh === 1) for (let v = 0; v < 3; v++) emit(low[v], high[0]);
            else if (nl === 1) for (let v = 0; v < 3; v++) emit(low[0], high[v]);
            else if (nh === 2) {
              for (const [a, b] of [[0, 0], [0, 1], [1, 1], [0, 0], [1, 1], [1, 0]]) emit(low[a], high[b]);
            }
          }
        }
      }
    }
    for (let v = 0; v < normals.length; v += 3) {
      const size = Math.hypot(normals[v], normals[v + 1], normals[v + 2]) || 1;
      for (let axis = 0; axis < 3; axis++) normals[v + axis] /= size;
    }
    return { positions: Float32Array.from(positions), normals: Float32Array.from(normals) };
  }

  function marchPlane(values) {
    const segments = [];
    const cut = (a, b) => {
      const t = values[a] / (values[a] - values[b]);
      const at = (f) => (2 * (f(a) + t * (f(b) - f(a)))) / (N - 1) - 1;
      segments.push(at((p) => Math.floor(p / N)), at((p) => p % N));
    };
    for (let i = 0; i < N - 1; i++) {
      for (let j = 0; j < N - 1; j++) {
        const a = i * N + j;
        for (const triangle of [[a, a + N, a + N + 1], [a, a + 1, a + N + 1]]) {
          const high = triangle.filter((p) => values[p] > 0);
          const low = triangle.filter((p) => !(values[p] > 0));
          if (high.length === 1) low.forEach((p) => cut(p, high[0]));
          else if (low.length === 1) high.forEach((p) => cut(low[0], p));
        }
      }
    }
    return { positions: Float32Array.from(segments) };
  }

  const surfaces = data.surfaces.map((s, place) => ({ ...s, place }));
  const meshes = new Map();
  function meshOf(surface) {
    if (!meshes.has(surface.place)) {
      const values = field(surface);
      meshes.set(surface.place, dimension === 3 ? march(values) : marchPlane(values));
    }
    return meshes.get(surface.place);
  }
  function forget() {
    meshes.clear();
    scores = null;
    nearness = null;
  }

  // -- Points --

  let nearness = null; // 1 for the quarter of the points that is closest to the section, 0 for others
  function near() {
    if (nearness) return nearness;
    const fixed = [...Array(n).keys()].filter((j) => !state.columns.includes(j));
    nearness = new Uint8Array(nPoints).fill(1);
    if (!fixed.length) return nearness;
    const distance = new Float64Array(nPoints);
    for (let i = 0; i < nPoints; i++) {
      for (const j of fixed) {
        const at = (state.at[j] - data.low[j]) / (data.high[j] - data.low[j]);
        distance[i] += (packed[i * n + j] / 65535 - at) ** 2;
      }
    }
    const limit = Float64Array.from(distance).sort()[Math.floor((nPoints - 1) / 4)];
    for (let i = 0; i < nPoints; i++) nearness[i] = distance[i] <= limit ? 1 : 0;
    return nearness;
  }
  const coordinate = (i, axis) => (2 * packed[i * n + state.columns[axis]]) / 65535 - 1;
  const visible = (i) => !data.labels || state.shown[data.labels[i]];
  const pointColour = (i) => (data.labels ? colours[data.labels[i]] : muted);

  // -- Drawing --

  let width = 0;
  let height = 0;
  let ratio = 1;
  let moving = false;

  function resize() {
    const box = canvas.getBoundingClientRect();
    ratio = Math.min(window.devicePixelRatio || 1, moving ? 1 : 2);
    const w = Math.max(1, Math.round(box.width * ratio));
    const h = Math.max(1, Math.round(box.height * ratio));
    if (canvas.width !== w || canvas.height !== h) {
      canvas.width = w;
      canvas.height = h;
    }
    width = w;
    height = h;
  }

  function ticks(column) {
    // Round numbers in the units of the column, and where they are in [-1, 1].
    const toUnit = (z) => (data.units ? (z - data.units[1][column]) / data.units[0][column] : z);
    const ends = [toUnit(data.low[column]), toUnit(data.high[column])];
    const [low, high] = [Math.min(...ends), Math.max(...ends)];
    const raw = (high - low) / 4;
    const size = 10 ** Math.floor(Math.log10(raw));
    const step = [1, 2, 5, 10].map((m) => m * size).find((s) => s >= raw) || raw;
    const found = [];
    for (let i = Math.ceil(low / step); i * step <= high; i++) {
      const text = String(Number((i * step).toPrecision(6))).replace("-", "\u2212");
      found.push([(2 * (i * step - ends[0])) / (ends[1] - ends[0]) - 1, text]);
    }
    return found;
  }

  function project() {
    const [cy, sy] = [Math.cos(state.yaw), Math.sin(state.yaw)];
    const [cp, sp] = [Math.cos(state.pitch), Math.sin(state.pitch)];
    const scale = Math.min(0.27 * width, 0.255 * height) * state.zoom;
    const [ox, oy] = [width / 2 + state.x * ratio, 0.49 * height + state.y * ratio];
    return (x, y, z, out) => {
      const x1 = x * cy - y * sy;
      const y1 = x * sy + y * cy;
      const depth = y1 * cp - z * sp;
      const near = 5.5 / (5.5 + depth);
      out[0] = ox + scale * x1 * near;
      out[1] = oy - scale * (z * cp + y1 * sp) * near;
      out[2] = depth;
      out[3] = near;
      return out;
    };
  }

  let pixels = null;
  function drawSpace() {
    const to = project();
    if (!pixels || pixels.width !== width || pixels.height !== height) pixels = new ImageData(width, height);
    const out = pixels.data;
    new Uint32Array(out.buffer).fill(new Uint32Array(Uint8Array.of(...background, 255).buffer)[0]);
    drawBox(to, out);

    // Everything from the back to the front, sorted into buckets by depth.
    const BUCKETS = 2048;
    const bucket = (depth) => Math.max(0, Math.min(BUCKETS - 1, Math.floor(((1.8 - depth) / 3.6) * BUCKETS)));
    const parts = surfaces.filter((s) => state.on.has(s.place)).map((s) => ({ ...meshOf(s), colour: colourOf(s) }));
    const nTriangles = parts.reduce((sum, part) => sum + part.positions.length / 9, 0);
    const corners = new Float32Array(6 * nTriangles);
    const shade = new Float32Array(nTriangles);
    const glass = new Uint8Array(nTriangles);
    const owner = new Uint8Array(nTriangles);
    const where = new Uint16Array(nTriangles + nPoints);
    const [cy, sy] = [Math.cos(state.yaw), Math.sin(state.yaw)];
    const [cp, sp] = [Math.cos(state.pitch), Math.sin(state.pitch)];
    const spot = new Float64Array(4);
    let t = 0;
    parts.forEach((part, p) => {
      const { positions, normals } = part;
      for (let v = 0; v < positions.length; v += 9, t++) {
        let depth = 0;
        for (let c = 0; c < 3; c++) {
          const o = v + 3 * c;
          to(positions[o], positions[o + 1], positions[o + 2], spot);
          corners[6 * t + 2 * c] = spot[0];
          corners[6 * t + 2 * c + 1] = spot[1];
          depth += spot[2] / 3;
        }
        let nx = normals[v] + normals[v + 3] + normals[v + 6];
        let ny = normals[v + 1] + normals[v + 4] + normals[v + 7];
        let nz = normals[v + 2] + normals[v + 5] + normals[v + 8];
        const size = Math.sqrt(nx * nx + ny * ny + nz * nz) || 1;
        [nx, ny, nz] = [nx / size, ny / size, nz / size];
        const x1 = nx * cy - ny * sy;
        const y1 = nx * sy + ny * cy;
        const facing = y1 * cp - nz * sp;
        // Lit from the upper left, on both sides alike; more opaque where it is seen edge-on.
        const light = Math.abs(-0.4 * x1 + 0.55 * (nz * cp + y1 * sp) - 0.73 * facing);
        const edge = 1 - Math.abs(facing);
        shade[t] = 0.68 + 0.32 * light;
        glass[t] = 256 * (0.4 + 0.35 * edge * edge);
        owner[t] = p;
        where[t] = bucket(depth);
      }
    });
    const spots = new Float32Array(3 * nPoints);
    const rows = new Uint32Array(nPoints);
    const close = near();
    let nSpots = 0;
    for (let i = 0; i < nPoints; i++) {
      if (!visible(i)) continue;
      to(coordinate(i, 0), coordinate(i, 1), coordinate(i, 2), spot);
      where[nTriangles + nSpots] = bucket(spot[2]);
      spots.set([spot[0], spot[1], spot[3]], 3 * nSpots);
      rows[nSpots++] = i;
    }
    const total = nTriangles + nSpots;
    const start = new Uint32Array(BUCKETS + 1);
    for (let i = 0; i < total; i++) start[where[i] + 1]++;
    for (let b = 0; b < BUCKETS; b++) start[b + 1] += start[b];
    const order = new Uint32Array(total);
    for (let i = 0; i < total; i++) order[start[where[i]]++] = i;
    const radius = (nPoints > 800 ? 2.4 : 3.1) * ratio * Math.sqrt(state.zoom);
    for (let o = 0; o < total; o++) {
      const i = order[o];
      if (i < nTriangles) {
        fillTriangle(out, corners, 6 * i, parts[owner[i]].colour, shade[i], glass[i]);
        continue;
      }
      const point = rows[i - nTriangles];
      const [x, y, size] = spots.subarray(3 * (i - nTriangles), 3 * (i - nTriangles) + 3);
      const r = radius * size * (close[point] ? 1 : 0.8);
      if (state.errors && wrong[point]) {
        fillDisc(out, x, y, r + 2.6 * ratio, ink, 256);
        fillDisc(out, x, y, r + 1.2 * ratio, background, 256);
        fillDisc(out, x, y, r, pointColour(point), 256);
      } else if (close[point]) {
        fillDisc(out, x, y, r + 0.7 * ratio, background, 180);
        fillDisc(out, x, y, r, pointColour(point), 245);
      } else fillDisc(out, x, y, r, pointColour(point), 56);
    }
    context.putImageData(pixels, 0, 0);
    drawAxes((x, y, z) => to(x, y, z, new Float64Array(4)));
    canvas.dataset.triangles = String(nTriangles);
    canvas.dataset.points = String(nSpots);
  }

  // Colours in 0 .. 255, opacity in 0 .. 256: integers, since this runs for every pixel.

  function blend(out, at, r, g, b, alpha) {
    out[at] += ((r - out[at]) * alpha) >> 8;
    out[at + 1] += ((g - out[at + 1]) * alpha) >> 8;
    out[at + 2] += ((b - out[at + 2]) * alpha) >> 8;
  }

  function fillTriangle(out, corners, o, colour, shade, alpha) {
    // A pixel belongs to a triangle if its centre does: neighbours share no pixel and leave none.
    let x0 = corners[o];
    let y0 = corners[o + 1];
    let x1 = corners[o + 2];
    let y1 = corners[o + 3];
    let x2 = corners[o + 4];
    let y2 = corners[o + 5];
    let swap;
    if (y1 < y0) (swap = x0), (x0 = x1), (x1 = swap), (swap = y0), (y0 = y1), (y1 = swap);
    if (y2 < y0) (swap = x0), (x0 = x2), (x2 = swap), (swap = y0), (y0 = y2), (y2 = swap);
    if (y2 < y1) (swap = x1), (x1 = x2), (x2 = swap), (swap = y1), (y1 = y2), (y2 = swap);
    const r = (colour[0] * shade) | 0;
    const g = (colour[1] * shade) | 0;
    const b = (colour[2] * shade) | 0;
    const top = Math.max(0, Math.ceil(y0 - 0.5));
    const bottom = Math.min(height - 1, Math.ceil(y2 - 0.5) - 1);
    for (let y = top; y <= bottom; y++) {
      const at = y + 0.5;
      const one = x0 + ((x2 - x0) * (at - y0)) / (y2 - y0);
      const other = at < y1 ? x0 + ((x1 - x0) * (at - y0)) / (y1 - y0) : x1 + ((x2 - x1) * (at - y1)) / (y2 - y1);
      const left = Math.max(0, Math.ceil((one < other ? one : other) - 0.5));
      const right = Math.min(width - 1, Math.ceil((one < other ? other : one) - 0.5) - 1);
      for (let place = 4 * (y * width + left), end = 4 * (y * width + right); place <= end; place += 4) {
        blend(out, place, r, g, b, alpha);
      }
    }
  }

  function fillDisc(out, x, y, radius, colour, alpha) {
    const left = Math.max(0, Math.floor(x - radius - 1));
    const right = Math.min(width - 1, Math.ceil(x + radius + 1));
    const top = Math.max(0, Math.floor(y - radius - 1));
    const bottom = Math.min(height - 1, Math.ceil(y + radius + 1));
    const inner = Math.max(0, radius - 0.5) ** 2;
    const outer = (radius + 0.5) ** 2;
    for (let j = top; j <= bottom; j++) {
      for (let i = left; i <= right; i++) {
        const d = (i + 0.5 - x) ** 2 + (j + 0.5 - y) ** 2;
        if (d >= outer) continue;
        const cover = d <= inner ? 1 : Math.min(1, radius + 0.5 - Math.sqrt(d));
        blend(out, 4 * (j * width + i), colour[0], colour[1], colour[2], (alpha * cover) | 0);
      }
    }
  }

  const CORNERS = [...Array(8).keys()].map((c) => [2 * (c & 1) - 1, (c & 2) - 1, ((c & 4) >> 1) - 1]);
  const EDGES = [];
  for (let c = 0; c < 8; c++) for (let axis = 0; axis < 3; axis++) if (!(c & (1 << axis))) EDGES.push([c, c | (1 << axis), axis]);

  function drawBox(to, out) {
    const corners = CORNERS.map((c) => to(...c, new Float64Array(4)));
    for (const [a, b] of EDGES) {
      const [dx, dy] = [corners[b][0] - corners[a][0], corners[b][1] - corners[a][1]];
      const steps = Math.ceil(Math.max(Math.abs(dx), Math.abs(dy), 1));
      for (let s = 0; s <= steps; s++) {
        const x = Math.round(corners[a][0] + (s / steps) * dx);
        const y = Math.round(corners[a][1] + (s / steps) * dy);
        if (x < 0 || y < 0 || x >= width || y >= height) continue;
        blend(out, 4 * (y * width + x), line[0], line[1], line[2], 256);
      }
    }
  }

  function drawAxes(to) {
    context.font = `${12 * ratio}px system-ui, sans-serif`;
    context.textBaseline = "middle";
    const corners = CORNERS.map((c) => to(...c));
    const middle = to(0, 0, 0);
    for (let axis = 0; axis < 3; axis++) {
      // The edge to write along: for the upright axis the leftmost, for the others the lowest.
      const key = ([a, b]) => (axis === 2 ? -(corners[a][0] + corners[b][0]) : corners[a][1] + corners[b][1]);
      const edge = EDGES.filter((e) => e[2] === axis).reduce((best, e) => (key(e) > key(best) ? e : best));
      const [a, b] = [CORNERS[edge[0]], CORNERS[edge[1]]];
      const along = (t) => to(...a.map((v, i) => (i === axis ? t : v)));
      const centre = along(0);
      const away = Math.hypot(centre[0] - middle[0], centre[1] - middle[1]) || 1;
      const [ux, uy] = axis === 2 ? [-1, 0] : [(centre[0] - middle[0]) / away, (centre[1] - middle[1]) / away];
      context.strokeStyle = css(muted);
      context.lineWidth = ratio;
      context.beginPath();
      context.moveTo(corners[edge[0]][0], corners[edge[0]][1]);
      context.lineTo(corners[edge[1]][0], corners[edge[1]][1]);
      context.stroke();
      context.fillStyle = css(muted);
      context.textAlign = axis === 2 ? "right" : "center";
      let widest = 0;
      for (const [t, label] of ticks(state.columns[axis])) {
        const [x, y] = along(t);
        context.fillText(label, x + 12 * ratio * ux, y + 12 * ratio * uy + (axis === 2 ? 0 : 3 * ratio));
        widest = Math.max(widest, context.measureText(label).width);
      }
      context.fillStyle = css(ink);
      const name = data.names[state.columns[axis]];
      if (axis === 2) {
        const topmost = corners[edge[0]][1] < corners[edge[1]][1] ? corners[edge[0]] : corners[edge[1]];
        context.textAlign = "center";
        const half = context.measureText(name).width / 2;
        context.fillText(name, Math.max(half + 4 * ratio, topmost[0]), Math.max(10 * ratio, topmost[1] - 16 * ratio));
      } else {
        const half = context.measureText(name).width / 2;
        const x = centre[0] + 36 * ratio * ux;
        context.fillText(name, Math.min(width - half, Math.max(half, x)), Math.min(height - 8 * ratio, centre[1] + 36 * ratio * uy));
      }
    }
  }

  function drawPlane() {
    const pad = { left: 58 * ratio, right: 16 * ratio, top: 16 * ratio, bottom: 46 * ratio };
    const [w, h] = [width - pad.left - pad.right, height - pad.top - pad.bottom];
    const X = (x) => pad.left + w / 2 + state.x * ratio + (x * w * state.zoom) / 2;
    const Y = (y) => pad.top + h / 2 + state.y * ratio - (y * h * state.zoom) / 2;
    context.fillStyle = css(background);
    context.fillRect(0, 0, width, height);
    context.save();
    context.beginPath();
    context.rect(pad.left, pad.top, w, h);
    context.clip();
    if (data.decision) {
      // What would be predicted, as a faint colour of the class.
      const all = decisionScores();
      const image = new ImageData(N, N);
      for (let i = 0; i < N; i++) {
        for (let j = 0; j < N; j++) {
          const values = all.map((s) => s[i * N + j]);
          const k = twoClasses ? Number(values[0] > 0) : values.indexOf(Math.max(...values));
          image.data.set([...colours[k], 34], 4 * ((N - 1 - j) * N + i));
        }
      }
      const small = document.createElement("canvas");
      small.width = small.height = N;
      small.getContext("2d").putImageData(image, 0, 0);
      context.drawImage(small, X(-1), Y(1), X(1) - X(-1), Y(-1) - Y(1));
    }
    let count = 0;
    for (let i = 0; i < nPoints; i++) {
      if (!visible(i)) continue;
      count++;
      context.beginPath();
      context.arc(X(coordinate(i, 0)), Y(coordinate(i, 1)), 3 * ratio, 0, 7);
      context.fillStyle = css(pointColour(i), 0.75);
      context.fill();
      if (state.errors && wrong[i]) {
        context.lineWidth = 1.6 * ratio;
        context.strokeStyle = css(ink);
        context.beginPath();
        context.arc(X(coordinate(i, 0)), Y(coordinate(i, 1)), 5.5 * ratio, 0, 7);
        context.stroke();
      }
    }
    let segments = 0;
    for (const surface of surfaces) {
      if (!state.on.has(surface.place)) continue;
      const { positions } = meshOf(surface);
      context.beginPath();
      for (let s = 0; s < positions.length; s += 4) {
        context.moveTo(X(positions[s]), Y(positions[s + 1]));
        context.lineTo(X(positions[s + 2]), Y(positions[s + 3]));
        segments++;
      }
      context.lineCap = "round";
      context.lineWidth = 5 * ratio;
      context.strokeStyle = css(background, 0.8);
      context.stroke();
      context.lineWidth = 2.4 * ratio;
      context.strokeStyle = css(colourOf(surface));
      context.stroke();
    }
    context.restore();
    context.strokeStyle = css(line);
    context.strokeRect(pad.left, pad.top, w, h);
    context.font = `${12 * ratio}px system-ui, sans-serif`;
    context.textBaseline = "middle";
    context.fillStyle = css(muted);
    for (const [t, label] of ticks(0)) {
      context.textAlign = "center";
      if (X(t) >= pad.left && X(t) <= pad.left + w) context.fillText(label, X(t), pad.top + h + 12 * ratio);
    }
    for (const [t, label] of ticks(1)) {
      context.textAlign = "right";
      if (Y(t) >= pad.top && Y(t) <= pad.top + h) context.fillText(label, pad.left - 8 * ratio, Y(t));
    }
    context.fillStyle = css(ink);
    context.textAlign = "center";
    context.fillText(data.names[0], pad.left + w / 2, height - 12 * ratio);
    context.save();
    context.translate(12 * ratio, pad.top + h / 2);
    context.rotate(-Math.PI / 2);
    context.fillText(data.names[1], 0, 0);
    context.restore();
    canvas.dataset.triangles = String(segments);
    canvas.dataset.points = String(count);
  }

  let waiting = false;
  let frames = 0;
  function paint() {
    waiting = false;
    resize();
    if (dimension === 3) drawSpace();
    else drawPlane();
    for (const name of ["yaw", "pitch", "zoom", "x", "y"]) canvas.dataset[name] = state[name].toFixed(4);
    canvas.dataset.frames = String(++frames);
    const empty = surfaces.filter((s) => state.on.has(s.place) && !meshOf(s).positions.length);
    status.textContent = empty.length ? `${empty.length === 1 ? "One" : empty.length} of the chosen equations ${empty.length === 1 ? "has" : "have"} no zeros in this box.` : "";
  }
  function repaint() {
    if (!waiting) requestAnimationFrame(paint);
    waiting = true;
  }
  let settle = 0;
  function move(change) {
    Object.assign(state, change);
    state.pitch = Math.max(-1.55, Math.min(1.55, state.pitch));
    state.zoom = Math.max(0.4, Math.min(8, state.zoom));
    moving = true;
    clearTimeout(settle);
    settle = setTimeout(() => {
      moving = false;
      repaint();
    }, 160);
    repaint();
  }

  // -- Mouse, touch, keys --

  const turn = (dx, dy) =>
    move(dimension === 3 ? { yaw: state.yaw + dx * 0.009, pitch: state.pitch + dy * 0.009 } : { x: state.x + dx, y: state.y + dy });
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
  canvas.addEventListener(
    "wheel",
    (event) => {
      // The wheel belongs to the page until the reader has chosen the picture.
      if (document.activeElement !== canvas && !event.ctrlKey) return;
      event.preventDefault();
      move({ zoom: state.zoom * Math.exp(-event.deltaY * 0.0015) });
    },
    { passive: false },
  );
  const actions = {
    ArrowLeft: () => turn(-14, 0),
    ArrowRight: () => turn(14, 0),
    ArrowUp: () => turn(0, -14),
    ArrowDown: () => turn(0, 14),
    "+": () => move({ zoom: state.zoom * 1.15 }),
    "=": () => move({ zoom: state.zoom * 1.15 }),
    "-": () => move({ zoom: state.zoom / 1.15 }),
    0: () => move({ ...home }),
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

  // -- Controls --

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

  const columnsSet = document.getElementById("scene-axes");
  const slidersSet = document.getElementById("scene-section");
  function fillSliders() {
    slidersSet.replaceChildren(slidersSet.firstChild);
    const presets = document.createElement("div");
    presets.className = "presets";
    data.centres.forEach((centre, c) => {
      const button = document.createElement("button");
      button.type = "button";
      button.textContent = c === 0 ? "medians of all rows" : `of class ${data.classes[c - 1]}`;
      button.addEventListener("click", () => {
        state.at = centre.slice();
        forget();
        fillSliders();
        repaint();
      });
      presets.append(button);
    });
    slidersSet.append(presets);
    for (let j = 0; j < n; j++) {
      if (state.columns.includes(j)) continue;
      const label = document.createElement("label");
      const name = document.createElement("span");
      const input = document.createElement("input");
      const output = document.createElement("output");
      name.textContent = data.names[j];
      input.type = "range";
      [input.min, input.max, input.step] = [0, 1000, 1];
      input.value = String(Math.round((1000 * (state.at[j] - data.low[j])) / (data.high[j] - data.low[j])));
      const show = () => {
        const value = data.units ? (state.at[j] - data.units[1][j]) / data.units[0][j] : state.at[j];
        output.textContent = String(Number(value.toPrecision(3))).replace("-", "\u2212");
      };
      input.addEventListener("input", () => {
        state.at[j] = data.low[j] + ((data.high[j] - data.low[j]) * input.value) / 1000;
        forget();
        show();
        repaint();
      });
      show();
      label.className = "slider";
      label.append(name, input, output);
      slidersSet.append(label);
    }
  }
  if (columnsSet) {
    const selects = state.columns.map((column, axis) => {
      const label = document.createElement("label");
      const select = document.createElement("select");
      data.names.forEach((name, j) => select.add(new Option(name, String(j))));
      select.value = String(column);
      select.setAttribute("aria-label", `Column on the ${["first", "second", "upright"][axis]} axis`);
      select.addEventListener("change", () => {
        const chosen = Number(select.value);
        const other = state.columns.indexOf(chosen);
        if (other >= 0) state.columns[other] = state.columns[axis];
        state.columns[axis] = chosen;
        selects.forEach((s, a) => (s.value = String(state.columns[a])));
        forget();
        fillSliders();
        repaint();
      });
      label.append(select);
      columnsSet.append(label);
      return select;
    });
    fillSliders();
  }

  readColours();
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
    readColours();
    repaint();
  });
  new ResizeObserver(repaint).observe(canvas);
  paint();
}
