// @ts-check
/** The animation loop. While something moves, each frame advances the state by the time since the previous
 * frame, and paints all panels. A moment after motion has ended the figure settles: Plotly draws it, and the
 * description for screen readers and the page's address are updated. */

import { prefersReducedMotion } from "../browser.mjs";
import { writeAddress } from "./address.mjs";
import { MAX_FRAME_MS } from "./motion.mjs";
/** @import { Crowd } from "../engine/crowds.mjs" */
/** @import { More } from "../engine/time_slices.mjs" */
/** @import { Camera } from "./camera.mjs" */
/** @import { Player } from "./player.mjs" */
/** @import { State } from "./state.mjs" */

const SLICE_MS = 3; // milliseconds of each frame for computations that take several frames
const SURE_WORK = 60_000; // units of work that a frame may always do; they take about a millisecond
const PER_POINT = 100; // units of work for each point; a unit is the work for one pair of points
const REST_MS = 250; // milliseconds without motion after which the figure settles
const TRAINING_REST_MS = 2000; // like REST_MS, while a training in progress is shown

/** Start the time budget of a frame. Returns a function to call before each part of a long computation. Its
 * argument n is the number of points that the part moves. The function adds n·(n + PER_POINT) to the work of
 * the frame, and returns whether there is time for the part. There is time if the work is then at most
 * SURE_WORK, or if less than SLICE_MS have passed. @returns {More} */
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
  #lastFrame = 0; // time of the previous frame in milliseconds; 0 at rest
  #restTimer = 0;
  /** Whether, since the figure was last at rest, the points have moved from stage to stage (`leg`) or the
   * clock has run (`running`). */
  #ran = false;
  /** Whether frames can be drawn: the first panel shows the recipe, or there is no WebGL and so no panel. */
  living = false;
  /** @type {(() => void)[]} called in each frame: update the parts of the page */ shows = [];
  /** @type {(() => void)[]} called in each frame, for other scripts; kept for all recipes */ listeners = [];
  /** @type {(ran: boolean) => void} updates the description for screen readers */ describe = () => {};
  /** @type {Crowd[][] | null} for each view, where many points coincide; null in motion */ crowds = null;

  /** @param {Player} player @param {State} state @param {Camera} camera */
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

  /** Request a frame, if none is requested yet. */
  schedule() {
    this.#request ||= requestAnimationFrame((time) => this.#tick(time));
  }

  get #moving() {
    return this.#state.moves || Boolean(this.#camera.flight);
  }

  /**
   * Draw one frame: advance the state, paint all panels, and request the next frame or, if nothing moves,
   * let the figure settle. @param {number} time the time of the frame, in milliseconds
   */
  #tick(time) {
    const { panels, closed } = this.#player;
    this.#request = 0;
    if (closed || !this.living) return;
    const passed = this.#lastFrame ? Math.min(time - this.#lastFrame, MAX_FRAME_MS) : 0;
    this.#ran ||= Boolean(this.#player.leg || this.#player.running);
    if (this.#state.advance(passed, prefersReducedMotion())) this.#seeEdgeOn();
    const frame = this.#state.frame(false, slice());
    this.crowds = null;
    panels.forEach((panel, v) => panel.paint(frame[v]));
    this.#camera.advance(passed);
    this.show();
    this.#lastFrame = this.#moving ? time : 0;
    if (this.#moving) this.schedule();
    else this.rest();
  }

  /** After the scene has played to its end, let the camera fly to a place from which the plane `view.edge` of
   * a view is seen edge-on. Does nothing if no view has a plane, or the reader has turned the camera. */
  #seeEdgeOn() {
    const panel = this.#player.panels.find(({ view }) => view.edge);
    if (panel && !this.#state.turned) this.#camera.flyEdgeOn(panel);
  }

  /** Update all parts of the page that show the state. */
  show() {
    for (const show of [...this.shows, ...this.listeners]) show();
  }

  /** Let the figure settle after a moment (REST_MS; TRAINING_REST_MS while a training in progress is shown).
   * It does not settle if by then something moves, or the reader presses on a figure, formula or slider. */
  rest() {
    clearTimeout(this.#restTimer);
    if (this.#player.closed) return;
    const settle = () => {
      if (!this.#request && !this.#moving && !this.#player.pointerDown) this.settle();
    };
    this.#restTimer = window.setTimeout(
      () => requestAnimationFrame(settle), // a slow frame does not count as rest
      this.#state.growing ? TRAINING_REST_MS : REST_MS,
    );
  }

  /** Let the figure settle: Plotly draws it at rest, with labels that count coinciding points. Also update
   * the page's address and, unless a training is in progress, the description for screen readers. */
  async settle() {
    const player = this.#player;
    if (player.closed || !player.ready) return;
    const still = /** @type {HTMLImageElement | null} */ (player.root.querySelector(".still img.live"));
    if (still) still.src = player.picture();
    const frame = this.#state.frame(true);
    const crowds = (this.crowds = this.#state.crowds);
    this.#camera.settle();
    if (!this.#state.growing) this.describe(this.#ran); // changes during a training are not announced
    this.#ran = false;
    await Promise.all(player.panels.map((panel, v) => panel.settle(frame[v], crowds[v])));
    writeAddress(player, false);
  }
}
