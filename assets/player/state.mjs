// @ts-check
/**
 * The state of a scene: its recipe, choices and parameters, all positions, and automatic motion. Pure: it
 * uses neither the page nor Plotly, and gets the time only as an argument, in milliseconds.
 *
 * A link, a new choice or a stop of the tour takes effect in two steps: on request (`begin` or `call`),
 * and once its recipe is loaded (`take` or `arrive`). Values that the reader sets in between are kept.
 */

import { clockOf } from "../engine/engine.mjs";
import { crowdsOf } from "../engine/crowds.mjs";
import { ClockRun } from "./clockrun.mjs";
import { Computed } from "./computed.mjs";
import { framesOf } from "./frames.mjs";
import { defaults, kept, overlaid, pointCount, read, texts, within, write } from "./link.mjs";
import { along, hurry, isOver, nextLeg, stageBeside } from "./motion.mjs";
import { Parting } from "./parting.mjs";
/** @import { Crowd } from "../engine/crowds.mjs" */
/** @import { Moment, Recipe } from "../engine/engine.mjs" */
/** @import { More } from "../engine/time_slices.mjs" */
/** @import { Frame } from "../painter/painter.mjs" */
/** @import { State as Link } from "./link.mjs" */
/** @import { Leg } from "./motion.mjs" */

