// @ts-check
/**
 * The player: the loop between the hand and the painter. The state (state.mjs) comes from the link and goes
 * back into it; the server is asked for a recipe when a choice changes, and for nothing else. growth.mjs is
 * what a training adds.
 *
 * It fills the parts that it finds in its element (mount.mjs): .views, .choices, .parameters, .more,
 * .scrubber, .numbers, .formula, .explained, .text, .notice. With a `data-query`, that is its state, and the
 * link of the page is let alone; `data-controls` names the controls that are shown.
 */

import { unpack } from "../engine/engine.mjs";
import { edgeOn } from "../engine/geometry.mjs";
import { handles, release } from "./handles.mjs";
import { collage, home, plotly } from "../painter/views.mjs";
import { h } from "../dom.mjs";
import { description } from "./describe.mjs";
import { Grip } from "./grip.mjs";
import { Growth } from "./growth.mjs";
import { read, split, tooLong, write } from "./link.mjs";
import { FLIGHT, LONGEST, inFlight } from "./motion.mjs";
import { color, count, fill, open, pictured } from "./mount.mjs";
import { headline } from "./numbers.mjs";
import { opening } from "./opening.mjs";
import { ask } from "./source.mjs";
import { State } from "./state.mjs";

/**
 * @typedef {import("../painter/painter.mjs").Panel} Panel
 *
 * @typedef {object} Commands what the page does for a player
 * @property {(player: Player) => void} share
 * @property {(page: Element) => void} help
 * @property {(player: Player) => void} present
 * @property {(player: Player) => void} goOn presents again, after a step from one scene to the next
 */

const PAPER = 660; // pixels of a line on paper
const REST = 250;
const NEWS = 2000;
const SLOW = 4000; // milliseconds
const LATE = "The figure is still loading.";
const AWAY = "The server does not answer. What is on the page still works";
const calm = matchMedia("(prefers-reduced-motion: reduce)");

export class Player {
  #state;
  #growth;
  /** @type {Panel[]} */ #panels = [];
  /** @type {Panel | undefined} the one that the hand turned last */ #by = undefined;
  /** @type {Record<string, string> | null} choices that are asked for */ #wanted = null;
  /** @type {Promise<unknown>} changes of recipe, one after the other */ #line = Promise.resolve();
  #asking = new AbortController();
  #listen = new AbortController();
  #scheme = new MutationObserver(() => this.recolor());
  /** @type {(() => void)[]} */ #shows = [];
  /** @type {(() => void)[]} of others */ #heard = [];
  /** @type {() => void} tells the state in words */ #describe = () => {};
  /** @type {(player: Player) => void} shows the numbers */ #counted = () => {};
  /** @type {import("./motion.mjs").Flight | null} */ #flight = null;
  /** @type {import("./tour.mjs").Tour | null} */ #tour = null;
  /** @type {import("../engine/crowds.mjs").Crowd[][] | null} at rest */ #crowds = null;
  #closed = false;
  #living = false; // whether the first panel shows the recipe
  #ready = false; // whether all panels do
  #linked = 0; // the stop of the tour that the link names, until it is called; 0 for none
  #following = false; // a link that is not yet shown, hence not to be written over
  #scheduled = 0;
  #time = 0;
  #resting = 0;
  #grip;
  /** Whether a hand holds something: nothing settles until it lets go. */ pressed = false;

