// Polynomials and decision values on the grid of the columns drawn, the others at their values.

function restricted({ state }, f) {
  // What is left of a polynomial when all columns but those drawn have their values.
  const merged = new Map();
  f.terms.forEach((term, t) => {
    let value = f.coef[t];
    term.forEach((exponent, j) => {
      if (exponent && !state.columns.includes(j)) value *= state.at[j] ** exponent;
    });
    const key = state.columns.map((j) => term[j]).join();
    merged.set(key, (merged.get(key) || 0) + value);
  });
  return [...merged].map(([key, value]) => [key.split(",").map(Number), value]);
}

function powers({ data, state, N }, axis, exponent) {
  const j = state.columns[axis];
  return Float64Array.from({ length: N }, (_, i) => {
    return (data.low[j] + ((data.high[j] - data.low[j]) * i) / (N - 1)) ** exponent;
  });
}

function evaluate(picture, f) {
  const { N } = picture;
  const out = new Float64Array(N ** picture.data.dimension);
  for (const [exponents, value] of restricted(picture, f)) {
    const [px, py, pz] = exponents.map((e, axis) => powers(picture, axis, e));
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

function decisionScores(picture) {
  const { data, N, cache } = picture;
  if (cache.scores) return cache.scores;
  const { intercept, absolute } = data.decision;
  const scores = intercept.map((b) => new Float64Array(N ** data.dimension).fill(b));
  for (const f of data.functions) {
    if (!f.weights.some(Boolean)) continue;
    const values = evaluate(picture, f);
    f.weights.forEach((w, s) => {
      if (!w) return;
      const to = scores[s];
      for (let i = 0; i < to.length; i++) to[i] += w * (absolute ? Math.abs(values[i]) : values[i]);
    });
  }
  cache.scores = scores;
  return scores;
}

function field(picture, surface) {
  // Values that vanish on a surface: a polynomial's, or how far a score is ahead of the others.
  if (surface.score === undefined) return evaluate(picture, picture.data.functions[surface.function]);
  const all = decisionScores(picture);
  if (all.length === 1) return all[0];
  return all[surface.score].map((value, i) => {
    let other = -Infinity;
    for (let s = 0; s < all.length; s++) if (s !== surface.score) other = Math.max(other, all[s][i]);
    return value - other;
  });
}
