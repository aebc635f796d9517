// @ts-check
/** Record a video of a figure in the browser while the figure plays from the first to the last stage. In each
 * frame the figure is copied to a canvas, which a `MediaRecorder` records. */

import { saveData } from "../dom.mjs";
import { copying, placeNames } from "../player/saving.mjs";
/** @import { Player } from "../player/player.mjs" */

/** Video formats in order of preference. Most programs can open H.264 (avc1). An MP4 file for which no codec
 * is named may contain another codec, so this format comes last. */
const FORMATS = [
  { type: "video/mp4;codecs=avc1.42E01E", name: "MP4", ending: "mp4" },
  { type: "video/mp4;codecs=avc1", name: "MP4", ending: "mp4" },
  { type: "video/webm", name: "WebM", ending: "webm" },
  { type: "video/mp4", name: "MP4", ending: "mp4" },
];
const BITS_PER_SECOND = 8e6; // bit rate of the video
const CHUNK_MS = 100; // duration of a chunk of the recording, in milliseconds
const CHUNK_TIMEOUT_MS = 5000; // milliseconds to wait for a chunk, at most
const MIN_FILM_BYTES = 100; // a smaller file has only a header

let filming = false; // whether a video is being recorded

/** @typedef {typeof FORMATS[number]} Format */

/** The first of FORMATS that this browser can record; undefined if it can record none of them. */
export const recorded = () => FORMATS.find(({ type }) => globalThis.MediaRecorder?.isTypeSupported(type));

/** The format in which the figure can be recorded; undefined if it has no panels or only one stage, if the
 * browser cannot record, or while a video is being recorded. @param {Player} player */
export const filmFormat = (player) =>
  !filming && player.panels.length > 0 && player.last > 0 ? recorded() : undefined;

/** Play the figure once from stage 0 to the last stage, and save the recording as a download. Then the
 * earlier progress, camera and loop are restored. If the reader switches on the loop during the recording,
 * the recording ends at once and is saved, and nothing is restored: the figure goes on from its present
 * progress. If the player is closed, nothing is saved.
 * @param {Player} player @param {Format} format the video format */
export async function film(player, { type, ending }) {
  const { loop, progress, camera } = player;
  filming = true;
  player.loop = false;
  player.notice("Recording the video …");
  try {
    const forgetPlaces = await placeNames(player);
    const parts = await recording(player, type).finally(forgetPlaces);
    if (player.closed) return;
    const saved = new Blob(parts, { type });
    const isEmpty = saved.size < MIN_FILM_BYTES;
    player.notice(isEmpty ? "The browser recorded nothing. A smaller window may help." : "");
    if (!isEmpty) saveData(saved, `${player.slug}.${ending}`);
  } catch (error) {
    console.error(error);
    player.notice("The video could not be recorded. Reload the page to try again.");
  } finally {
    filming = false;
    if (!player.closed && !player.loop) {
      player.loop = loop;
      player.seek(Math.min(progress, player.last)); // the recipe may have changed
      if (player.camera !== camera) player.fly(camera);
    }
  }
}

/** Record the figure while it plays once. @param {Player} player @param {string} type the video format
 * @returns the chunks of the recording */
async function recording(player, type) {
  const { canvas, copy } = await copying(player, devicePixelRatio, true);
  const recorder = new MediaRecorder(canvas.captureStream(), {
    mimeType: type,
    videoBitsPerSecond: BITS_PER_SECOND,
  });
  /** @type {Blob[]} */ const parts = [];
  let pictureCame = () => {};
  // Chromium first sends chunks of a single byte, which contain no pictures
  recorder.ondataavailable = ({ data }) => {
    parts.push(data);
    if (data.size > 1) pictureCame();
  };
  /** Wait for the next chunk that contains pictures, at most CHUNK_TIMEOUT_MS. Call it before the figure
   * begins to play, and after the figure has played: a recorder may need more time to start or stop than a
   * short animation lasts, and would miss the animation. */
  const nextPicture = () =>
    new Promise((resolve) => {
      pictureCame = () => resolve(null);
      setTimeout(resolve, CHUNK_TIMEOUT_MS);
    });
  const stopped = new Promise((resolve) => {
    recorder.onstop = resolve;
  });
  const draw = () => {
    if (player.closed || recorder.state === "inactive") return;
    copy();
    requestAnimationFrame(draw);
  };
  player.seek(0);
  recorder.start(CHUNK_MS);
  draw();
  await nextPicture();
  const goesOn = () => !player.closed && !player.loop;
  if (goesOn()) player.play();
  while (goesOn() && (player.playing || player.flight)) await new Promise(requestAnimationFrame);
  if (goesOn()) await nextPicture();
  recorder.stop();
  await stopped;
  return parts;
}
