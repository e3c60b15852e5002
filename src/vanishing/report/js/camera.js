// The camera: from where the picture is seen, its size in pixels, and projection.

const HOME = { yaw: -0.6, pitch: 0.38, zoom: 1, x: 0, y: 0 };

function moveCamera(state, change) {
  Object.assign(state, change);
  state.pitch = Math.max(-1.55, Math.min(1.55, state.pitch));
  state.zoom = Math.max(0.4, Math.min(8, state.zoom));
}

function turned({ data, state }, dx, dy) {
  if (data.dimension === 3) return { yaw: state.yaw + dx * 0.009, pitch: state.pitch + dy * 0.009 };
  return { x: state.x + dx, y: state.y + dy };
}

function resize(picture) {
  // Fewer pixels while it moves.
  const { canvas, moving } = picture;
  const box = canvas.getBoundingClientRect();
  picture.ratio = Math.min(window.devicePixelRatio || 1, moving ? 1 : 2);
  picture.width = Math.max(1, Math.round(box.width * picture.ratio));
  picture.height = Math.max(1, Math.round(box.height * picture.ratio));
  if (canvas.width !== picture.width) canvas.width = picture.width;
  if (canvas.height !== picture.height) canvas.height = picture.height;
}

function rotation({ yaw, pitch }) {
  // A direction in space as right, up and away from the reader.
  const [cy, sy] = [Math.cos(yaw), Math.sin(yaw)];
  const [cp, sp] = [Math.cos(pitch), Math.sin(pitch)];
  return (x, y, z, out) => {
    const away = x * sy + y * cy;
    out[0] = x * cy - y * sy;
    out[1] = z * cp + away * sp;
    out[2] = away * cp - z * sp;
    return out;
  };
}

function projection({ state, width, height, ratio }) {
  // A point as its place on the canvas, its depth, and how large things are there.
  const rotate = rotation(state);
  const scale = Math.min(0.27 * width, 0.255 * height) * state.zoom;
  const [ox, oy] = [width / 2 + state.x * ratio, 0.49 * height + state.y * ratio];
  return (x, y, z, out = new Float64Array(4)) => {
    rotate(x, y, z, out);
    const nearness = 5.5 / (5.5 + out[2]);
    out[0] = ox + scale * out[0] * nearness;
    out[1] = oy - scale * out[1] * nearness;
    out[3] = nearness;
    return out;
  };
}
