// Pixels: triangles, discs and lines blended into an image.
// Colours in 0 .. 255, opacity in 0 .. 256: integers, since this runs for every pixel.

function blend(out, at, r, g, b, alpha) {
  out[at] += ((r - out[at]) * alpha) >> 8;
  out[at + 1] += ((g - out[at + 1]) * alpha) >> 8;
  out[at + 2] += ((b - out[at + 2]) * alpha) >> 8;
}

function fillImage(image, colour) {
  const pixel = new Uint32Array(Uint8Array.of(...colour, 255).buffer)[0];
  new Uint32Array(image.data.buffer).fill(pixel);
}

function fillTriangle(image, corners, o, colour, shade, alpha) {
  // A pixel belongs to a triangle if its centre does: neighbours share no pixel and leave none.
  const { data, width, height } = image;
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
      blend(data, place, r, g, b, alpha);
    }
  }
}

function fillDisc(image, x, y, radius, colour, alpha) {
  const { data, width, height } = image;
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
      blend(data, 4 * (j * width + i), colour[0], colour[1], colour[2], (alpha * cover) | 0);
    }
  }
}

function drawLine(image, from, to, colour) {
  const { data, width, height } = image;
  const [dx, dy] = [to[0] - from[0], to[1] - from[1]];
  const steps = Math.ceil(Math.max(Math.abs(dx), Math.abs(dy), 1));
  for (let s = 0; s <= steps; s++) {
    const x = Math.round(from[0] + (s / steps) * dx);
    const y = Math.round(from[1] + (s / steps) * dy);
    if (x < 0 || y < 0 || x >= width || y >= height) continue;
    blend(data, 4 * (y * width + x), colour[0], colour[1], colour[2], 256);
  }
}
