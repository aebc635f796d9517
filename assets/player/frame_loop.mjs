// @ts-check
/** The animation loop: while something moves, it advances the state and paints each panel. At rest the figure
 * settles: it is drawn by Plotly, and its description and the page's address are updated. */

import { writeAddress } from "./address.mjs";
import { MAX_FRAME_MS } from "./motion.mjs";

/** @typedef {import("./player.mjs").Player} Player */

const SLICE_MS = 3; // milliseconds of a frame for computations that take several frames
const SURE_WORK = 60_000; // what of them is done in any case: about a millisecond, also on a busy machine
const PER_POINT = 100; // work for each point of a part, compared with 1 for each pair of points
const REST_MS = 250; // milliseconds without motion, after which the figure settles
const TRAINING_REST_MS = 2000; // the same while a training is shown
const calm = matchMedia("(prefers-reduced-motion: reduce)");

/** The share of a frame that long computations have. @returns {import("../engine/time_slices.mjs").More} */
function slice() {
  const end = performance.now() + SLICE_MS;
  let work = 0;
  return (n) => (work += n * (n + PER_POINT)) <= SURE_WORK || performance.now() < end;
}

export class FrameLoop {
  #player;
  #state;
  #camera;
  #request = 0;
  #lastFrame = 0; // time of the last frame in milliseconds; 0 at rest
  #restTimer = 0;
  /** Whether the first panel shows the recipe. */ living = false;
  /** @type {(() => void)[]} show the state in parts of the page, at each frame */ shows = [];
  /** @type {(() => void)[]} the same for other scripts, as long as the player lives */ listeners = [];
  /** @type {() => void} puts the state into words */ describe = () => {};
  /** @type {import("../engine/crowds.mjs").Crowd[][] | null} at rest, of each view */ crowds = null;

  /** @param {Player} player @param {import("./state.mjs").State} state
   * @param {import("./camera.mjs").Camera} camera */
  constructor(player, state, camera) {
    this.#player = player;
    this.#state = state;
    this.#camera = camera;
    player.life.addEventListener("abort", () => {
      cancelAnimationFrame(this.#request);
      clearTimeout(this.#restTimer);
    });
  }

  /** The id of the requested animation frame; 0 if there is none. */
  get request() {
    return this.#request;
  }

  /** Request a frame. */
  schedule() {
    this.#request ||= requestAnimationFrame((time) => this.#tick(time));
  }

  get #moving() {
    return this.#state.moves || Boolean(this.#camera.flight);
  }

  /**
   * Draw one frame: advance time, paint all panels, and request the next frame or settle.
   * @param {number} time
   */
  #tick(time) {
    const { panels, closed } = this.#player;
    this.#request = 0;
    if (closed || !this.living) return;
    const passed = this.#lastFrame ? Math.min(time - this.#lastFrame, MAX_FRAME_MS) : 0;
    if (this.#state.advance(passed, calm.matches)) this.#seeEdgeOn();
    const frame = this.#state.frame(false, slice());
    this.crowds = null;
    panels.forEach((panel, v) => panel.paint(frame[v]));
    this.#camera.advance(passed);
    this.show();
    this.#lastFrame = this.#moving ? time : 0;
    if (this.#moving) this.schedule();
    else this.rest();
  }

  /** At the end of a run, turn the camera so that a separating plane is seen edge-on, unless the reader
   * turned it. */
  #seeEdgeOn() {
    const panel = this.#player.panels.find(({ view }) => view.edge);
    if (panel && !this.#state.turned) this.#camera.flyEdgeOn(panel);
  }

  /** Update the parts of the page that show the state. */
  show() {
    for (const show of [...this.shows, ...this.listeners]) show();
  }

  /** Settle after a moment, unless something moves or the reader holds something. */
  rest() {
    clearTimeout(this.#restTimer);
    if (this.#player.closed) return;
    const settle = () => {
      if (!this.#request && !this.#moving && !this.#player.pressed) this.settle();
    };
    this.#restTimer = window.setTimeout(
      () => requestAnimationFrame(settle), // a slow frame does not count as rest
      this.#state.growing ? TRAINING_REST_MS : REST_MS,
    );
  }

  async settle() {
    const player = this.#player;
    if (player.closed || !player.ready) return;
    const still = /** @type {HTMLImageElement | null} */ (player.root.querySelector(".still img.live"));
    if (still) still.src = player.picture();
    const frame = this.#state.frame(true);
    const crowds = (this.crowds = this.#state.crowds);
    this.#camera.settle();
    if (!this.#state.growing) this.describe(); // changes during a training are not announced
    await Promise.all(player.panels.map((panel, v) => panel.settle(frame[v], crowds[v])));
    writeAddress(player, false);
  }
}
