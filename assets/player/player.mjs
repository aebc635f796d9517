// @ts-check
/**
 * The player of a scene: the interface through which all other code reads and controls one figure. Commands
 * change the state (state.mjs) and request a frame. recipe_changes.mjs loads recipes, camera.mjs moves the
 * camera, frame_loop.mjs draws frames, and growth.mjs shows the recipes of a running training.
 *
 * The player fills the parts that its element contains (mount.mjs): .views, .choices, .parameters, .more,
 * .scrubber, .numbers, .formula, .explained, .text, .notice. If the element has a `data-query`, the state is
 * read from there, and the page's address is neither read nor written; `data-controls` names the controls to
 * show.
 */

import { plotly } from "../painter/views.mjs";
import { prefersReducedMotion } from "../browser.mjs";
import { Camera } from "./camera.mjs";
import { FrameLoop } from "./frame_loop.mjs";
import { DRAGGABLE } from "./grip.mjs";
import { Growth } from "./growth.mjs";
import { write } from "./link.mjs";
import { PageParts } from "./page_parts.mjs";
import { RecipeChanges } from "./recipe_changes.mjs";
import { print, save } from "./saving.mjs";
import { State } from "./state.mjs";
/** @import { Recipe } from "../engine/engine.mjs" */
/** @import { Panel } from "../painter/painter.mjs" */
/** @import { Restore } from "./controls.mjs" */

/**
 *
 * @typedef {object} Commands functions of the page that a player calls
 * @property {(player: Player) => void} share
 * @property {(player: Player) => void} help
 * @property {(player: Player) => void} present
 * @property {(player: Player) => void} goOn resumes the presentation after going to the next scene or
 *   the one before, or after reloading the page
 */

export class Player {
  #state;
  #growth;
  #camera;
  #changes;
  #frames;
  #parts;
  #life = new AbortController();
  #scheme = new MutationObserver(() => this.recolor());
  /** Whether the pointer is down on a figure, formula or slider. Then no figure settles (see frame_loop.mjs).
   */
  pointerDown = false;

  /** @param {HTMLElement} root @param {Commands} commands */
  constructor(root, commands) {
    this.root = root;
    this.commands = commands;
    this.slug = root.dataset.slug ?? "";
    this.path = location.pathname;
    this.#state = new State(JSON.parse(root.dataset.choices ?? "{}"));
    this.#camera = new Camera(this, this.#state);
    this.#frames = new FrameLoop(this, this.#state, this.#camera);
    this.#parts = new PageParts(this, this.#state, this.#camera, this.#frames);
    this.#growth = new Growth(this.#state, this.#parts, this.#frames);
    this.#changes = new RecipeChanges(this, this.#state, this.#growth, this.#parts, this.#frames);
  }

  // State that others read

  get usual() {
    return this.#state.usual;
  }
  get recipe() {
    return this.#state.recipe;
  }
  get choices() {
    return this.#state.choices;
  }
  get params() {
    return this.#state.params;
  }
  get progress() {
    return this.#state.progress;
  }
  get last() {
    return this.#state.last;
  }
  get followed() {
    return this.#state.followed;
  }
  get camera() {
    return this.#state.camera;
  }
  get stages() {
    return this.#state.stages;
  }
  get at() {
    return this.#state.at;
  }
  get moment() {
    return this.#state.moment;
  }
  /** For each view, the places where many points coincide; null while something moves. */
  get crowds() {
    return this.#frames.crowds;
  }
  get playing() {
    return this.#state.playing;
  }
  get running() {
    return this.#state.running;
  }
  get leg() {
    return this.#state.leg;
  }
  /** Whether the scene is playing by itself for the first time. */
  get opening() {
    return this.#state.opening;
  }
  get growing() {
    return this.#state.growing;
  }
  get speed() {
    return this.#state.speed;
  }
  set speed(times) {
    this.#state.speed = times;
  }
  get loop() {
    return this.#state.loop;
  }
  set loop(on) {
    this.#state.loop = on;
  }
  get flight() {
    return this.#camera.flight;
  }
  get panels() {
    return this.#parts.panels;
  }
  get tour() {
    return this.#parts.tour;
  }
  get wanted() {
    return this.#changes.wanted;
  }
  /** Whether the figure has yet to show the state that the page's link names. */
  get following() {
    return this.#changes.following;
  }
  get ready() {
    return this.#parts.ready;
  }
  get closed() {
    return this.life.aborted;
  }
  /** The id of the requested animation frame; 0 if none is requested. */
  get scheduled() {
    return this.#frames.request;
  }
  /** The signal that aborts when the player is closed. */
  get life() {
    return this.#life.signal;
  }

