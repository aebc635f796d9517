// @ts-check
/** A film of the progress, made in the browser: the panels are drawn onto one canvas, which is recorded. */

import { h, pen } from "../player/controls.mjs";

const KIND = "video/webm", BITS = 8e6; // a second
const KEPT = 60_000; // milliseconds in which the browser can take the film

/** @param {import("../player/player.mjs").Player} player */
export const canFilm = (player) => Boolean(globalThis.MediaRecorder?.isTypeSupported(KIND)) && player.panels.length > 0 && player.last > 0;

/** Runs the progress once from its beginning, and saves it. @param {import("../player/player.mjs").Player} player */
export async function film(player) {
  const { panels } = player, around = player.need("views").getBoundingClientRect(), ratio = devicePixelRatio;
  const even = (/** @type {number} */ x) => 2 * Math.round(x / 2);
  const canvas = h("canvas", { width: even(around.width * ratio), height: even(around.height * ratio) }), context = pen(canvas);
  const axes = await Promise.all(panels.map((panel) => panel.axes()));
  const recorder = new MediaRecorder(canvas.captureStream(), { mimeType: KIND, videoBitsPerSecond: BITS });
  /** @type {Blob[]} */ const parts = [];
  recorder.ondataavailable = ({ data }) => parts.push(data);
  const done = new Promise((resolve) => { recorder.onstop = resolve; });
  const draw = () => {
    if (player.closed || !(player.playing || player.flight) || player.loop) return recorder.stop();
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.fillStyle = getComputedStyle(document.body).backgroundColor;
    context.fillRect(0, 0, around.width, around.height);
    panels.forEach((panel, v) => {
      const { left, top } = panel.gd.getBoundingClientRect(), { left: x, top: y } = player.need("views").getBoundingClientRect();
      panel.copy(context, left - x, top - y, axes[v]);
    });
    requestAnimationFrame(draw);
  };
  player.loop = false;
  player.seek(0);
  player.play();
  player.notice("Recording a run of the progress …");
  recorder.start();
  draw();
  await done;
  if (player.closed) return;
  player.notice("");
  const url = URL.createObjectURL(new Blob(parts, { type: KIND }));
  h("a", { href: url, download: `${player.slug}.webm` }).click();
  setTimeout(() => URL.revokeObjectURL(url), KEPT);
}
