// @ts-check
/** The picture that a point stands for, such as a handwritten digit, shown in a corner of the figure. */

import { unpack } from "../engine/engine.mjs";
import { h, pen } from "../dom.mjs";
import { rgb } from "./colors.mjs";

/**
 * Create an element for the picture of one point, with the point's label below it. The function `show` puts
 * into it the picture and label of the point with a given index; an index beyond the last picture counts as
 * the last. @param {import("../engine/engine.mjs").Cloud} cloud a cloud (set of points) with pictures
 * @param {() => string} ink the colour in which the value 255 is drawn
 * @returns {{element: HTMLElement, show: (point: number) => void}}
 */
export function picture(cloud, ink) {
  const pictures = /** @type {import("../engine/engine.mjs").Packed} */ (cloud.pictures);
  const [count, height, width] = pictures.shape;
  const grey = unpack(pictures);
  const size = width * height;
  const canvas = h("canvas", { width, height, role: "img" });
  const words = h("span");
  const element = h("div", { className: "picture" }, canvas, words);
  let shown = "";
  return {
    element,
    show(point) {
      const at = Math.min(point, count - 1);
      const color = ink();
      const name = cloud.labels?.[at] ?? `point ${at}`;
      if (shown === `${at} ${color}`) return;
      shown = `${at} ${color}`;
      const image = new ImageData(width, height);
      const [r, g, b] = rgb(color).map((part) => 255 * part);
      for (let i = 0; i < size; i++) image.data.set([r, g, b, grey[at * size + i]], 4 * i);
      pen(canvas).putImageData(image, 0, 0);
      canvas.setAttribute("aria-label", `picture of ${name}`);
      words.textContent = name;
    },
  };
}