  /** Whether the figure is embedded in a page other than the scene's. */
  get apart() {
    return "query" in this.root.dataset;
  }

  /** The state as a link contains it: choices, parameters, progress, camera and so on (`State` in link.mjs).
   */
  get state() {
    return this.#state.link;
  }

  /** The state as a query that begins with "?"; it names only values that differ from the defaults. "" if
   * there are none. */
  get query() {
    return this.#state.query;
  }

  /** The part of the page (an element) with the class `name`, or null. Does not search deeper elements, such
   * as Plotly's. @param {string} name */
  part(name) {
    return /** @type {HTMLElement | null} */ (
      this.root.querySelector(`:scope > .${name}, :scope > * > .${name}, :scope > .spread > * > .${name}`)
    );
  }

  /** The part with the class `name`; throws if there is none. @param {string} name @returns {HTMLElement} */
  need(name) {
    const part = this.part(name);
    if (!part) throw new Error(`the scene's element has no .${name}`);
    return part;
  }

  async start() {
    const options = { signal: this.life };
    const restore = () => {
      if (!this.apart && location.pathname === this.path && !this.tour?.restore()) this.restore();
    };
    const theme = (/** @type {CustomEventInit<string>} */ { detail = "" }) => {
      this.#state.paint(detail);
      this.#frames.rest();
    };
    const press = (/** @type {Event} */ { target }) => {
      const element = /** @type {Element} */ (target);
      this.pointerDown = Boolean(element.closest(DRAGGABLE));
      this.#growth.held = Boolean(element.closest(".flat .figure"));
    };
    const release = () => {
      this.pointerDown = this.#growth.held = false;
      this.#frames.rest();
    };
    addEventListener("popstate", restore, options);
    addEventListener("beforeprint", () => print(this, true), options);
    addEventListener("afterprint", () => print(this, false), options);
    addEventListener("normscape:theme", /** @type {EventListener} */ (theme), options);
    addEventListener("pointerup", release, options);
    addEventListener("pointercancel", release, options);
    this.root.addEventListener("pointerdown", press, { ...options, capture: true });
    this.#scheme.observe(document.documentElement, { attributeFilter: ["data-scheme"] });
    // Plotly is loaded while the recipe is; the code that needs Plotly reports a failure
    plotly(this.root.dataset.plotly ?? "").catch(() => {});
    await this.restore();
  }

  /** Show the state that the page's link names. */
  restore() {
    return this.#changes.restore();
  }

  /** Whether the control with this name is shown. @param {string} name */
  offers(name) {
    return this.#named?.includes(name) ?? true;
  }

  /** Whether some controls may be folded away at first: false if the link or the page names the controls to
   * show. */
  get folds() {
    return !this.#named;
  }

