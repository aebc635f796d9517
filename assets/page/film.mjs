// @ts-check
/** Record a film of the progress in the browser: the panels are drawn onto one canvas, which is recorded. */

import { h, pen } from "../dom.mjs";

/** Video formats in order of preference. Most programs open H.264 (avc1); an MP4 without a named codec may
 * contain another, so it is last. */
const FORMATS = [
  { type: "video/mp4;codecs=avc1.42E01E", name: "MP4", ending: "mp4" },
  { type: "video/mp4;codecs=avc1", name: "MP4", ending: "mp4" },
  { type: "video/webm", name: "WebM", ending: "webm" },
  { type: "video/mp4", name: "MP4", ending: "mp4" },
];
const BITS_PER_SECOND = 8e6; // bits per second
const CHUNK_MS = 100;
const CHUNK_TIMEOUT_MS = 5000; // milliseconds of film in a chunk, and timeout for a chunk
const MIN_FILM_BYTES = 100; // bytes; a smaller file has only a header
const URL_LIFETIME_MS = 60_000; // milliseconds until the downloaded file's URL is revoked

/** @typedef {typeof FORMATS[number]} Format */

/** The first video format that this browser can record, if any. */
export const recorded = () => FORMATS.find(({ type }) => globalThis.MediaRecorder?.isTypeSupported(type));

/** The format for a film of the figure; undefined if it cannot be filmed.
 * @param {import("../player/player.mjs").Player} player */
export const filmFormat = (player) => (player.panels.length > 0 && player.last > 0 ? recorded() : undefined);

/** Run the progress once from the beginning, and save the recording.
 * @param {import("../player/player.mjs").Player} player @param {Format} format */
export async function film(player, { type, ending }) {
  const { panels } = player;
  const around = player.need("views").getBoundingClientRect();
  const ratio = devicePixelRatio;
  const even = (/** @type {number} */ x) => 2 * Math.round(x / 2);
  const canvas = h("canvas", { width: even(around.width * ratio), height: even(around.height * ratio) });
  const context = pen(canvas);
  const axes = await Promise.all(panels.map((panel) => panel.axes()));
  const recorder = new MediaRecorder(canvas.captureStream(), {
    mimeType: type,
    videoBitsPerSecond: BITS_PER_SECOND,
  });
  /** @type {Blob[]} */ const parts = [];
  let seen = () => {};
  // Chromium sends single bytes first
  recorder.ondataavailable = ({ data }) => {
    parts.push(data);
    if (data.size > 1) seen();
  };
  /** Wait for the next chunk: a recorder takes longer to start and to stop than a short run. */
  const filmed = () =>
    new Promise((resolve) => {
      seen = () => resolve(null);
      setTimeout(resolve, CHUNK_TIMEOUT_MS);
    });
  const done = new Promise((resolve) => {
    recorder.onstop = resolve;
  });
  const draw = () => {
    if (player.closed || recorder.state === "inactive") return;
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.fillStyle = getComputedStyle(document.body).backgroundColor;
    context.fillRect(0, 0, around.width, around.height);
    panels.forEach((panel, v) => {
      const { left, top } = panel.gd.getBoundingClientRect();
      const { left: x, top: y } = player.need("views").getBoundingClientRect();
      panel.copy(context, left - x, top - y, axes[v]);
    });
    requestAnimationFrame(draw);
  };
  player.loop = false;
  player.seek(0);
  player.notice("Recording the animation …");
  recorder.start(CHUNK_MS);
  draw();
  await filmed();
  const whole = () => !player.closed && !player.loop;
  if (whole()) player.play();
  while (whole() && (player.playing || player.flight)) await new Promise(requestAnimationFrame);
  if (whole()) await filmed();
  recorder.stop();
  await done;
  if (player.closed) return;
  const saved = new Blob(parts, { type });
  if (saved.size < MIN_FILM_BYTES)
    return player.notice("The browser recorded nothing. A smaller window may help.");
  player.notice("");
  const url = URL.createObjectURL(saved);
  h("a", { href: url, download: `${player.slug}.${ending}` }).click();
  setTimeout(() => URL.revokeObjectURL(url), URL_LIFETIME_MS);
}
