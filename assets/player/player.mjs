// @ts-check
/**
 * The player: the loop between the hand and the painter. State comes from the link and goes back into it; the server is
 * asked for a recipe when a choice changes, and for nothing else.
 *
 * It fills the parts that it finds in its element (mount.mjs): .views, .choices, .parameters, .scrubber, .numbers, .formula,
 * .text, .notice. With a `data-query`, that is its state, and the link of the page is let alone; `data-controls` names the
 * controls that are shown.
 */

import { clockOf, cloudOf, now, stages, unpack } from "../engine/engine.mjs";
import { plane } from "../engine/geometry.mjs";
import { follows, opacityOf, pointsOf, valuesOf } from "../engine/marks.mjs";
import { h } from "./controls.mjs";
import { defaults, pointCount, read, split, texts, within, write } from "./link.mjs";
import { description } from "./describe.mjs";
import { handles, release } from "../painter/handles.mjs";
import { help } from "../page/keys.mjs";
import { FLIGHT, LONGEST, along, clockAfter, inFlight, isOver, nextLeg, stageBeside } from "./motion.mjs";
import { color, count, explain, fill, open, pictured } from "./mount.mjs";
import { present } from "../page/present.mjs";
import { share } from "../page/share.mjs";
import { ask } from "./source.mjs";
import { collage, home, plotly } from "../painter/views.mjs";

/** @typedef {import("../painter/painter.mjs").Panel} Panel */

const REST = 250, NEWS = 2000, SLOW = 4000; // milliseconds
const LATE = "The figure is still on its way.";
const AWAY = "The server does not answer. What is on the page still works";
const calm = matchMedia("(prefers-reduced-motion: reduce)");

/** @type {WeakMap<Float32Array, string[]>} of each point of a cloud where it is, for hovering */
const told = new WeakMap();

export class Player {
  /** @param {HTMLElement} root */
  constructor(root) {
    this.root = root;
    this.slug = root.dataset.slug ?? "";
    this.path = location.pathname;
    /** @type {Record<string, string>} */ this.usual = JSON.parse(root.dataset.choices ?? "{}");
    this.choices = { ...this.usual };
    /** @type {any} */ this.recipe = null;
    /** @type {Record<string, number>} */ this.params = {};
    /** @type {Panel[]} */ this.panels = [];
    this.progress = 0;
    this.followed = 0;
    /** @type {import("./link.mjs").State["camera"]} */ this.camera = null;
    this.theme = "";
    this.speed = 1;
    this.loop = false;
    this.playing = false;
    this.running = false; // whether the clock runs
    this.closed = false;
    this.living = false; // whether the first panel shows the recipe
    this.ready = false; // whether all panels do
    this.following = false; // a link that is not yet shown, hence not to be written over
    /** @type {Panel | undefined} */ this.turned = undefined; // the panel that the hand turned last
    /** @type {Record<string, string> | null} */ this.wanted = null;
    /** @type {Promise<any>} */ this.line = Promise.resolve();
    this.asking = new AbortController();
    /** @type {(() => void)[]} */ this.shows = [];
    /** @type {import("../engine/engine.mjs").Stages} */ this.stages = {};
    /** @type {Record<string, Float64Array>} */ this.at = {};
    /** @type {import("./motion.mjs").Leg | null} */ this.leg = null;
    /** @type {import("./motion.mjs").Flight | null} */ this.flight = null;
    /** @type {any} */ this.tour = null;
    /** @type {string[] | null} */ this.controls = null; // those that the link names, null for all
    /** @type {(rest: boolean) => void} */ this.describe = () => {};
    /** @type {(player: any) => void} */ this.counted = () => {}; // shows the numbers
    this.scheduled = 0;
    this.time = 0;
    this.resting = 0;
    this.pressed = false;
    this.picking = false; // whether the hand is on a growing flat view: what it points at must not move away
    this.growing = false; // whether the recipe came as news: no link holds it, and the next comes soon
    /** Takes choices that the next news can follow; says whether it did. @type {((changed: Record<string, string>) => boolean) | null} */
    this.turn = null;
    this.painted = { ...this.at };
    this.listen = new AbortController();
    this.scheme = new MutationObserver(() => this.recolor());
  }

