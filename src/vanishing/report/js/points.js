// The points: unpacked, where they are drawn, which are visible and which near the section.

function unpack(data) {
  const bytes = Uint8Array.from(atob(data.points), (c) => c.charCodeAt(0));
  const wrong = new Uint8Array(data.n_points);
  for (const i of data.wrong || []) wrong[i] = 1;
  return { packed: new Uint16Array(bytes.buffer), wrong };
}

function nearness(picture) {
  // 1 for the quarter of the points that is closest to the section, 0 for others.
  const { data, state, cache, points } = picture;
  if (cache.near) return cache.near;
  const n = data.names.length;
  const fixed = [...Array(n).keys()].filter((j) => !state.columns.includes(j));
  const distance = new Float64Array(data.n_points);
  for (let i = 0; i < distance.length; i++) {
    for (const j of fixed) {
      const at = (state.at[j] - data.low[j]) / (data.high[j] - data.low[j]);
      distance[i] += (points.packed[i * n + j] / 65535 - at) ** 2;
    }
  }
  const limit = Float64Array.from(distance).sort()[Math.floor((distance.length - 1) / 4)];
  cache.near = Uint8Array.from(distance, (d) => (d <= limit ? 1 : 0));
  return cache.near;
}

function coordinate({ data, state, points }, i, axis) {
  return (2 * points.packed[i * data.names.length + state.columns[axis]]) / 65535 - 1;
}

const isVisible = ({ data, state }, i) => !data.labels || state.shown[data.labels[i]];

const isRinged = ({ state, points }, i) => state.errors && points.wrong[i];

function pointColour({ data, colours }, i) {
  return data.labels ? colours.palette[data.labels[i]] : colours.muted;
}
