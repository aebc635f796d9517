// @ts-check
/**
 * The state of a scene: its recipe, choices and parameters, where all points are, and automatic motion. Pure:
 * no page, no Plotly, and no clock but the milliseconds passed in. Others read it, and call its commands.
 *
 * A link, a new choice or a stop of the tour takes effect in two steps, since its recipe must be fetched
 * first. Values that the reader sets in the meantime are kept.
 *
 * @typedef {import("../engine/engine.mjs").Recipe} Recipe
 * @typedef {import("../engine/engine.mjs").Stages} Stages
 * @typedef {import("./link.mjs").State} Link
 */

import { clockOf } from "../engine/engine.mjs";
import { crowdsOf } from "../engine/crowds.mjs";
import { ClockRun } from "./clockrun.mjs";
import { Computed } from "./computed.mjs";
import { framesOf } from "./frames.mjs";
import { defaults, kept, overlaid, pointCount, read, texts, within, write } from "./link.mjs";
import { along, hurry, isOver, nextLeg, stageBeside } from "./motion.mjs";
import { Parting } from "./parting.mjs";

export class State {
  /** @type {Record<string, string>} */ #choices;
  /** @type {Recipe | null} */ #recipe = null;
  /** @type {Record<string, number>} */ #params = {};
  #computed = new Computed(() => this);
  /** @type {Link["camera"]} */ #camera = null;
  /** @type {Link["controls"]} */ #controls = null;
  /** @type {import("./motion.mjs").Leg | null} */ #leg = null;
  /**
   * @type {Set<string>} parameters, "progress", "follow", "camera": what the reader has set since the change
   *   under way was asked for
   */
  #touched = new Set();
  /** @type {Record<string, string> | null} the stop of the tour that waits for its recipe, as link parameters
   */
  #stop = null;
  #turned = false; // whether the reader has turned the camera in this run
  #progress = 0;
  #followed = 0;
  #theme = "";
  #playing = false;
  #growing = false;
  #clock = new ClockRun();
  #opening = false;
  #parting = new Parting(); // of the points of a run, also for a moment after it has stopped
  /** The speed factor of motion. */ speed = 1;
  /** Whether playing starts again at its end. */ loop = false;

  /** @param {Record<string, string>} usual the defaults of the choices */
  constructor(usual) {
    this.usual = Object.freeze({ ...usual });
    this.#choices = { ...usual };
  }