  get #named() {
    return this.root.dataset.controls?.split(",") ?? this.#state.controls;
  }

  /** Move the camera smoothly to see a panel's plane edge on. @param {Panel} panel */
  edgeOn(panel) {
    this.#state.touch("camera");
    this.#camera.flyEdgeOn(panel);
    this.#schedule();
  }

  /** The URL of the server's SVG picture of the present state, in the present theme. */
  picture() {
    const theme = getComputedStyle(this.root).colorScheme;
    const query = write({ ...this.state, theme, controls: null }, this.usual, this.recipe);
    return `${this.root.dataset.still}${query}`;
  }

  // Commands

  /** Set a parameter. Throws a RangeError for an unknown name, or a value that the parameter cannot have.
   * @param {string} name @param {number} value */
  set(name, value) {
    if (this.#state.set(name, value)) this.#schedule();
  }

  /** Set the progress, and end any move to a stage. Playing goes on; the opening (playing by itself) ends.
   * @param {number} progress in stages, from 0 to `last`; otherwise throws a RangeError */
  seek(progress) {
    this.#state.seek(progress);
    this.#schedule();
  }

  /** Remember the present value of a parameter or of the progress, and whether the reader has set it. Returns
   * a function that restores both (see `Restore` in controls.mjs). @param {string} name of the parameter, or
   * "progress" @returns {Restore} */
  remember(name) {
    const isTouched = this.#state.touched(name);
    const value = name === "progress" ? this.progress : this.params[name];
    return (moved) => {
      if (moved && name === "progress") this.seek(value);
      else if (moved) this.set(name, value);
      this.#state.touch(name, isTouched);
    };
  }

  play() {
    this.#state.play();
    this.#schedule();
  }

  /** Start the opening: play the scene by itself. Does nothing if the reader has already set something. */
  begin() {
    this.#state.open();
    this.#schedule();
  }

  pause() {
    this.#state.pause();
    if (this.#state.known) this.#schedule();
  }

  /** Stop the clock (such as the training step) if it runs; otherwise start it, to run to its end. */
  toggleClock() {
    this.#state.toggleClock();
    this.#schedule();
  }

  /** Run the clock, the parameter that can play by itself, from one value to another. @param {number} from
   * @param {number} to */
  runThrough(from, to) {
    this.#state.replay(from, to);
    this.#schedule();
  }

  /** Stop the clock, if it runs. */
  stop() {
    this.#state.stop();
  }

  toggle() {
    if (this.playing) this.pause();
    else this.play();
  }

  /** Move to a stage, or jump there for readers who prefer reduced motion. @param {number} stage */
  goTo(stage) {
    this.#state.goTo(stage, prefersReducedMotion());
    this.#schedule();
  }

  /** Move to the next stage, or for a negative number to the previous one. @param {number} by positive or
   * negative; its size does not matter */
  step(by) {
    this.goTo(this.#state.adjacentStage(by));
  }

  reset() {
    this.#state.reset();
    this.fly(null);
  }

  /** Follow (select) the point with this index. @param {number} index */
  follow(index) {
    this.#state.follow(index);
    this.#schedule();
  }

  /** The positions of a cloud's points in the most recently drawn frame, as one flat array.
   * @param {string} cloud */
  drawn(cloud) {
    return this.at[cloud];
  }

  /** Set choices: load their recipe and show it. @param {Record<string, string>} changed the new values, by
   * name @returns a promise that resolves to whether the scene then has these choices; to undefined if a
   * later change has replaced this one */
  choose(changed) {
    return this.#changes.choose(changed);
  }

  /** Go to a stop of the tour, or to another state. @param {Record<string, string>} stop the state, as the
   * names and values in a link's query; values that it does not name get their defaults. A wrong value
   * leaves the figure as it is, with a notice @param {boolean} [linked] whether the page's link asks for
   * this stop: then values that the reader has set since the page began to load stay */
  go(stop, linked = false) {
    return this.#changes.visit(stop, linked);
  }

  /** Cancel the loading of a stop of the tour, if the server has not answered yet. */
  giveUpStop() {
    this.#changes.giveUpStop();
  }

  /** Show the recipe of a running training, if it can be shown now (`Growth.show`). @param {Recipe} recipe */
  showTraining(recipe) {
    this.#growth.show(recipe);
  }

  /** Register a callback that is offered each change of choices while a training is shown; it returns
   * whether it handles the change. Null removes the callback. @param {((changed: Record<string, string>) =>
   * boolean) | null} interceptor */
  interceptChoices(interceptor) {
    this.#growth.intercept(interceptor);
  }

  /** Set choices without loading their recipe: the running training will send it.
   * @param {Record<string, string>} choices */
  setChosen(choices) {
    this.#state.setChosen(choices);
    for (const [name, value] of Object.entries(choices)) {
      const field = /** @type {HTMLInputElement | null} */ (this.root.querySelector(`#choice-${name}`));
      if (field) field.value = value;
    }
  }

  /** Move the camera smoothly, on an arc around the origin, or let it jump for readers who prefer reduced
   * motion. @param {import("./link.mjs").State["camera"]} camera the camera at the end; null for the scene's
   * initial camera */
  fly(camera) {
    this.#camera.fly(camera);
    this.#schedule();
  }

  /** Show a message to the reader until the next one. @param {string} words the message; "" hides the present
   * one @param {"alert" | "status"} [role] "alert": screen readers say it at once; "status": after their
   * present sentence */
  notice(words, role = "alert") {
    const part = this.part("notice");
    if (part) {
      part.role = role;
      if (part.textContent !== words) part.textContent = words; // a screen reader says the same words once
      part.hidden = !words;
    }
  }

  fullscreen() {
    if (document.fullscreenElement) document.exitFullscreen();
    else this.root.requestFullscreen?.().catch(() => {}); // a refused request changes nothing
  }

  /** Download a picture of the figure as it is now. */
  async save() {
    await this.#frames.settle();
    await save(this);
  }

  recolor() {
    if (this.#state.known) this.#frames.settle();
  }

  close() {
    this.#life.abort();
    this.#scheme.disconnect();
  }

  closePanels() {
    this.#parts.closePanels();
  }

  /** Register a function to call after each frame, from now on. @param {() => void} listener */
  whenShown(listener) {
    this.#frames.listeners.push(listener);
  }

  #schedule() {
    this.#frames.schedule();
  }
}
