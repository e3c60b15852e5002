// Two columns: points and curves in the plane, over what the model would predict.

function planeFrame({ width, height, ratio, state }) {
  const [left, top] = [58 * ratio, 16 * ratio];
  const [w, h] = [width - left - 16 * ratio, height - top - 46 * ratio];
  const X = (x) => left + w / 2 + state.x * ratio + (x * w * state.zoom) / 2;
  const Y = (y) => top + h / 2 + state.y * ratio - (y * h * state.zoom) / 2;
  return { left, top, w, h, X, Y };
}

function drawPredictions(picture, { X, Y }) {
  // As a faint colour of the class.
  const { N, colours, context } = picture;
  const all = decisionScores(picture);
  const image = new ImageData(N, N);
  for (let i = 0; i < N; i++) {
    for (let j = 0; j < N; j++) {
      const values = all.map((s) => s[i * N + j]);
      const k = all.length === 1 ? Number(values[0] > 0) : values.indexOf(Math.max(...values));
      image.data.set([...colours.palette[k], 34], 4 * ((N - 1 - j) * N + i));
    }
  }
  const small = document.createElement("canvas");
  small.width = small.height = N;
  small.getContext("2d").putImageData(image, 0, 0);
  context.drawImage(small, X(-1), Y(1), X(1) - X(-1), Y(-1) - Y(1));
}

function drawPoints(picture, { X, Y }) {
  const { colours, context, data, ratio } = picture;
  let count = 0;
  for (let i = 0; i < data.n_points; i++) {
    if (!isVisible(picture, i)) continue;
    count++;
    const [x, y] = [X(coordinate(picture, i, 0)), Y(coordinate(picture, i, 1))];
    context.beginPath();
    context.arc(x, y, 3 * ratio, 0, 7);
    context.fillStyle = css(pointColour(picture, i), 0.75);
    context.fill();
    if (isRinged(picture, i)) {
      context.lineWidth = 1.6 * ratio;
      context.strokeStyle = css(colours.ink);
      context.beginPath();
      context.arc(x, y, 5.5 * ratio, 0, 7);
      context.stroke();
    }
  }
  return count;
}

function drawCurves(picture, { X, Y }) {
  const { colours, context, ratio } = picture;
  let segments = 0;
  for (const surface of chosenSurfaces(picture)) {
    const { positions } = meshOf(picture, surface);
    context.beginPath();
    for (let s = 0; s < positions.length; s += 4) {
      context.moveTo(X(positions[s]), Y(positions[s + 1]));
      context.lineTo(X(positions[s + 2]), Y(positions[s + 3]));
      segments++;
    }
    context.lineCap = "round";
    context.lineWidth = 5 * ratio;
    context.strokeStyle = css(colours.background, 0.8);
    context.stroke();
    context.lineWidth = 2.4 * ratio;
    context.strokeStyle = css(surfaceColour(picture, surface));
    context.stroke();
  }
  return segments;
}

function drawPlaneAxes(picture, { left, top, w, h, X, Y }) {
  const { colours, context, data, height, ratio } = picture;
  context.strokeStyle = css(colours.line);
  context.strokeRect(left, top, w, h);
  context.font = `${12 * ratio}px system-ui, sans-serif`;
  context.textBaseline = "middle";
  context.fillStyle = css(colours.muted);
  context.textAlign = "center";
  for (const [t, label] of ticks(data, 0)) {
    if (X(t) >= left && X(t) <= left + w) context.fillText(label, X(t), top + h + 12 * ratio);
  }
  context.textAlign = "right";
  for (const [t, label] of ticks(data, 1)) {
    if (Y(t) >= top && Y(t) <= top + h) context.fillText(label, left - 8 * ratio, Y(t));
  }
  context.fillStyle = css(colours.ink);
  context.textAlign = "center";
  context.fillText(data.names[0], left + w / 2, height - 12 * ratio);
  context.save();
  context.translate(12 * ratio, top + h / 2);
  context.rotate(-Math.PI / 2);
  context.fillText(data.names[1], 0, 0);
  context.restore();
}

function drawPlane(picture) {
  const { canvas, context, width, height } = picture;
  const frame = planeFrame(picture);
  context.fillStyle = css(picture.colours.background);
  context.fillRect(0, 0, width, height);
  context.save();
  context.beginPath();
  context.rect(frame.left, frame.top, frame.w, frame.h);
  context.clip();
  if (picture.data.decision) drawPredictions(picture, frame);
  canvas.dataset.points = String(drawPoints(picture, frame));
  canvas.dataset.triangles = String(drawCurves(picture, frame));
  context.restore();
  drawPlaneAxes(picture, frame);
}
