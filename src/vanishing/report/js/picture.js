// The picture as a whole: its state, when it is painted, and what it listens to.

function showPicture(data) {
  const canvas = document.getElementById("scene");
  const picture = {
    data,
    canvas,
    context: canvas.getContext("2d"),
    N: data.dimension === 3 ? 28 : 160, // points of the grid along an axis
    points: unpack(data),
    colours: null,
    moving: false,
    cache: null, // what follows from the columns drawn and the values of the others
    state: {
      ...HOME,
      columns: [...Array(data.dimension).keys()],
      at: data.centres[0].slice(),
      on: new Set(),
      shown: data.classes.map(() => true),
      errors: true,
    },
  };
  let waiting = false;
  let frames = 0;
  let settle = 0;
  const paint = () => {
    waiting = false;
    resize(picture);
    if (data.dimension === 3) drawSpace(picture);
    else drawPlane(picture);
    for (const name of Object.keys(HOME)) canvas.dataset[name] = picture.state[name].toFixed(4);
    canvas.dataset.frames = String(++frames);
    reportEmpty(picture);
  };
  const repaint = () => {
    if (!waiting) requestAnimationFrame(paint);
    waiting = true;
  };
  const move = (change) => {
    moveCamera(picture.state, change);
    picture.moving = true;
    clearTimeout(settle);
    settle = setTimeout(() => {
      picture.moving = false;
      repaint();
    }, 160);
    repaint();
  };
  const turn = (dx, dy) => move(turned(picture, dx, dy));
  const forget = () => (picture.cache = { meshes: new Map(), scores: null, near: null });
  const recompute = () => {
    forget();
    repaint();
  };
  const recolour = () => {
    const count = Math.max(data.classes.length, data.surfaces.length);
    picture.colours = readColours(picture.context, count);
  };

  listenToPointers(picture, turn, move);
  listenToKeys(picture, turn, move);
  listenToBoxes(picture, repaint);
  offerColumns(picture, recompute);
  forget();
  recolour();
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
    recolour();
    repaint();
  });
  new ResizeObserver(repaint).observe(canvas);
  paint();
}

function reportEmpty(picture) {
  const empty = chosenSurfaces(picture).filter((s) => !meshOf(picture, s).positions.length).length;
  const subject = empty === 1 ? "One of the chosen equations has" : `${empty} of the chosen equations have`;
  document.getElementById("scene-status").textContent = empty ? `${subject} no zeros in this box.` : "";
}

const sceneData = document.getElementById("scene-data");
if (sceneData) showPicture(JSON.parse(sceneData.textContent));
