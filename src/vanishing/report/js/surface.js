// Zero sets of values on a grid: marching tetrahedra in space, marching triangles in the plane.

const TETRAHEDRA = [[0, 1, 3, 7], [0, 1, 5, 7], [0, 2, 3, 7], [0, 2, 6, 7], [0, 4, 5, 7], [0, 4, 6, 7]];
const QUADRANGLE = [[0, 0], [0, 1], [1, 1], [0, 0], [1, 1], [1, 0]];

function marchSpace(values, N) {
  const steps = [N * N, N, 1];
  const offsets = [...Array(8).keys()].map((c) => (c & 1) * N * N + ((c >> 1) & 1) * N + (c >> 2));
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
      const ia = Math.floor(a / steps[axis]) % N;
      const ib = Math.floor(b / steps[axis]) % N;
      positions.push((2 * (ia + t * (ib - ia))) / (N - 1) - 1);
      normals.push((1 - t) * slope(a, ia, steps[axis]) + t * slope(b, ib, steps[axis]));
    }
  };
  const low = [0, 0, 0, 0];
  const high = [0, 0, 0, 0];
  const cut = (corner, tetrahedron) => {
    let nl = 0;
    let nh = 0;
    for (const c of tetrahedron) {
      const place = corner + offsets[c];
      if (values[place] > 0) high[nh++] = place;
      else low[nl++] = place;
    }
    if (nh === 1) for (let v = 0; v < 3; v++) emit(low[v], high[0]);
    else if (nl === 1) for (let v = 0; v < 3; v++) emit(low[0], high[v]);
    else if (nh === 2) for (const [a, b] of QUADRANGLE) emit(low[a], high[b]);
  };
  for (let i = 0; i < N - 1; i++) {
    for (let j = 0; j < N - 1; j++) {
      for (let k = 0; k < N - 1; k++) {
        const corner = i * N * N + j * N + k;
        let count = 0;
        for (const offset of offsets) if (values[corner + offset] > 0) count++;
        if (count > 0 && count < 8) for (const tetrahedron of TETRAHEDRA) cut(corner, tetrahedron);
      }
    }
  }
  for (let v = 0; v < normals.length; v += 3) {
    const size = Math.hypot(normals[v], normals[v + 1], normals[v + 2]) || 1;
    for (let axis = 0; axis < 3; axis++) normals[v + axis] /= size;
  }
  return { positions: Float32Array.from(positions), normals: Float32Array.from(normals) };
}

function marchPlane(values, N) {
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

function meshOf(picture, surface) {
  const { meshes } = picture.cache;
  if (!meshes.has(surface)) {
    const march = picture.data.dimension === 3 ? marchSpace : marchPlane;
    meshes.set(surface, march(field(picture, surface), picture.N));
  }
  return meshes.get(surface);
}

function chosenSurfaces({ data, state }) {
  return data.surfaces.filter((_, place) => state.on.has(place));
}