  /** @param {HTMLElement} root @param {Commands} commands */
  constructor(root, commands) {
    this.root = root;
    this.commands = commands;
    this.slug = root.dataset.slug ?? "";
    this.path = location.pathname;
    this.#state = new State(JSON.parse(root.dataset.choices ?? "{}"));
    this.#grip = new Grip(root, this.#listen.signal);
    this.#growth = new Growth({
      state: this.#state,
      panels: () => (this.#ready ? this.#panels : []),
      count: () => this.#count(),
      draw: () => this.#schedule(),
    });
  }

  // What others may know

  get usual() {
    return this.#state.usual;
  }
  get recipe() {
    return this.#state.recipe;
  }
  /** Whether there is a recipe yet. */
  get known() {
    return this.#state.known;
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
  get theme() {
    return this.#state.theme;
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
  /** At rest, for each view, the places that many points share. */
  get crowds() {
    return this.#crowds;
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
  /** Whether this is the scene's first run. */
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
    return this.#flight;
  }
  get panels() {
    return this.#panels;
  }
  get tour() {
    return this.#tour;
  }
  get wanted() {
    return this.#wanted;
  }
  get ready() {
    return this.#ready;
  }
  get closed() {
    return this.#closed;
  }
  /** Whether a frame is to come. */
  get scheduled() {
    return this.#scheduled;
  }
  /** Aborts when the player goes. */
  get life() {
    return this.#listen.signal;
  }

  /** Whether this is a figure by itself, in a page that is not the scene's. */
  get apart() {
    return "query" in this.root.dataset;
  }

  /** What a link carries. */
  get state() {
    return this.#state.link;
  }

  /** The state as a query, with its ?, what differs from the defaults only. */
  get query() {
    return this.#state.query;
  }

  /** A part of the page; Plotly has classes of the same names, but deeper down. @param {string} name */
  part(name) {
    return /** @type {HTMLElement | null} */ (
      this.root.querySelector(`:scope > .${name}, :scope > * > .${name}, :scope > .spread > * > .${name}`)
    );
  }

  /** A part that the page must have. @param {string} name @returns {HTMLElement} */
  need(name) {
    const part = this.part(name);
    if (!part) throw new Error(`the scene's element has no .${name}`);
    return part;
  }

  async start() {
    const { signal } = this.#listen;
    const held = ".figure, .formula, input[type=range]";
    const released = () => {
      this.pressed = false;
      this.#growth.release();
      this.#rest();
    };
    addEventListener(
      "popstate",
      () => {
        if (!this.apart && location.pathname === this.path) this.restore();
      },
      { signal },
    );
    for (const when of ["beforeprint", "afterprint"]) {
      addEventListener(when, () => this.#print(when === "beforeprint"), { signal });
    }
    addEventListener("pointerup", released, { signal });
    addEventListener("pointercancel", released, { signal });
    addEventListener(
      "normscape:theme",
      (event) => {
        this.#state.paint(/** @type {CustomEvent<string>} */ (event).detail);
        this.#rest();
      },
      { signal },
    );
    this.root.addEventListener(
      "pointerdown",
      (event) => {
        const target = /** @type {Element} */ (event.target);
        this.pressed = Boolean(target.closest(held));
        if (target.closest(".flat .figure")) this.#growth.hold();
      },
      { signal, capture: true },
    );
    this.#scheme.observe(document.documentElement, { attributeFilter: ["data-scheme"] });
    // asked for while the recipe comes; who needs it says if it did not
    plotly(this.root.dataset.plotly ?? "").catch(() => {});
    await this.restore();
  }

  /** On paper the views are those of the screen, as small as paper is. @param {boolean} on */
  #print(on) {
    const { clientWidth: width, clientHeight: height, style } = this.need("views");
    Object.assign(
      style,
      on
        ? { width: `${width}px`, height: `${height}px`, zoom: String(Math.min(1, PAPER / width)) }
        : { width: "", height: "", zoom: "" },
    );
    for (const panel of this.#panels) panel.print(on);
  }

  /** One change of recipe after the other. One that a later one has overtaken is given up: `stale` tells.
   * @template T @param {(stale: () => boolean) => Promise<T>} change @returns {Promise<T | undefined>} */
  #next(change) {
    this.#asking.abort();
    const asking = (this.#asking = new AbortController());
    const stale = () => this.#closed || asking.signal.aborted;
    const said = () => this.part("notice")?.textContent ?? "";
    let before = ""; // what stands there when it gets late is said again
    const late = setTimeout(() => {
      if (!stale()) {
        before = said();
        this.notice(LATE);
      }
    }, SLOW);
    const done = this.#line
      .then(() => (stale() ? undefined : change(stale)))
      .finally(() => {
        clearTimeout(late);
        if (!stale() && said() === LATE) this.notice(before);
      });
    this.#line = done.catch(() => {
      if (!stale()) this.notice("The figure could not be drawn. Reload the page to try again.");
    });
    return done;
  }

  /** The state of the page's link. */
  restore() {
    this.#wanted = null;
    this.#following = true;
    this.#linked = 0;
    this.#state.begin();
    return this.#next(async (stale) => {
      const usual = { ...this.usual };
      const { chosen, rest, wrong } = split(this.root.dataset.query ?? location.search, this.usual);
      let answer = await this.#ask({ ...usual, ...chosen });
      const { refused } = answer;
      if (refused) {
        wrong.push(refused);
        answer = await this.#ask(usual);
      }
      const asked = answer.recipe && read(rest, answer.recipe);
      wrong.push(...(asked?.wrong ?? []));
      if (wrong.length && !refused && answer.recipe) answer = await this.#ask(usual);
      await this.#grip.free();
      if (stale()) return;
      this.#following = false;
      if (!asked || !answer.recipe)
        return this.notice(
          this.known ? `${AWAY}.` : "The server does not answer. Reload the page to try again.",
        );
      this.notice(
        wrong.length
          ? `This link has an error: ${wrong.join("; ")}. The scene starts from its default state.`
          : "",
      );
      this.#linked = wrong.length ? 0 : asked.state.tour;
      this.#take(answer, wrong.length ? read({}, answer.recipe).state : asked.state);
      await this.#mount();
      if (!this.#linked || this.#closed) return;
      this.#tour?.open(this.#linked - 1);
      this.commands.goOn(this);
    });
  }

  /** The recipe for some choices, or what was wrong with them, in words; neither, if the server does not
   * answer. @param {Record<string, string>} choices */
  #ask(choices) {
    return ask(this.root, choices, this.usual, this.#asking.signal);
  }

  /** @param {import("./source.mjs").Answer} answer @param {Parameters<State["take"]>[2]} link */
  #take({ choices, recipe }, link) {
    if (!recipe) return;
    this.#living = this.#ready = this.#following = false;
    this.#flight = null;
    this.#state.take(recipe, choices, link);
    if (link.theme) dispatchEvent(new CustomEvent("normscape:theme", { detail: link.theme }));
  }

  /** Build the parts for the recipe. */
  async #mount() {
    const tree = /** @type {Document | ShadowRoot} */ (this.root.getRootNode());
    const focused = tree.activeElement?.id;
    release(this.#panels);
    this.#shows = fill(this, {
      count: () => this.#count(),
      tour: (tour) => {
        this.#tour = tour;
      },
    });
    this.#shows.push(() => this.#counted(this));
    this.#show();
    if (focused && tree.activeElement?.id !== focused) tree.getElementById(focused)?.focus();
    await open(this, () => this.#state.frame(true), {
      panels: (panels) => {
        this.closePanels();
        this.#panels = panels;
        return panels;
      },
      living: () => {
        this.#living = true;
        this.#schedule();
        this.root.dispatchEvent(new Event("normscape:living"));
      },
      picked: (layer, point) => this.#picked(layer, point),
      turned: (camera, panel) => this.#turned(camera, panel),
    });
    if (this.#closed) return;
    this.#shows.push(...pictured(this), ...headline(this), handles(this));
    this.#describe = description(this);
    this.part("views")?.setAttribute("aria-busy", "false");
    this.#living = this.#ready = true;
    this.#schedule();
    this.root.dispatchEvent(new Event("normscape:ready"));
    opening(this);
  }

  /** Whether the hand has a control. @param {string} name */
  offers(name) {
    return this.#named?.includes(name) ?? true;
  }

  /** Whether some controls are folded away: not where a link names those that it has. */
  get folds() {
    return !this.#named;
  }

  get #named() {
    return this.root.dataset.controls?.split(",") ?? this.#state.controls;
  }

  /** The numbers of the recipe, in their part. */
  #count() {
    const part = this.part("numbers");
    this.#counted = part ? count(part, this.recipe) : () => {};
  }

  /** A click on a point follows it and opens what it stands for, or sets the choice that stands for it.
   * @param {import("../engine/recipe.d.ts").Mark} layer @param {number} point */
  #picked({ hand }, point) {
    if (hand?.kind === "choose") return this.choose({ [hand.choice]: String(unpack(hand.numbers)[point]) });
    if (hand?.kind === "replay") return this.replay(hand, point);
    this.follow(point);
    this.open();
  }

  /** What happens around a point of a mark: followed, seen at the stage where it happens, and run through.
   * @param {import("../engine/recipe.d.ts").Replay} hand @param {number} point */
  replay({ spans, follow, progress }, point) {
    const [from, to] = unpack(spans).subarray(2 * point, 2 * point + 2);
    const who = unpack(follow)[point];
    const stage = unpack(progress)[point];
    if (who >= 0) this.follow(who);
    if (stage >= 0) this.seek(stage);
    this.#state.replay(from, to);
    this.#schedule();
  }

  /** The page of what the followed point stands for, where there is one, with the state that its link names.
   */
  open() {
    const hands = this.recipe.views.flatMap((view) => view.layers.map((mark) => mark.hand));
    const { page } = this.root.dataset;
    const link = hands.find((hand) => hand?.kind === "open")?.links[this.followed];
    if (!link || !page) return;
    this.#write();
    const [slug, query] = link.split("?");
    const url = page.replace("{slug}", slug) + (query ? `?${query}` : "");
    if (this.apart) window.open(url, "_blank", "noopener");
    else location.assign(url);
  }

  /** The camera to where a view's plane is seen edge on, on this side of it. @param {Panel} panel */
  edgeOn(panel) {
    this.#state.touch("camera");
    this.#flyEdgeOn(panel);
  }

  /** @param {Panel} panel */
  #flyEdgeOn(panel) {
    const {
      view: { edge },
      ranges,
    } = panel;
    const sides = ranges.map(([low, high]) => high - low);
    const { eye } = panel.camera();
    const seen = edgeOn(
      this.at[/** @type {string} */ (edge)],
      eye.map((e, i) => e * sides[i]),
    );
    if (seen) this.fly({ eye: seen.map((e, i) => e / sides[i]), center: [0, 0, 0] });
  }

  /** Where the server has the picture of the present state, in the present colours. */
  picture() {
    const theme = getComputedStyle(this.root).colorScheme;
    const query = write({ ...this.state, theme, controls: null }, this.usual, this.recipe);
    return `${this.root.dataset.still}${query}`;
  }

  // What the hand and other scripts do

  /** @param {string} name @param {number} value */
  set(name, value) {
    if (this.#state.set(name, value)) this.#schedule();
  }

  /** @param {number} progress */
  seek(progress) {
    this.#state.seek(progress);
    this.#schedule();
  }

  play() {
    this.#state.play();
    this.#schedule();
  }

  /** The scene's first run. */
  begin() {
    this.#state.open();
    this.#schedule();
  }

  pause() {
    this.#state.pause();
    if (this.known) this.#schedule();
  }

  /** The clock runs to its end, or stands still. */
  run() {
    this.#state.run();
    this.#schedule();
  }

  stop() {
    this.#state.stop();
  }

  toggle() {
    if (this.playing) this.pause();
    else this.play();
  }

  /** To a stage: a move, or a cut for those who asked for no motion. @param {number} stage */
  goTo(stage) {
    this.#state.goTo(stage, calm.matches);
    this.#schedule();
  }

  /** @param {number} by */
  step(by) {
    this.goTo(this.#state.beside(by));
  }

  reset() {
    this.#state.reset();
    this.fly(null);
    this.#schedule();
  }

  /** @param {number} index */
  follow(index) {
    this.#state.follow(index);
    this.#schedule();
  }

  /** The positions of a cloud that are on the screen now. @param {string} cloud */
  drawn(cloud) {
    return this.at[cloud];
  }

  /** New choices: a new recipe, with all that can be kept. @param {Record<string, string>} changed
   * @returns {Promise<boolean>} whether the scene has them now */
  async choose(changed) {
    if (!this.known) return false;
    if (!this.#wanted && !this.#linked && !this.#state.arriving) this.#state.begin();
    for (const name of Object.keys(changed)) this.#state.touch(name);
    return this.#change(changed);
  }

  /** A new recipe, and then the stop of the tour that is on its way. @param {Record<string, string>} changed
   * @returns {Promise<boolean>} */
  async #change(changed) {
    const long = tooLong(changed, this.recipe.choices);
    if (long) return this.#refuse(`${long}. The picture is as it was.`);
    if (!this.#wanted && this.#growth.takes(changed)) return this.#arrive();
    const choices = (this.#wanted = {
      ...(this.#wanted ?? this.choices),
      ...this.#given(changed),
      ...changed,
    });
    const done = await this.#next(async (stale) => {
      if (Object.entries(choices).every(([name, value]) => String(value) === String(this.choices[name]))) {
        await this.#grip.free();
        if (stale()) return false;
        this.#wanted = null;
        return this.#arrive();
      }
      const answer = await this.#ask(choices);
      const { recipe } = answer;
      await this.#grip.free();
      if (stale()) return false;
      this.#wanted = null;
      if (!recipe) this.#state.begin();
      if (!recipe)
        return this.#refuse(
          answer.refused
            ? `${answer.refused}. The picture is as it was.`
            : `${AWAY}; a new choice must wait.`,
        );
      this.notice("");
      this.#write();
      this.#take(answer, this.#state.kept(recipe));
      this.#write(true);
      await this.#mount();
      return !stale() && this.#arrive();
    });
    return done ?? false;
  }

  /** Results that new choices give up. @param {Record<string, string>} changed
   * @returns {Record<string, string>} */
  #given(changed) {
    const gone = this.recipe.choices.filter((c) => c.of?.some((name) => name in changed));
    return Object.fromEntries(gone.map((c) => [c.name, String(c.default)]));
  }

  /** What a training has by now. @param {import("../engine/engine.mjs").Recipe} recipe */
  live(recipe) {
    this.#growth.show(recipe);
  }

  /** Whom choices are offered to while a training is shown.
   * @param {((changed: Record<string, string>) => boolean) | null} turn */
  train(turn) {
    this.#growth.follow(turn);
  }

  /** Choices that the next news of a training has. @param {Record<string, string>} choices */
  tell(choices) {
    this.#state.tell(choices);
    for (const [name, value] of Object.entries(choices)) {
      const field = /** @type {HTMLInputElement | null} */ (this.root.querySelector(`#choice-${name}`));
      if (field) field.value = value;
    }
  }

  /** Say why, and let the lists show again what the scene has; what was typed stays to be mended.
   * @param {string} words */
  #refuse(words) {
    this.notice(words);
    for (const select of /** @type {NodeListOf<HTMLSelectElement>} */ (
      this.root.querySelectorAll(".controls select")
    ))
      select.value = this.choices[select.id.replace("choice-", "")];
    return false;
  }

  /** To a stop of the tour, which fixes the whole state: what it does not name is as the scene has it, and
   * what the reader sets before it has arrived is as the reader has it. @param {Record<string, string>} stop
   * @param {boolean} [linked] whether the page's link asks for it */
  async go(stop, linked = false) {
    const { chosen, rest } = split(new URLSearchParams(stop).toString(), this.usual);
    const present = this.#wanted ?? this.choices;
    this.#linked = 0;
    this.#state.call(rest, linked);
    const other = Object.entries({ ...this.usual, ...chosen }).filter(
      ([name, value]) => String(value) !== String(present[name]) && !this.#state.touched(name),
    );
    await this.#change(Object.fromEntries(other));
  }

  /** The stop of the tour that is on its way, if one is: its recipe is there. */
  #arrive() {
    const to = this.#state.arrive(calm.matches);
    if (to) this.fly(to.camera);
    this.#schedule();
    return true;
  }

  /** The camera, along the sphere, to a place; null is the scene's own.
   * @param {import("./link.mjs").State["camera"]} camera */
  fly(camera) {
    this.#by = undefined;
    const panel = this.#panels.find((p) => p.is3d);
    this.#state.look(camera);
    if (!panel) return this.#schedule();
    const to = camera ?? home(panel.view);
    if (calm.matches) this.#panels.forEach((p) => p.setCamera(to));
    else this.#flight = { from: panel.camera(), to, done: 0 };
    this.#schedule();
  }

  /** A message that stays until the next. @param {string} words */
  notice(words) {
    const part = this.part("notice");
    if (part) {
      part.textContent = words;
      part.hidden = !words;
    }
  }

  fullscreen() {
    if (document.fullscreenElement) document.exitFullscreen();
    else this.root.requestFullscreen?.().catch(() => {}); // where a page may not, it stays as it is
  }

  share() {
    this.commands.share(this);
  }

  help() {
    this.commands.help(this.root.closest(".page") ?? document.body);
  }

  present() {
    this.commands.present(this);
  }

  /** The picture as it is now, all views beside each other. */
  async save() {
    await this.#settle();
    if (!this.#panels.length) {
      if (this.root.dataset.still) h("a", { href: this.picture(), download: `${this.slug}.svg` }).click();
      return;
    }
    const canvas = await collage(this.#panels, color(this.root, "paper"));
    h("a", { href: canvas.toDataURL("image/png"), download: `${this.slug}.png` }).click();
  }

  recolor() {
    if (this.known) this.#settle();
  }

  close() {
    this.#closed = true;
    this.#listen.abort();
    this.#asking.abort();
    this.#scheme.disconnect();
    cancelAnimationFrame(this.#scheduled);
    clearTimeout(this.#resting);
    this.closePanels();
  }

  closePanels() {
    for (const panel of this.#panels) panel.close();
    this.#panels = [];
  }

  // The loop

  #schedule() {
    this.#scheduled ||= requestAnimationFrame((time) => this.#tick(time));
  }

  /** @param {number} time */
  #tick(time) {
    this.#scheduled = 0;
    if (this.#closed || !this.#living) return;
    const passed = this.#time ? Math.min(time - this.#time, LONGEST) : 0;
    if (this.#state.advance(passed, calm.matches)) this.#end();
    const frame = this.#state.frame(false);
    this.#crowds = null;
    this.#panels.forEach((panel, v) => panel.paint(frame[v]));
    if (this.#flight) this.#flyOn(this.#flight, passed);
    this.#show();
    const moving = this.#state.moves || this.#flight;
    this.#time = moving ? time : 0;
    if (moving) this.#schedule();
    else this.#rest();
  }

  /** The end of a run: what a plane has parted is turned until the plane is seen edge on, unless the reader
   * has turned it. */
  #end() {
    const panel = this.#panels.find(({ view }) => view.edge);
    if (panel && !this.#state.turned) this.#flyEdgeOn(panel);
  }

  /** @param {import("./motion.mjs").Flight} flight @param {number} passed */
  #flyOn(flight, passed) {
    flight.done += passed;
    const camera = inFlight(flight);
    for (const panel of this.#panels) panel.setCamera(camera);
    if (flight.done >= FLIGHT) this.#flight = null;
  }

  /** Call a function whenever the state is shown, as long as the player lives. @param {() => void} hear */
  whenShown(hear) {
    this.#heard.push(hear);
  }

  #show() {
    for (const show of [...this.#shows, ...this.#heard]) show();
  }

  /** When motion has stopped for a moment and no hand is on the figure: settle, and write the link. */
  #rest() {
    clearTimeout(this.#resting);
    if (this.#closed) return;
    const settle = () => {
      if (!this.#scheduled && !this.#state.moves && !this.#flight && !this.pressed) this.#settle();
    };
    // a slow frame is no rest
    this.#resting = window.setTimeout(() => requestAnimationFrame(settle), this.growing ? NEWS : REST);
  }

  async #settle() {
    if (this.#closed || !this.#ready) return;
    const still = /** @type {HTMLImageElement | null} */ (this.root.querySelector(".still img.live"));
    if (still) still.src = this.picture();
    const frame = this.#state.frame(true);
    const crowds = (this.#crowds = this.#state.crowds);
    const turned = this.#by;
    if (turned && this.#panels.includes(turned) && this.camera && !this.#flight) {
      this.#state.look(turned.camera());
      for (const panel of this.#panels) if (panel !== turned) panel.setCamera(turned.camera());
    }
    if (!this.growing) this.#describe(); // what changes by itself is not read out
    await Promise.all(this.#panels.map((panel, v) => panel.settle(frame[v], crowds[v])));
    this.#write();
  }

  /** The state into the link, on the scene's own page. @param {boolean} [push] as a new step of the history
   */
  #write(push = false) {
    const query = this.query;
    this.root.dispatchEvent(new CustomEvent("normscape:state", { detail: query, bubbles: true }));
    if (
      this.apart ||
      this.#closed ||
      this.growing ||
      (this.#following && !push) ||
      location.pathname !== this.path ||
      query === location.search
    )
      return;
    history[push ? "pushState" : "replaceState"](history.state, "", (query || this.path) + location.hash);
  }

  /** @param {{eye: number[], center: number[]}} camera @param {Panel} by */
  #turned(camera, by) {
    const known = this.camera ?? home(by.view);
    const far = (/** @type {number[]} */ a, /** @type {number[]} */ b) =>
      a.some((x, i) => Math.abs(x - b[i]) > 1e-4);
    if (!far(camera.eye, known.eye) && !far(camera.center, known.center)) return; // a click turns nothing
    this.#state.turn(camera);
    this.#by = by;
    this.#flight = null;
    for (const panel of this.#panels) if (panel !== by) panel.setCamera(camera);
    this.#rest();
  }
}