export class State {
  /** @type {Record<string, string>} */ #choices;
  /** @type {Recipe | null} */ #recipe = null;
  /** @type {Record<string, number>} */ #params = {};
  #computed = new Computed(() => this);
  /** @type {Link["camera"]} */ #camera = null;
  /** @type {Link["controls"]} */ #controls = null;
  /** @type {Leg | null} */ #leg = null;
  /** @type {Set<string>} what the reader has set since the last recipe or stop of the tour was requested:
   * names of parameters and choices, "progress", "follow", "camera" */
  #touched = new Set();
  /** @type {Record<string, string> | null} the tour's stop that waits for its recipe, as link parameters */
  #stop = null;
  #turned = false; // whether the reader has turned the camera since playing began
  #progress = 0;
  #followed = 0;
  #theme = "";
  #playing = false;
  #growing = false;
  #clock = new ClockRun();
  #opening = false;
  #cutShort = false; // whether the reader has paused the opening, and progress has not been set since
  #parting = new Parting(); // how far points lag behind one another, while playing and for a moment after
  /** The speed of all motion; 1 is normal. */ speed = 1;
  /** Whether playing and the clock start again from the beginning after their end. */ loop = false;

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
  /** Whether the newest drawn frame shows previous results, because new ones are still being computed. */
  get unfinished() {
    return this.#computed.unfinished;
  }
  /** For each cloud, the positions of its points in the most recently drawn frame. */
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
  /** The names of the controls to show, if the link names them; null means all. */
  get controls() {
    return this.#controls;
  }
  get theme() {
    return this.#theme;
  }
  get playing() {
    return this.#playing;
  }
  /** Whether the clock (the parameter that plays by itself) runs. */
  get running() {
    return this.#clock.running;
  }
  get leg() {
    return this.#leg;
  }
  /** Whether a training in progress is shown: no link can contain it, and the next recipe comes soon. */
  get growing() {
    return this.#growing;
  }
  get moves() {
    return Boolean(this.#leg || this.#clock.running || this.#parting.open || this.unfinished);
  }
  /** Whether the scene is playing by itself for the first time (`open`). */
  get opening() {
    return this.#opening;
  }
  /** Whether the reader has turned the camera since playing began. */
  get turned() {
    return this.#turned;
  }
  /** The stop of the tour that waits for its recipe, as link parameters; null if none does. */
  get arriving() {
    return this.#stop;
  }

  /** Whether the reader has set a value since the pending change was requested. @param {string} name */
  touched(name) {
    return this.#touched.has(name);
  }

  /** Note whether the reader has set a value (`touched`). @param {string} name @param {boolean} [isSet] */
  touch(name, isSet = true) {
    this.#touched[isSet ? "add" : "delete"](name);
  }

  /** Note that a change is requested: drop a waiting stop; keep values that the reader sets from now on. */
  begin() {
    this.#touched.clear();
    this.#stop = null;
  }

  /** Note that a stop of the tour is requested; once its recipe is loaded, `arrive` shows it. @param
   * {Record<string, string>} stop the stop's state, as names and values of a link @param {boolean} linked
   * whether the stop belongs to a link that is being loaded, for which `begin` has been called already */
  call(stop, linked) {
    if (!linked) this.begin();
    this.#stop = stop;
  }

  /** Replace the recipe, and adopt a link's state, except for values that the reader has `touched`. @param
   * {Recipe} recipe @param {Record<string, string>} choices @param {Partial<Link> & Pick<Link, "params" |
   * "progress" | "follow" | "camera">} link */
  take(recipe, choices, link) {
    const touched = this.#touched;
    const last = recipe.stages.length - 1;
    this.#recipe = recipe;
    this.#choices = { ...choices, ...texts(recipe.chosen) };
    this.#progress = touched.has("progress") ? Math.min(this.#progress, last) : link.progress;
    this.#followed =
      touched.has("follow") && this.#followed < pointCount(recipe) ? this.#followed : link.follow;
    if (!touched.has("camera")) this.#camera = link.camera;
    this.#growing = false;
    this.#parting.close();
    if (link.controls !== undefined) this.#controls = link.controls;
    this.#move(overlaid(link.params, this.#params, touched, recipe));
    this.#computed.place(this.#progress, null);
    if (!touched.has("progress")) this.#stand();
    else if (this.#leg && Math.max(this.#leg.from, this.#leg.to) > last) this.#leg = null;
    if (this.#clock.partial) this.#clock.running = false; // it was playing a part of the old clock's range
    this.#stopUntouchedClock();
  }

  /** Stop the clock, unless the reader has set or started it since the pending change was requested. */
  #stopUntouchedClock() {
    const clock = clockOf(this.recipe);
    if (!clock || !this.touched(clock.name)) this.#clock.running = false;
  }

  /** Set all parameters; `stages` is recomputed when next read. @param {Record<string, number>} params */
  #move(params) {
    this.#params = params;
    this.#computed.move();
  }

  /** The state that stays if `recipe` replaces the present one (`kept` in link.mjs). Progress stays, or is a
   * running move's end; if the opening runs or was paused, it is `recipe.progress`. @param {Recipe} recipe */
  kept(recipe) {
    const progress = this.#opening || this.#cutShort ? recipe.progress : (this.#leg?.to ?? this.#progress);
    return kept({ ...this.link, progress }, this.recipe, recipe);
  }

  /** Adopt the next recipe of a running training, and set the clock to its end. @param {Recipe} recipe */
  grow(recipe) {
    this.#recipe = { ...this.recipe, ...recipe };
    const clock = clockOf(recipe);
    this.#move(clock ? { ...this.#params, [clock.name]: clock.max } : this.#params);
    this.#growing = true;
  }

  /** Set choices without loading a recipe: the running training's next recipe will have them.
   * @param {Record<string, string>} choices */
  setChosen(choices) {
    this.#choices = { ...this.#choices, ...choices };
  }

  /** Set a parameter; throws a RangeError for a value that it cannot have, and for an unknown name.
   * @param {string} name @param {number} value @returns {boolean} whether it changed */
  set(name, value) {
    const parameter = this.recipe.parameters.find((p) => p.name === name);
    if (!parameter || typeof value !== "number" || !within(parameter, value))
      throw new RangeError(`${name} = ${value} is not a value of this scene`);
    this.touch(name);
    if (this.#params[name] === value) return false;
    this.#move({ ...this.#params, [name]: value });
    return true;
  }

  /** Set the progress, and end any move to a stage. Playing goes on; the opening (playing by itself) ends.
   * @param {number} progress in stages, from 0 to `last`; otherwise throws a RangeError */
  seek(progress) {
    if (!(progress >= 0 && progress <= this.last))
      throw new RangeError(`progress ${progress} is not from 0 to ${this.last}`);
    this.touch("progress");
    this.#progress = progress;
    this.#cutShort = false;
    if (this.#opening) this.#halt();
    this.#leg = null;
    this.#parting.close();
  }

  /** Set the followed (selected) point. @param {number} index */
  follow(index) {
    this.touch("follow");
    this.#followed = index;
  }

  /** Set the camera. @param {Link["camera"]} camera null: the scene's default camera */
  look(camera) {
    this.#camera = camera;
  }

  /** Set the camera, and note that the reader has turned it. @param {Link["camera"]} camera */
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
    this.#turned = this.#cutShort = false;
    this.#leg = null;
    this.#parting.close();
  }

  /** Play the scene for the first time: once from the first stage to the last, then to the recipe's initial
   * progress. Does nothing if the reader has already set something, or with only one stage. */
  open() {
    if (this.#touched.size || !this.last) return;
    this.#halt();
    this.#progress = 0;
    this.#start();
    this.#opening = true;
  }

  pause() {
    this.touch("progress");
    const cutShort = this.#cutShort || this.#opening;
    this.#halt();
    this.#cutShort = cutShort;
  }

  #halt() {
    this.#clock.running = false;
    this.#stand();
  }

  /** Stop the motion of progress. */
  #stand() {
    this.#playing = this.#opening = this.#cutShort = false;
    this.#leg = null;
  }

  /** Stop the clock if it runs; otherwise start it, from the beginning if it is at its end. */
  toggleClock() {
    const p = clockOf(this.recipe);
    if (!p) return;
    this.touch(p.name);
    this.#clock.toggle();
    if (this.#clock.running && this.#params[p.name] >= p.max)
      this.#move({ ...this.#params, [p.name]: p.min });
  }

  /** Stop the clock. */
  stop() {
    const p = clockOf(this.recipe);
    if (p) this.touch(p.name);
    this.#clock.running = false;
  }

  /** Run the clock from `min` to `max`. @param {number} min @param {number} max */
  replay(min, max) {
    const p = clockOf(this.recipe);
    if (!p) return;
    this.pause();
    this.set(p.name, min);
    this.#clock.start({ min, max });
  }

  /** Move to a stage, or (`cut`) jump there; stop the clock. @param {number} stage @param {boolean} cut */
  goTo(stage, cut) {
    this.touch("progress");
    this.#clock.running = false;
    this.#to(stage, cut);
  }

  /** Start moving to a stage, or jump there if `cut`. @param {number} stage @param {boolean} cut */
  #to(stage, cut) {
    this.#stand();
    this.#parting.close();
    if (cut) this.#progress = stage;
    else this.#leg = { from: this.#progress, to: stage, done: 0 };
  }

  /** The index of the next stage (by > 0) or the previous one (by < 0). If the figure is moving to a stage,
   * counts from that stage, otherwise from the present progress. @param {number} by */
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

  /** Show the requested stop of the tour, whose recipe is loaded. Values that it does not name get the
   * scene's defaults, unless the reader has set them since. @param {boolean} cut whether to jump @returns
   * {{camera: Link["camera"]} | null} the camera to fly to; null if no stop was requested, or if the reader
   * has set the camera */
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

  /** Advance time: progress moves leg by leg (from stage to stage), with pauses, and the clock runs.
   * @param {number} ms milliseconds since the previous frame @param {boolean} cut whether progress jumps to
   * the end of a leg @returns {boolean} whether playing (not the opening) has just ended at the last stage */
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

  /** Continue the present leg (move between two stages), or start the next while playing. @param {number} ms
   * @param {boolean} cut whether to jump @returns {boolean} whether playing has just ended */
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
    if (this.recipe.progress < this.last) this.#leg = { from: this.last, to: this.recipe.progress, done: 0 };
    else this.#opening = false;
    return false;
  }

  /** The state from which a frame is computed. @returns {Moment} */
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

  /** Compute each view's current frame. @param {boolean} rest whether the figure is at rest: then frames have
   * hover texts, and no point lags behind @param {More} [more] tells if time is left @returns {Frame[]} */
  frame(rest, more) {
    return this.#computed.within(more, () => {
      this.#computed.place(this.#progress, rest ? null : this.#parting.progresses(this.recipe));
      return framesOf(this.moment, rest);
    });
  }

  /** For each view, the places where many points coincide in the newest frame. @returns {Crowd[][]} */
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

  /** The state as a query that begins with "?"; it names only values that differ from the defaults. */
  get query() {
    return write(this.link, this.usual, this.recipe);
  }
}
