// @ts-check
/** Draw on a canvas what the page writes at a figure: titles, numbers, legends and the names of marks. They
 * are HTML, which the pictures of Plotly do not contain. */

const CAPTIONS = "figcaption, .headline, .legend, .picture";
const HALO_PX = 4; // width of the line in the background colour behind the letters of a name

/** Draw all visible captions of a view. @param {CanvasRenderingContext2D} context its unit is a CSS pixel
 * @param {Element} view the element of the view @param {number} left its place on the canvas
 * @param {number} top @param {string} paper the background colour */
export function drawCaptions(context, view, left, top, paper) {
  const from = view.getBoundingClientRect();
  context.save();
  context.translate(left - from.left, top - from.top);
  for (const caption of view.querySelectorAll(CAPTIONS))
    for (const element of [caption, ...caption.querySelectorAll("*")]) {
      if (!element.checkVisibility({ visibilityProperty: true }) || element.closest(".hint")) continue;
      drawBox(context, element);
      for (const node of element.childNodes)
        if (node instanceof Text) drawText(context, node, element.closest(".named") ? paper : "");
    }
  context.restore();
}

/** Draw the background and the border of an element, which may be a colour bar or another sample of a legend,
 * or the picture of a point. @param {CanvasRenderingContext2D} context @param {Element} element */
function drawBox(context, element) {
  const { left, top, width, height } = element.getBoundingClientRect();
  const style = getComputedStyle(element);
  if (element instanceof HTMLCanvasElement) {
    context.imageSmoothingEnabled = style.imageRendering === "auto";
    context.drawImage(element, left, top, width, height);
    context.imageSmoothingEnabled = true;
    return;
  }
  if (element instanceof SVGPathElement) return drawDashes(context, element, style.stroke);
  const border = parseFloat(style.borderTopWidth) || 0;
  context.save();
  context.globalAlpha = Number(style.opacity);
  context.fillStyle = style.backgroundColor;
  const steps = style.backgroundImage.match(/(?:rgba?|color|oklch|oklab)\([^)]*\)/g);
  if (steps) {
    const gradient = context.createLinearGradient(left, 0, left + width, 0);
    steps.forEach((step, k) => gradient.addColorStop(k / Math.max(1, steps.length - 1), step));
    context.fillStyle = gradient;
  }
  context.strokeStyle = style.borderTopColor;
  context.lineWidth = border;
  context.beginPath();
  const round = Math.min(parseFloat(style.borderTopLeftRadius) || 0, width / 2);
  context.roundRect(left + border / 2, top + border / 2, width - border, height - border, round);
  context.fill();
  if (border) context.stroke();
  context.restore();
}

/** Draw the sample of a dashed line. @param {CanvasRenderingContext2D} context @param {SVGPathElement} path
 * @param {string} color */
function drawDashes(context, path, color) {
  const { left, top, width, height } = path.getBoundingClientRect();
  const { strokeDasharray, strokeWidth } = getComputedStyle(path);
  const scale = path.getScreenCTM()?.a ?? 1;
  context.save();
  context.strokeStyle = color;
  context.lineWidth = scale * parseFloat(strokeWidth);
  context.setLineDash((strokeDasharray.match(/[\d.]+/g) ?? []).map((length) => scale * Number(length)));
  context.beginPath();
  context.moveTo(left, top + height / 2);
  context.lineTo(left + width, top + height / 2);
  context.stroke();
  context.restore();
}

/** Draw a text where it stands on the page. @param {CanvasRenderingContext2D} context @param {Text} text
 * @param {string} halo the colour of a halo around its letters; "" for none */
function drawText(context, text, halo) {
  const { color, fontStyle, fontWeight, fontSize, fontFamily } = getComputedStyle(
    /** @type {Element} */ (text.parentElement),
  );
  context.font = `${fontStyle} ${fontWeight} ${fontSize} ${fontFamily}`;
  context.fillStyle = color;
  context.strokeStyle = halo;
  context.lineWidth = HALO_PX;
  context.lineJoin = "round";
  const range = document.createRange();
  for (const { 0: word, index } of text.data.matchAll(/\S+/g)) {
    range.setStart(text, index);
    range.setEnd(text, index + word.length);
    const { left, top, height } = range.getBoundingClientRect();
    const { fontBoundingBoxAscent: up, fontBoundingBoxDescent: down } = context.measureText(word);
    const baseline = top + (height - up - down) / 2 + up;
    if (halo) context.strokeText(word, left, baseline);
    context.fillText(word, left, baseline);
  }
}