  /** A part of the page; Plotly has classes of the same names, but deeper down. @param {string} name */
  part(name) { return /** @type {HTMLElement | null} */ (this.root.querySelector(`:scope > .${name}, :scope > * > .${name}`)); }

  async start() {
    const { signal } = this.listen, held = ".figure, input[type=range]";
    const released = () => { this.pressed = this.picking = false; this.#rest(); };
    addEventListener("popstate", () => { if (!this.apart && location.pathname === this.path) this.restore(); }, { signal });
    for (const when of ["beforeprint", "afterprint"]) {
      addEventListener(when, () => this.panels.forEach((panel) => panel.print(when === "beforeprint")), { signal });
    }
    addEventListener("pointerup", released, { signal });
    addEventListener("pointercancel", released, { signal });
    addEventListener("normscape:theme", (/** @type {any} */ event) => { this.theme = event.detail; this.#rest(); }, { signal });
    this.root.addEventListener("pointerdown", (event) => {
      const target = /** @type {Element} */ (event.target);
      this.pressed = Boolean(target.closest(held));
      if (this.growing && target.closest(".flat .figure")) this.#holdStill();
    }, { signal, capture: true });
    this.scheme.observe(document.documentElement, { attributeFilter: ["data-mantine-color-scheme"] });
    this.part("text")?.replaceChildren(); // Dash may keep the elements of the scene before
    for (const left of this.root.querySelectorAll(".guide, .head button")) left.remove();
    plotly(this.root.dataset.plotly ?? "").catch(() => {}); // asked for while the recipe comes; who needs it says if it did not
    await this.restore();
  }

  /** One change of recipe after the other. One that a later one has overtaken is given up: `stale` tells.
   * @template T @param {(stale: () => boolean) => Promise<T>} change @returns {Promise<T | undefined>} */
  #next(change) {
    this.asking.abort();
    const asking = (this.asking = new AbortController()), stale = () => this.closed || asking.signal.aborted;
    const late = setTimeout(() => { if (!stale()) this.notice(LATE); }, SLOW);
    const done = this.line.then(() => (stale() ? undefined : change(stale))).finally(() => {
      clearTimeout(late);
      if (!stale() && this.part("notice")?.textContent === LATE) this.notice("");
    });
    this.line = done.catch(() => { if (!stale()) this.notice("The figure could not be drawn. Reload the page to try again."); });
    return done;
  }

  /** The state of the page's link. */
  restore() {
    this.wanted = null;
    this.following = true;
    return this.#next(async (stale) => {
      const usual = { ...this.usual }, { chosen, rest, wrong } = split(this.root.dataset.query ?? location.search, this.usual);
      let answer = await this.#ask({ ...usual, ...chosen });
      const { refused } = answer;
      if (refused) {
        wrong.push(refused);
        answer = await this.#ask(usual);
      }
      const asked = answer.recipe && read(rest, answer.recipe);
      wrong.push(...(asked?.wrong ?? []));
      if (wrong.length && !refused && answer.recipe) answer = await this.#ask(usual);
      if (stale()) return;
      this.following = false;
      if (!asked || !answer.recipe) return this.notice(this.recipe ? `${AWAY}.` : "The server does not answer. Reload the page to try again.");
      this.notice(wrong.length ? `This link could not be followed: ${wrong.join("; ")}. The scene starts from its defaults.` : "");
      this.#take(answer, wrong.length ? read({}, answer.recipe).state : asked.state);
      await this.#mount();
      if (asked.state.tour && !wrong.length && !stale()) this.tour?.visit(asked.state.tour - 1);
    });
  }

  /** The recipe for some choices, or what was wrong with them, in words; neither, if the server does not answer.
   * @param {Record<string, string>} choices */
  #ask(choices) { return ask(this.root, choices, this.usual, this.asking.signal); }

