// Colours of the style sheet as numbers; they change when the reader's page turns dark.

function readColours(context, count) {
  const style = getComputedStyle(document.documentElement);
  const rgb = (name) => {
    context.fillStyle = "#000";
    context.fillStyle = style.getPropertyValue(name).trim();
    const hex = context.fillStyle;
    return [1, 3, 5].map((i) => parseInt(hex.slice(i, i + 2), 16));
  };
  const [background, ink, muted, line] = ["--canvas", "--ink", "--muted", "--line"].map(rgb);
  const palette = Array.from({ length: count }, (_, k) => {
    return style.getPropertyValue(`--c${k}`).trim() ? rgb(`--c${k}`) : muted;
  });
  return { background, ink, muted, line, palette };
}

const css = (c, alpha = 1) => `rgb(${c[0]} ${c[1]} ${c[2]} / ${alpha})`;

function surfaceColour({ colours }, surface) {
  return surface.colour === null ? colours.ink : colours.palette[surface.colour];
}
