// Three columns: points and half-transparent surfaces, drawn from the back to the front.

const BUCKETS = 2048; // of depth

const bucketOf = (depth) => Math.max(0, Math.min(BUCKETS - 1, Math.floor(((1.8 - depth) / 3.6) * BUCKETS)));

function projectTriangles(picture, project) {
  const parts = chosenSurfaces(picture).map((s) => ({ ...meshOf(picture, s), colour: surfaceColour(picture, s) }));
  const count = parts.reduce((sum, part) => sum + part.positions.length / 9, 0);
  const triangles = {
    count,
    corners: new Float32Array(6 * count),
    shade: new Float32Array(count),
    opacity: new Uint8Array(count),
    owner: new Uint8Array(count),
    buckets: new Uint16Array(count),
    colours: parts.map((part) => part.colour),
  };
  const rotate = rotation(picture.state);
  const spot = new Float64Array(4);
  let t = 0;
  parts.forEach(({ positions, normals }, p) => {
    for (let v = 0; v < positions.length; v += 9, t++) {
      let depth = 0;
      for (let c = 0; c < 3; c++) {
        const o = v + 3 * c;
        project(positions[o], positions[o + 1], positions[o + 2], spot);
        triangles.corners[6 * t + 2 * c] = spot[0];
        triangles.corners[6 * t + 2 * c + 1] = spot[1];
        depth += spot[2] / 3;
      }
      const nx = normals[v] + normals[v + 3] + normals[v + 6];
      const ny = normals[v + 1] + normals[v + 4] + normals[v + 7];
      const nz = normals[v + 2] + normals[v + 5] + normals[v + 8];
      const size = Math.sqrt(nx * nx + ny * ny + nz * nz) || 1;
      rotate(nx / size, ny / size, nz / size, spot);
      // Lit from the upper left, on both sides alike; more opaque where it is seen edge-on.
      const light = Math.abs(-0.4 * spot[0] + 0.55 * spot[1] - 0.73 * spot[2]);
      const edge = 1 - Math.abs(spot[2]);
      triangles.shade[t] = 0.68 + 0.32 * light;
      triangles.opacity[t] = 256 * (0.4 + 0.35 * edge * edge);
      triangles.owner[t] = p;
      triangles.buckets[t] = bucketOf(depth);
    }
  });
  return triangles;
}

function projectPoints(picture, project) {
  const size = picture.data.n_points;
  const points = { count: 0, rows: new Uint32Array(size), spots: new Float32Array(3 * size), buckets: new Uint16Array(size) };
  const spot = new Float64Array(4);
  for (let i = 0; i < size; i++) {
    if (!isVisible(picture, i)) continue;
    project(coordinate(picture, i, 0), coordinate(picture, i, 1), coordinate(picture, i, 2), spot);
    points.buckets[points.count] = bucketOf(spot[2]);
    points.spots.set([spot[0], spot[1], spot[3]], 3 * points.count);
    points.rows[points.count++] = i;
  }
  return points;
}

function fromBackToFront(triangles, points) {
  // Places of triangles, then of points, sorted into buckets by depth.
  const total = triangles.count + points.count;
  const bucket = (i) => (i < triangles.count ? triangles.buckets[i] : points.buckets[i - triangles.count]);
  const start = new Uint32Array(BUCKETS + 1);
  for (let i = 0; i < total; i++) start[bucket(i) + 1]++;
  for (let b = 0; b < BUCKETS; b++) start[b + 1] += start[b];
  const order = new Uint32Array(total);
  for (let i = 0; i < total; i++) order[start[bucket(i)]++] = i;
  return order;
}

function drawSpot(picture, image, point, x, y, radius, isNear) {
  const { background, ink } = picture.colours;
  const { ratio } = picture;
  const colour = pointColour(picture, point);
  if (isRinged(picture, point)) {
    fillDisc(image, x, y, radius + 2.6 * ratio, ink, 256);
    fillDisc(image, x, y, radius + 1.2 * ratio, background, 256);
    fillDisc(image, x, y, radius, colour, 256);
  } else if (isNear) {
    fillDisc(image, x, y, radius + 0.7 * ratio, background, 180);
    fillDisc(image, x, y, radius, colour, 245);
  } else fillDisc(image, x, y, radius, colour, 56);
}

function drawSpace(picture) {
  const { canvas, context, width, height, ratio, state, data } = picture;
  const project = projection(picture);
  if (!picture.image || picture.image.width !== width || picture.image.height !== height) {
    picture.image = new ImageData(width, height);
  }
  const { image } = picture;
  fillImage(image, picture.colours.background);
  drawBox(picture, project, image);
  const triangles = projectTriangles(picture, project);
  const points = projectPoints(picture, project);
  const isNear = nearness(picture);
  const radius = (data.n_points > 800 ? 2.4 : 3.1) * ratio * Math.sqrt(state.zoom);
  for (const i of fromBackToFront(triangles, points)) {
    if (i < triangles.count) {
      const colour = triangles.colours[triangles.owner[i]];
      fillTriangle(image, triangles.corners, 6 * i, colour, triangles.shade[i], triangles.opacity[i]);
    } else {
      const p = i - triangles.count;
      const point = points.rows[p];
      const r = radius * points.spots[3 * p + 2] * (isNear[point] ? 1 : 0.8);
      drawSpot(picture, image, point, points.spots[3 * p], points.spots[3 * p + 1], r, isNear[point]);
    }
  }
  context.putImageData(image, 0, 0);
  drawAxes(picture, project);
  canvas.dataset.triangles = String(triangles.count);
  canvas.dataset.points = String(points.count);
}