  /** @param {{choices: Record<string, string>, recipe?: any}} answer @param {any} state */
  #take({ choices, recipe }, state) {
    this.living = this.ready = this.following = this.growing = false;
    Object.assign(this, { recipe, choices: { ...choices, ...texts(recipe.chosen) }, params: state.params, progress: state.progress, followed: state.follow, camera: state.camera });
    if (state.controls !== undefined) this.controls = state.controls;
    this.stages = stages(recipe, this.params);
    this.at = this.painted = now(recipe, this.stages, this.progress);
    this.flight = null;
    if (state.theme) dispatchEvent(new CustomEvent("normscape:theme", { detail: state.theme }));
    this.pause();
  }

  /** Build the parts for the recipe. */
  async #mount() {
    const focused = document.activeElement?.id;
    release(this.panels);
    this.shows = fill(this);
    this.#show();
    if (focused && document.activeElement?.id !== focused) document.getElementById(focused)?.focus();
    await open(this, () => this.#frame(true), {
      living: () => { this.living = true; this.#schedule(); this.root.dispatchEvent(new Event("normscape:living")); },
      picked: (layer, point) => this.#picked(layer, point),
      turned: (camera, panel) => this.#turned(camera, panel),
    });
    if (this.closed) return;
    this.shows.push(...pictured(this), handles(this));
    this.describe = description(this);
    this.part("views")?.setAttribute("aria-busy", "false");
    this.living = this.ready = true;
    this.#schedule();
    this.root.dispatchEvent(new Event("normscape:ready"));
  }

  /** Whether the hand has a control. @param {string} name */
  offers(name) { return (this.root.dataset.controls?.split(",") ?? this.controls)?.includes(name) ?? true; }

  /** A click on a point follows it, or sets the choice that stands for it. @param {any} layer @param {number} point */
  #picked({ hand }, point) {
    if (hand.kind === "choose") this.choose({ [hand.choice]: String(unpack(hand.numbers)[point]) });
    else this.follow(point);
  }

  /** The camera to where a view's plane is seen edge on, on this side of it. @param {Panel} panel */
  edgeOn(panel) {
    const { normal } = plane(this.at[panel.view.edge], 1), { eye } = panel.camera(), far = Math.hypot(...eye);
    const along = eye.reduce((s, e, i) => s + e * normal[i], 0), flat = eye.map((e, i) => e - along * normal[i]), length = Math.hypot(...flat);
    if (length > 1e-3 * far) this.fly({ eye: flat.map((e) => (e * far) / length), center: [0, 0, 0] });
  }

  /** Where the server has the picture of the present state, in the present colours. */
  picture() {
    const theme = document.documentElement.dataset.mantineColorScheme ?? "light";
    return `${this.root.dataset.still}${write({ ...this.state, theme, controls: null }, this.usual, this.recipe)}`;
  }

  // What the hand and other scripts do

  /** @param {string} name @param {number} value */
  set(name, value) {
    const parameter = this.recipe.parameters.find((/** @type {any} */ p) => p.name === name);
    if (!parameter || !within(parameter, value)) throw new RangeError(`${name} = ${value} is not a value of this scene`);
    if (this.params[name] === value) return;
    this.params = { ...this.params, [name]: value };
    this.stages = stages(this.recipe, this.params);
    this.#schedule();
  }

  /** @param {number} progress */
  seek(progress) {
    if (!(progress >= 0 && progress <= this.last)) throw new RangeError(`progress ${progress} is not from 0 to ${this.last}`);
    this.progress = progress;
    this.leg = null;
    this.#schedule();
  }

  /** Whether this is a figure by itself, in a page that is not the scene's. */
  get apart() { return "query" in this.root.dataset; }

  get last() { return this.recipe.stages.length - 1; }

  play() {
    if (this.playing || !this.last) return;
    if (this.progress >= this.last) this.progress = 0;
    this.playing = true;
    this.leg = null;
    this.#schedule();
  }

  pause() {
    this.playing = this.running = false;
    this.leg = null;
    if (this.recipe) this.#schedule();
  }

  /** The clock runs to its end, or stands still. */
  run() {
    const p = clockOf(this.recipe);
    if (!p) return;
    this.running = !this.running;
    if (this.running && this.params[p.name] >= p.max) this.params = { ...this.params, [p.name]: p.min };
    this.#schedule();
  }

  stop() { this.running = false; }

  toggle() { if (this.playing) this.pause(); else this.play(); }

  /** To a stage: a move, or a cut for those who asked for no motion. @param {number} stage */
  goTo(stage) {
    this.pause();
    if (calm.matches) this.seek(stage);
    else this.leg = { from: this.progress, to: stage, done: 0 };
    this.#schedule();
  }

  /** @param {number} by */
  step(by) {
    const heading = this.leg ? this.leg.to : this.progress;
    this.goTo(stageBeside(heading, by, this.last));
  }

  reset() {
    this.params = defaults(this.recipe);
    this.stages = stages(this.recipe, this.params);
    this.progress = this.recipe.progress;
    this.followed = this.recipe.follow;
    this.pause();
    this.fly(null);
  }

  /** @param {number} index */
  follow(index) {
    this.followed = index;
    this.#schedule();
  }

  /** The positions of a cloud that are on the screen now. @param {string} cloud */
  drawn(cloud) { return this.painted[cloud]; }

  /** New choices: a new recipe, with all that can be kept. @param {Record<string, string>} changed
   * @returns {Promise<boolean>} whether the scene has them now */
  async choose(changed) {
    if (!this.recipe) return false;
    if (this.growing && !this.wanted && this.turn?.(changed)) return true;
    const choices = (this.wanted = { ...(this.wanted ?? this.choices), ...this.#given(changed), ...changed });
    const done = await this.#next(async (stale) => {
      if (Object.entries(choices).every(([name, value]) => String(value) === String(this.choices[name]))) {
        this.wanted = null;
        return true;
      }
      const answer = await this.#ask(choices), { recipe } = answer;
      if (stale()) return false;
      this.wanted = null;
      if (!recipe) return this.#refuse(answer.refused ? `${answer.refused}. The picture is as it was.` : `${AWAY}; a new choice has to wait.`);
      this.notice("");
      this.#write();
      const kept = defaults(recipe), usual = defaults(this.recipe);
      for (const p of recipe.parameters) {
        const value = this.params[p.name]; // what the hand has not moved follows the new scene
        if (value !== usual[p.name] && within(p, value ?? NaN)) kept[p.name] = value;
      }
      this.#take(answer, { params: kept, progress: Math.min(this.progress, recipe.stages.length - 1),
        follow: this.followed < pointCount(recipe) ? this.followed : recipe.follow, camera: this.camera });
      this.#write(true);
      await this.#mount();
      return !stale();
    });
    return done ?? false;
  }

  /** Results that new choices give up. @param {Record<string, string>} changed @returns {Record<string, string>} */
  #given(changed) {
    const gone = this.recipe.choices.filter((/** @type {any} */ c) => c.of?.some((/** @type {string} */ name) => name in changed));
    return Object.fromEntries(gone.map((/** @type {any} */ c) => [c.name, c.default]));
  }

  /** A recipe of the same shape that is still growing, such as a training: what there is of it, at its newest.
   * @param {any} recipe */
  live(recipe) {
    const fits = this.ready && this.panels.every((panel, v) => panel.view.dims === recipe.views[v]?.dims);
    if (!fits || this.picking || recipe.views.length !== this.panels.length) return;
    const clock = clockOf(recipe);
    const told = (/** @type {any} */ { readouts, facts }) => JSON.stringify([readouts.map((/** @type {any} */ r) => r.label), facts]);
    const news = told(recipe) !== told(this.recipe) && this.part("numbers");
    this.recipe = { ...this.recipe, ...recipe };
    if (news) count(this);
    this.params = { ...this.params, [clock.name]: clock.max };
    this.stages = stages(this.recipe, this.params);
    const moved = this.panels.some((panel, v) => String(panel.view.ranges) !== String(recipe.views[v].ranges));
    this.panels.forEach((panel, v) => {
      const picks = (/** @type {any} */ { layers }) => layers.some((/** @type {any} */ l) => l.hand?.kind === "choose"), before = picks(panel.view);
      panel.view = recipe.views[v];
      if (picks(panel.view) !== before) explain(panel);
    });
    this.growing = true;
    if (moved) { const frame = this.#frame(true); this.panels.forEach((panel, v) => panel.settle(frame[v])); }
    this.#schedule();
  }

  /** Plotly finds what a click hits among what has settled: the flat views do, and nothing grows until the hand lets go. */
  #holdStill() {
    const frame = this.#frame(true);
    this.picking = true;
    this.panels.forEach((panel, v) => { if (!panel.is3d) panel.settle(frame[v]); });
  }

  /** Say why, and let the lists show again what the scene has; what was typed stays to be mended. @param {string} words */
  #refuse(words) {
    this.notice(words);
    for (const select of this.part("choices")?.querySelectorAll("select") ?? []) select.value = this.choices[select.id.replace("choice-", "")];
    return false;
  }

  /** To a stop of the tour, which fixes the whole state: what it does not name is as the scene has it.
   * @param {Record<string, string>} stop */
  async go(stop) {
    const { chosen, rest } = split(new URLSearchParams(stop).toString(), this.usual), present = this.wanted ?? this.choices;
    const other = Object.entries({ ...this.usual, ...chosen }).filter(([name, value]) => String(value) !== String(present[name]));
    if (!(await this.choose(Object.fromEntries(other)))) return;
    const { params, progress, follow, camera } = read(rest, this.recipe).state;
    this.params = params;
    this.stages = stages(this.recipe, params);
    this.followed = follow;
    this.goTo(progress);
    this.fly(camera);
  }

  /** The camera, along the sphere, to a place; null is the scene's own. @param {import("./link.mjs").State["camera"]} camera */
  fly(camera) {
    this.turned = undefined;
    const panel = this.panels.find((p) => p.is3d);
    this.camera = camera;
    if (!panel) return;
    const to = camera ?? home(panel.view);
    if (calm.matches) this.panels.forEach((p) => p.setCamera(to));
    else this.flight = { from: panel.camera(), to, done: 0 };
    this.#schedule();
  }

  /** A message that stays until the next. @param {string} words */
  notice(words) {
    const part = this.part("notice");
    if (part) { part.textContent = words; part.hidden = !words; }
  }

  fullscreen() {
    if (document.fullscreenElement) document.exitFullscreen();
    else this.root.requestFullscreen?.().catch(() => {}); // where a page may not, it stays as it is
  }

  share() { share(this); }

  help() { help(); }

  present() { present(this); }

  /** The picture as it is now, all views beside each other. */
  async save() {
    await this.#settle();
    if (!this.panels.length) {
      if (this.root.dataset.still) h("a", { href: this.picture(), download: `${this.slug}.svg` }).click();
      return;
    }
    const canvas = await collage(this.panels, color("paper"));
    h("a", { href: canvas.toDataURL("image/png"), download: `${this.slug}.png` }).click();
  }

  recolor() {
    if (this.recipe) this.#settle();
  }

  close() {
    this.closed = true;
    this.listen.abort();
    this.asking.abort();
    this.scheme.disconnect();
    cancelAnimationFrame(this.scheduled);
    clearTimeout(this.resting);
    this.closePanels();
  }

  closePanels() {
    for (const panel of this.panels) panel.close();
    this.panels = [];
  }

  // The loop

  #schedule() { this.scheduled ||= requestAnimationFrame((time) => this.#tick(time)); }

  /** @param {number} time */
  #tick(time) {
    this.scheduled = 0;
    if (this.closed || !this.living) return;
    const passed = this.time ? Math.min(time - this.time, LONGEST) : 0;
    this.#advance(passed);
    if (this.running) this.#runOn(passed);
    const frame = this.#frame(false);
    this.panels.forEach((panel, v) => panel.paint(frame[v]));
    if (this.flight) this.#flyOn(this.flight, passed);
    this.#show();
    this.describe(false);
    const moving = this.leg || this.flight || this.running;
    this.time = moving ? time : 0;
    if (moving) this.#schedule(); else this.#rest();
  }

  /** Progress runs leg by leg, with a pause at each stage. @param {number} passed milliseconds since the last frame */
  #advance(passed) {
    if (this.playing) this.leg ??= nextLeg(this.progress, this.last);
    if (!this.leg) return;
    const { leg } = this, { to } = leg;
    leg.done += passed * this.speed;
    this.progress = along(leg, calm.matches);
    if (!isOver(leg, this.playing)) return;
    this.progress = to;
    this.leg = null;
    if (this.playing && to === this.last && !this.loop) this.#end();
    else if (this.playing) this.#advance(0);
  }

  /** The end of a run: what a plane has parted is turned until the plane is seen edge on. */
  #end() {
    const panel = this.panels.find(({ view }) => view.edge);
    this.playing = false;
    if (panel) this.edgeOn(panel);
  }

  /** @param {number} passed */
  #runOn(passed) {
    const p = clockOf(this.recipe), clock = p.name, to = clockAfter(p, this.params[clock], passed * this.speed);
    this.params = { ...this.params, [clock]: to };
    this.stages = stages(this.recipe, this.params);
    if (to < p.max) return;
    if (this.loop) this.params = { ...this.params, [clock]: p.min };
    else this.stop();
  }

  /** @param {import("./motion.mjs").Flight} flight @param {number} passed */
  #flyOn(flight, passed) {
    flight.done += passed;
    const camera = inFlight(flight);
    for (const panel of this.panels) panel.setCamera(camera);
    if (flight.done >= FLIGHT) this.flight = null;
  }

  /** What is known when a frame is drawn. @returns {import("../engine/marks.mjs").Moment} */
  get moment() {
    const { recipe, stages, at, params, progress, followed } = this;
    return { recipe, stages, at, params, progress, followed };
  }

  /** What every mark of every view shows now. @param {boolean} rest with texts for hovering */
  #frame(rest) {
    const { recipe, progress } = this;
    this.at = now(recipe, this.stages, progress);
    this.painted = this.at;
    const { moment } = this;
    return recipe.views.map((/** @type {any} */ view) => view.layers.map((/** @type {any} */ mark) => ({
      points: pointsOf(mark, moment),
      opacity: opacityOf(mark, progress),
      values: valuesOf(mark, moment),
      text: rest && follows(mark) ? this.#texts(mark.cloud) : undefined,
    })));
  }

  /** @param {string} name */
  #texts(name) {
    const at = this.at[name], known = told.get(at);
    if (known) return known;
    const n = cloudOf(this.recipe, name).points.shape[0], d = at.length / n;
    const texts = Array.from({ length: n }, (_, i) => `point ${i}<br>(${Array.from(at.subarray(i * d, (i + 1) * d), (x) => x.toFixed(2)).join(", ")})`);
    told.set(at, texts);
    return texts;
  }

  #show() { for (const show of this.shows) show(); }

  /** When motion has stopped for a moment and no hand is on the figure: settle, and write the link. */
  #rest() {
    clearTimeout(this.resting);
    if (this.closed) return;
    const settle = () => { if (!this.scheduled && !this.leg && !this.flight && !this.running && !this.pressed) this.#settle(); };
    this.resting = window.setTimeout(() => requestAnimationFrame(settle), this.growing ? NEWS : REST); // a slow frame is no rest
  }

  async #settle() {
    if (this.closed || !this.ready) return;
    const still = /** @type {HTMLImageElement | null} */ (this.root.querySelector(".still img.live"));
    if (still) still.src = this.picture();
    const frame = this.#frame(true), { turned } = this;
    if (turned && this.panels.includes(turned) && this.camera && !this.flight) {
      this.camera = turned.camera();
      for (const panel of this.panels) if (panel !== turned) panel.setCamera(this.camera);
    }
    if (!this.growing) this.describe(true); // what changes by itself is not read out
    await Promise.all(this.panels.map((panel, v) => panel.settle(frame[v])));
    this.#write();
  }

  /** The state into the link, on the scene's own page. @param {boolean} [push] as a new step of the history */
  #write(push = false) {
    const query = this.query;
    this.root.dispatchEvent(new CustomEvent("normscape:state", { detail: query, bubbles: true }));
    if (this.apart || this.closed || this.growing || (this.following && !push) || location.pathname !== this.path || query === location.search) return;
    history[push ? "pushState" : "replaceState"](history.state, "", (query || this.path) + location.hash);
  }

  /** What a link carries. @returns {import("./link.mjs").State} */
  get state() {
    return { choices: this.choices, params: this.params, progress: this.progress, camera: this.camera, follow: this.followed,
      theme: this.theme, controls: this.controls, tour: 0 };
  }

  /** The state as a query, with its ?, what differs from the defaults only. */
  get query() { return write(this.state, this.usual, this.recipe); }

  /** @param {{eye: number[], center: number[]}} camera @param {Panel} by */
  #turned(camera, by) {
    const known = this.camera ?? home(by.view), far = (/** @type {number[]} */ a, /** @type {number[]} */ b) => a.some((x, i) => Math.abs(x - b[i]) > 1e-4);
    if (!far(camera.eye, known.eye) && !far(camera.center, known.center)) return; // a click turns nothing
    this.camera = camera;
    this.turned = by;
    this.flight = null;
    for (const panel of this.panels) if (panel !== by) panel.setCamera(camera);
    this.#rest();
  }
}
