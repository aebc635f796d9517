// @ts-check
/** The camera that all 3D panels of a scene share. It can fly to a place. When the reader turns one panel,
 * the other panels turn with it. */

import { edgeOn } from "../engine/geometry.mjs";
import { home } from "../painter/views.mjs";
import { prefersReducedMotion } from "../browser.mjs";
import { FLIGHT_MS, inFlight } from "./motion.mjs";
/** @import { Panel } from "../painter/painter.mjs" */
/** @import { Flight } from "./motion.mjs" */
/** @import { Player } from "./player.mjs" */
/** @import { State } from "./state.mjs" */

/**
 * @typedef {import("./link.mjs").State["camera"]} Place a camera: eye, and the point at which it looks; null
 *   stands for the scene's initial camera
 */

const SAME_PLACE = 1e-4; // in units of the axes' cube; smaller moves, which clicks cause, are ignored

export class Camera {
  #player;
  #state;
  /** @type {Panel | undefined} */ #turnedPanel = undefined;
  /** @type {Flight | null} */ #flight = null;

  /** @param {Player} player @param {State} state */
  constructor(player, state) {
    this.#player = player;
    this.#state = state;
  }

  get flight() {
    return this.#flight;
  }

  /** Stop the camera where it is. */
  halt() {
    this.#flight = null;
  }

  /** Start a flight of the camera to a place, on an arc around the origin; in the next frames, `advance`
   * moves the camera on. If the reader prefers reduced motion, the camera jumps to the place. @param {Place}
   * place */
  fly(place) {
    const panel = this.#player.panels.find((p) => p.is3d);
    this.#turnedPanel = undefined;
    this.#state.look(place);
    const from = panel?.camera();
    if (panel && from) {
      const to = place ?? home(panel.view);
      if (prefersReducedMotion()) this.#set(to);
      else this.#flight = { from, to, done: 0 };
    }
  }

  /** Let the camera fly to a nearby place from which a plane, the cloud `view.edge` of the panel's view, is
   * seen edge-on. Does nothing if there is no such place. @param {Panel} panel */
  flyEdgeOn(panel) {
    const { view, ranges } = panel;
    const camera = panel.camera();
    if (!camera) return;
    const sides = ranges.map(([low, high]) => high - low);
    const plane = this.#state.at[/** @type {string} */ (view.edge)];
    const eye = edgeOn(
      plane,
      camera.eye.map((e, i) => e * sides[i]),
    );
    if (eye) this.fly({ eye: eye.map((e, i) => e / sides[i]), center: [0, 0, 0] });
  }

  /** Move the camera on along its flight; does nothing if there is no flight. @param {number} ms the
   * milliseconds since the previous frame */
  advance(ms) {
    if (!this.#flight) return;
    this.#flight.done += ms;
    this.#set(inFlight(this.#flight));
    if (this.#flight.done >= FLIGHT_MS) this.#flight = null;
  }

  /** Adopt the camera of a panel that the reader has turned, and turn all other panels, too. Returns whether
   * the camera has moved; if not, nothing changes. @param {import("../painter/painter.mjs").Camera} camera
   * @param {Panel} panel */
  turned(camera, panel) {
    const flight = this.#flight;
    const before = flight ? inFlight(flight) : (this.#state.camera ?? home(panel.view));
    const far = (/** @type {number[]} */ a, /** @type {number[]} */ b) =>
      a.some((x, i) => Math.abs(x - b[i]) > SAME_PLACE);
    if (!far(camera.eye, before.eye) && !far(camera.center, before.center)) return false;
    this.#state.turn(camera);
    this.#turnedPanel = panel;
    this.#flight = null;
    this.#set(camera, panel);
    return true;
  }

  /** Adopt the final camera of the panel that the reader turned last, and give it to the other panels; to be
   * called at rest. This is needed because Plotly's camera moves on for a moment after its last event. */
  settle() {
    const { panels } = this.#player;
    const panel = this.#turnedPanel;
    const camera = panel?.camera();
    if (!panel || !camera || !panels.includes(panel) || !this.#state.camera || this.#flight) return;
    this.#state.look(camera);
    this.#set(camera, panel);
  }

  /**
   * Give this camera to all panels, apart from the panel `except`.
   * @param {import("../painter/painter.mjs").Camera} camera @param {Panel} [except] a panel that has this
   * camera already
   */
  #set(camera, except) {
    for (const panel of this.#player.panels) if (panel !== except) panel.setCamera(camera);
  }
}
