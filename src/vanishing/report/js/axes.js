// Axes of space: the box around it, ticks in the units of the columns, names.

const CORNERS = [...Array(8).keys()].map((c) => [2 * (c & 1) - 1, (c & 2) - 1, ((c & 4) >> 1) - 1]);
const EDGES = CORNERS.flatMap((_, c) =>
  [0, 1, 2].filter((axis) => !(c & (1 << axis))).map((axis) => [c, c | (1 << axis), axis]),
);

const inUnits = ({ units }, column, z) => (units ? (z - units[1][column]) / units[0][column] : z);

const written = (value, digits) => String(Number(value.toPrecision(digits))).replace("-", "\u2212");

function ticks(data, column) {
  // Round numbers in the units of the column, and where they are in [-1, 1].
  const ends = [data.low, data.high].map((end) => inUnits(data, column, end[column]));
  const [low, high] = [Math.min(...ends), Math.max(...ends)];
  const raw = (high - low) / 4;
  const size = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].map((m) => m * size).find((s) => s >= raw) || raw;
  const marks = [];
  for (let i = Math.ceil(low / step); i * step <= high; i++) {
    marks.push([(2 * (i * step - ends[0])) / (ends[1] - ends[0]) - 1, written(i * step, 6)]);
  }
  return marks;
}

function drawBox(picture, project, image) {
  const corners = CORNERS.map((c) => project(...c));
  for (const [a, b] of EDGES) drawLine(image, corners[a], corners[b], picture.colours.line);
}

function drawAxes(picture, project) {
  const { context, ratio } = picture;
  context.font = `${12 * ratio}px system-ui, sans-serif`;
  context.textBaseline = "middle";
  const corners = CORNERS.map((c) => project(...c));
  for (let axis = 0; axis < 3; axis++) {
    // The edge to write along: for the upright axis the leftmost, for the others the lowest.
    const key = ([a, b]) => (axis === 2 ? -(corners[a][0] + corners[b][0]) : corners[a][1] + corners[b][1]);
    const edge = EDGES.filter((e) => e[2] === axis).reduce((best, e) => (key(e) > key(best) ? e : best));
    drawAxis(picture, project, axis, edge, corners[edge[0]], corners[edge[1]]);
  }
}

function drawAxis(picture, project, axis, edge, from, to) {
  const { context, colours, data, height, ratio, state, width } = picture;
  const upright = axis === 2;
  const along = (t) => project(...CORNERS[edge[0]].map((v, i) => (i === axis ? t : v)));
  const middle = project(0, 0, 0);
  const centre = along(0);
  const away = Math.hypot(centre[0] - middle[0], centre[1] - middle[1]) || 1;
  const [ux, uy] = upright ? [-1, 0] : [(centre[0] - middle[0]) / away, (centre[1] - middle[1]) / away];
  context.strokeStyle = css(colours.muted);
  context.lineWidth = ratio;
  context.beginPath();
  context.moveTo(from[0], from[1]);
  context.lineTo(to[0], to[1]);
  context.stroke();
  context.fillStyle = css(colours.muted);
  context.textAlign = upright ? "right" : "center";
  for (const [t, label] of ticks(data, state.columns[axis])) {
    const [x, y] = along(t);
    context.fillText(label, x + 12 * ratio * ux, y + 12 * ratio * uy + (upright ? 0 : 3 * ratio));
  }
  context.fillStyle = css(colours.ink);
  context.textAlign = "center";
  const name = data.names[state.columns[axis]];
  const half = context.measureText(name).width / 2;
  if (upright) {
    const topmost = from[1] < to[1] ? from : to;
    context.fillText(name, Math.max(half + 4 * ratio, topmost[0]), Math.max(10 * ratio, topmost[1] - 16 * ratio));
  } else {
    const x = Math.min(width - half, Math.max(half, centre[0] + 36 * ratio * ux));
    context.fillText(name, x, Math.min(height - 8 * ratio, centre[1] + 36 * ratio * uy));
  }
}