  get known() {
    return this.#recipe !== null;
  }
  get recipe() {
    return /** @type {Recipe} */ (this.#recipe);
  }
  get choices() {
    return this.#choices;
  }
  get params() {
    return this.#params;
  }
  get stages() {
    return this.#computed.stages;
  }
  /** Whether earlier results are shown while newer ones are being computed. */
  get unfinished() {
    return this.#computed.unfinished;
  }
  /** For each cloud, the positions in the last frame. */
  get at() {
    return this.#computed.at;
  }
  get progress() {
    return this.#progress;
  }
  get last() {
    return this.recipe.stages.length - 1;
  }
  get followed() {
    return this.#followed;
  }
  get camera() {
    return this.#camera;
  }
  /** The controls that the link names; null means all. */
  get controls() {
    return this.#controls;
  }
  get theme() {
    return this.#theme;
  }
  get playing() {
    return this.#playing;
  }
  /** Whether the clock runs. */
  get running() {
    return this.#clock.running;
  }
  get leg() {
    return this.#leg;
  }
  /** Whether the recipe is that of a training in progress: no link has it, and the next comes soon. */
  get growing() {
    return this.#growing;
  }
  get moves() {
    return Boolean(this.#leg || this.#clock.running || this.#parting.open || this.unfinished);
  }
  /** Whether this is the scene's first run. */
  get opening() {
    return this.#opening;
  }
  /** Whether the reader has turned the camera since the run began. */
  get turned() {
    return this.#turned;
  }
  /** Whether a stop of the tour is waiting for its recipe. */
  get arriving() {
    return this.#stop !== null;
  }

  /** Whether the reader has set a value since the pending change was requested. @param {string} name */
  touched(name) {
    return this.#touched.has(name);
  }

  /** Note that the reader has set a value. @param {string} name */
  touch(name) {
    this.#touched.add(name);
  }

  /** Begin a change: values that the reader sets from now on are kept. */
  begin() {
    this.#touched.clear();
    this.#stop = null;
  }

  /** Request a stop of the tour, which `arrive` shows. @param {Record<string, string>} stop the stop's state,
   * in the form of a link @param {boolean} linked whether the page's link asks for it, and so did when its
   * recipe was asked for */
  call(stop, linked = false) {
    if (!linked) this.begin();
    this.#stop = stop;
  }

  /** Replace the recipe, and set the state. @param {Recipe} recipe @param {Record<string, string>} choices
   * @param {Partial<Link> & Pick<Link, "params" | "progress" | "follow" | "camera">} link */
  take(recipe, choices, link) {
    const touched = this.#touched;
    const last = recipe.stages.length - 1;
    const params = overlaid(link.params, this.#params, this.#touched, recipe);
    this.#recipe = recipe;
    this.#choices = { ...choices, ...texts(recipe.chosen) };
    this.#progress = touched.has("progress") ? Math.min(this.#progress, last) : link.progress;
    this.#followed =
      touched.has("follow") && this.#followed < pointCount(recipe) ? this.#followed : link.follow;
    if (!touched.has("camera")) this.#camera = link.camera;
    this.#growing = false;
    this.#parting.close();
    if (link.controls !== undefined) this.#controls = link.controls;
    this.#move(params);
    this.#computed.place(this.#progress, null);
    if (!touched.has("progress")) this.#stand();
    else if (this.#leg && Math.max(this.#leg.from, this.#leg.to) > last) this.#leg = null;
    if (this.#clock.partial) this.#clock.running = false; // it was a part of another clock's range
    this.#stopUntouchedClock();
  }

  /** Stop the clock, unless the reader has started it since. */
  #stopUntouchedClock() {
    const clock = clockOf(this.recipe);
    if (!clock || !this.touched(clock.name)) this.#clock.running = false;
  }

  /** Set all parameters, and compute the stages. @param {Record<string, number>} params */
  #move(params) {
    this.#params = params;
    this.#computed.move();
  }

  /** The part of the state that is kept with another recipe; values that the reader has not set follow the
   * new one. @param {Recipe} recipe */
  kept(recipe) {
    // a stage that progress was moving to counts as reached
    const progress = this.#leg && !this.#playing ? this.#leg.to : this.#progress;
    return kept({ ...this.link, progress }, this.recipe, recipe);
  }

  /** Take a newer recipe of the same structure, at the clock's end. @param {Recipe} recipe */
  grow(recipe) {
    this.#recipe = { ...this.recipe, ...recipe };
    const clock = clockOf(recipe);
    this.#move(clock ? { ...this.#params, [clock.name]: clock.max } : this.#params);
    this.#growing = true;
  }

  /** Set choices without another recipe: the next recipe of a training has them.
   * @param {Record<string, string>} choices */
  setChosen(choices) {
    this.#choices = { ...this.#choices, ...choices };
  }

  /** Set a parameter. @param {string} name @param {number} value @returns {boolean} whether it is another */
  set(name, value) {
    const parameter = this.recipe.parameters.find((p) => p.name === name);
    if (!parameter || typeof value !== "number" || !within(parameter, value))
      throw new RangeError(`${name} = ${value} is not a value of this scene`);
    this.touch(name);
    if (this.#params[name] === value) return false;
    this.#move({ ...this.#params, [name]: value });
    return true;
  }

  /** Set the progress, and stop its motion. @param {number} progress */
  seek(progress) {
    if (!(progress >= 0 && progress <= this.last))
      throw new RangeError(`progress ${progress} is not from 0 to ${this.last}`);
    this.touch("progress");
    this.#progress = progress;
    if (this.#opening) this.#halt();
    this.#leg = null;
    this.#parting.close();
  }

  /** Set the followed point. @param {number} index */
  follow(index) {
    this.touch("follow");
    this.#followed = index;
  }

  /** Set the camera. @param {Link["camera"]} camera null is the scene's own */
  look(camera) {
    this.#camera = camera;
  }

  /** Set the camera that the reader has turned. @param {Link["camera"]} camera */
  turn(camera) {
    this.touch("camera");
    this.#turned = true;
    this.look(camera);
  }

  /** Set the theme. @param {string} theme */
  paint(theme) {
    this.#theme = theme;
  }

  play() {
    if (this.#playing || !this.last) return;
    this.touch("progress");
    this.#start();
  }

  #start() {
    if (this.#progress >= this.last) this.#progress = 0;
    this.#playing = true;
    this.#turned = false;
    this.#leg = null;
    this.#parting.close();
  }

  /** Start the first run: once from the first stage to the last, then to where the scene opens; not if the
   * reader has set something already. */
  open() {
    if (this.#touched.size || !this.last) return;
    this.#halt();
    this.#progress = 0;
    this.#start();
    this.#opening = true;
  }

  pause() {
    this.touch("progress");
    this.#halt();
  }

  #halt() {
    this.#clock.running = false;
    this.#stand();
  }

  /** Stop the motion of progress. */
  #stand() {
    this.#playing = this.#opening = false;
    this.#leg = null;
  }

  /** Start the clock, so that it runs to its end; or stop it. */
  toggleClock() {
    const p = clockOf(this.recipe);
    if (!p) return;
    this.touch(p.name);
    this.#clock.toggle();
    if (this.#clock.running && this.#params[p.name] >= p.max)
      this.#move({ ...this.#params, [p.name]: p.min });
  }

  stop() {
    const p = clockOf(this.recipe);
    if (p) this.touch(p.name);
    this.#clock.running = false;
  }

  /** Run the clock through a part of its range. @param {number} min @param {number} max */
  replay(min, max) {
    const p = clockOf(this.recipe);
    if (!p) return;
    this.pause();
    this.set(p.name, min);
    this.#clock.start({ min, max });
  }

  /** Move to a stage, or jump there. @param {number} stage @param {boolean} cut */
  goTo(stage, cut) {
    this.touch("progress");
    this.#clock.running = false;
    this.#to(stage, cut);
  }

  /** Start a move to a stage, or jump there. @param {number} stage @param {boolean} cut */
  #to(stage, cut) {
    this.#stand();
    this.#parting.close();
    if (cut) this.#progress = stage;
    else this.#leg = { from: this.#progress, to: stage, done: 0 };
  }

  /** The number of the next stage (by > 0) or the previous one (by < 0), seen from where a running move ends.
   * @param {number} by */
  adjacentStage(by) {
    return stageBeside(this.#leg ? this.#leg.to : this.#progress, by, this.last);
  }

  reset() {
    this.#move(defaults(this.recipe));
    this.#progress = this.recipe.progress;
    this.#followed = this.recipe.follow;
    for (const name of [...Object.keys(this.#params), "follow", "camera"]) this.touch(name);
    this.pause();
  }

  /** Show the stop of the tour that was requested, now that its recipe is there. Values that it does not name
   * get the scene's defaults, except those that the reader has set since. @param {boolean} cut jump, for
   * readers who prefer reduced motion @returns {{camera: Link["camera"]} | null} the camera to fly to, if it
   * changes */
  arrive(cut) {
    if (!this.#stop) return null;
    const { params, progress, follow, camera } = read(this.#stop, this.recipe).state;
    this.#stop = null;
    this.#move(overlaid(params, this.#params, this.#touched, this.recipe));
    if (!this.touched("follow")) this.#followed = follow;
    this.#stopUntouchedClock();
    if (!this.touched("progress")) this.#to(progress, cut);
    return this.touched("camera") ? null : { camera };
  }

  /** Advance time: progress moves leg by leg, with a pause at each stage, and the clock runs.
   * @param {number} ms since the last frame @param {boolean} cut jump, for readers who prefer reduced motion
   * @returns {boolean} whether a run has just come to its end */
  advance(ms, cut) {
    const pace = this.#opening ? hurry(this.last, this.recipe.progress) : 1;
    const ended = this.#legOn(ms * this.speed * pace, cut);
    this.#parting.advance(this.#leg, this.#playing && !cut, ms);
    const clock = clockOf(this.recipe);
    if (clock && this.#clock.running) {
      const at = this.#clock.advance(clock, this.#params[clock.name], ms * this.speed, this.loop);
      this.#move({ ...this.#params, [clock.name]: at });
    }
    return ended;
  }

  /**
   * Continue the present leg, and start the next one while playing.
   * @param {number} ms @param {boolean} cut @returns {boolean}
   */
  #legOn(ms, cut) {
    if (this.#playing) this.#leg ??= nextLeg(this.#progress, this.last);
    const leg = this.#leg;
    if (!leg) return false;
    leg.done += ms;
    this.#progress = along(leg, cut);
    if (!isOver(leg, this.#playing)) return false;
    this.#progress = leg.to;
    this.#leg = null;
    this.#parting.close();
    if (!this.#playing) return (this.#opening = false);
    if (leg.to < this.last || (this.loop && !this.#opening)) return this.#legOn(0, cut);
    this.#playing = false;
    if (!this.#opening) return true;
    const home = this.recipe.progress;
    if (home < this.last) this.#leg = { from: this.last, to: home, done: 0 };
    else this.#opening = false;
    return false;
  }

  /** The state for which a frame is drawn. @returns {import("../engine/engine.mjs").Moment} */
  get moment() {
    return {
      recipe: this.recipe,
      stages: this.stages,
      at: this.at,
      params: this.#params,
      progress: this.#progress,
      followed: this.#followed,
      each: this.#computed.each,
    };
  }

  /** The frames of all views. @param {boolean} rest the figure is at rest: hover texts, and no lag between
   * points @param {import("../engine/time_slices.mjs").More} [more] as in `Computed.within`
   * @returns {import("../painter/painter.mjs").Frame[]} */
  frame(rest, more) {
    return this.#computed.within(more, () => {
      this.#computed.place(this.#progress, rest ? null : this.#parting.progresses(this.recipe));
      return framesOf(this.moment, rest);
    });
  }

  /** For each view, the places where many points coincide, in the last frame.
   * @returns {import("../engine/crowds.mjs").Crowd[][]} */
  get crowds() {
    return this.recipe.views.map((view) => crowdsOf(view, this.moment));
  }

  /** The state that a link contains. @returns {Link} */
  get link() {
    return {
      choices: this.#choices,
      params: this.#params,
      progress: this.#progress,
      camera: this.#camera,
      follow: this.#followed,
      theme: this.#theme,
      controls: this.#controls,
      tour: 0,
    };
  }

  /** The state as a query, with "?"; only differences from the defaults. */
  get query() {
    return write(this.link, this.usual, this.recipe);
  }
}
