// @ts-check
/** A scene's figure inside a page that is not ours. The figure is in a shadow tree, so that its styles and
 * ids and those of the page do not affect each other. Code sets the figure's properties (`show`); the
 * figure tells code what the reader has changed (`tell`). A `Giver` supplies HTML, styles and recipes: from
 * the server of a Dash application (dash_figure.mjs), or from the kernel of a notebook (kernel.mjs). */

import { h } from "../dom.mjs";
import { commands } from "../page/commands.mjs";
import { key } from "../page/keys.mjs";
import { home } from "../painter/views.mjs";
import { read } from "../player/link.mjs";
import { Player } from "../player/player.mjs";
import { NOT_DRAWN_TEXT } from "../player/recipe_changes.mjs";
import { ask } from "../player/source.mjs";
import { Binding, fulfils, paced, query, same, toAdopt, without } from "./binding.mjs";
import { PROPERTIES, unknownParameter, wrongProperty } from "./properties.mjs";
/** @import { Plotly } from "../globals.mjs" */
/** @import { State } from "./binding.mjs" */

/** @typedef {State & {slug?: string, controls?: string[] | null, theme?: string | null}} Props */
/**
 * @typedef {object} Giver
 * @property {() => {sheet: HTMLElement, there: Promise<unknown>}} styles the stylesheet for the shadow tree
 *   (sheet), and a promise that resolves when its loading has ended, successfully or not (there)
 * @property {(slug: string, search: URLSearchParams, signal: AbortSignal) => Promise<{html?: string,
 *   refused?: string}>} figure the HTML of a scene's figure, with a still picture (html), or an error message
 *   (refused); `search` has the state as in the address of an embedded figure
 * @property {(root: HTMLElement) => string} dress sets the element's data attributes for its player; returns
 *   the address of Plotly's script
 * @property {(host: HTMLElement) => "light" | "dark"} scheme the theme of the surrounding page
 */

const REPORT_INTERVAL_MS = 100; // milliseconds between two reports of changes
const HOLD_MS = 2000; // milliseconds that later properties wait for choices whose recipe does not come

export class Figure {
  /** Set up an empty figure in the element `host`; `show` gives it a scene. @param {HTMLElement} host @param
   * {Giver} giver @param {(news: State) => void} tell called with the properties that the reader has
   * changed */
  constructor(host, giver, tell) {
    this.host = host;
    this.giver = giver;
    this.tell = tell;
    this.page = h("div", { className: "page embed" });
    this.binding = new Binding();
    /** @type {Props} */ this.props = {};
    // The properties that the figure has not adopted yet, with the values that code has set last
    /** @type {State} */ this.pending = {};
    // Null from the moment when code sets another scene until its figure is made. Closed from the moment when
    // code sets other controls until the figure with these is made. Has no recipe until its first is loaded
    /** @type {Player | null} */ this.player = null;
    // The state that a figure with other controls takes over from the one before; null if there is none
    /** @type {State | null} */ this.left = null;
    this.opening = new AbortController(); // aborts when the figure that is being opened is replaced
    // The pending choices whose recipe is being loaded into the open figure; null if none is
    /** @type {State["choices"] | null} */ this.choosing = null;
    this.pace = paced(() => this.#report(), REPORT_INTERVAL_MS);
    /** @type {Promise<unknown>} */ this.queue = Promise.resolve();
    this.goOn = () => {}; // lets the next turn in the queue begin
    this.closed = new AbortController();
    this.#dress();
  }

  /** Set all properties. Another slug or other controls open a new figure; other changes are applied to the
   * present figure. @param {Record<string, any>} given */
  show(given) {
    const /** @type {Props} */ props = Object.fromEntries(
        PROPERTIES.map((name) => [name, given[name] ?? undefined]),
      );
    if (same(props, this.props)) return;
    const another = props.slug !== this.props.slug;
    const other = another || !same(props.controls, this.props.controls);
    const rechosen = !same(props.choices, this.props.choices);
    this.binding.fresh ||= another;
    const news = this.binding.asked(props, this.pending);
    this.props = props;
    this.pending = toAdopt(another ? {} : this.pending, news, props);
    this.#color();
    // what is replaced holds up the queue no longer
    if (other || (rechosen && !this.player?.recipe)) {
      this.opening.abort();
      this.player?.close();
    }
    if (another) this.player = this.left = null;
    this.#next(() => this.#adopt(news));
  }

  /** Close the figure. It then adopts no more properties, and reports no more changes. */
  close() {
    this.closed.abort();
    this.pace.stop();
    this.player?.close();
  }

  /** Queue a turn: an asynchronous change of the figure. It begins when the turn before it is done, or when
   * `this.goOn` is called. If it fails, an error message is shown in place of the figure.
   * @param {() => Promise<unknown>} turn */
  #next(turn) {
    this.queue = this.queue.then(() => {
      if (this.closed.signal.aborted) return;
      const done = turn().catch((error) => {
        console.error(error);
        return this.#refuse(NOT_DRAWN_TEXT);
      });
      return Promise.race([done, new Promise((go) => (this.goOn = () => go(undefined)))]);
    });
  }

  /** Adopt all pending properties. If no figure shows the present slug and controls, open a new one first. If
   * a property is wrong, an error message is shown in place of the figure, and all properties stay pending.
   * If choices are pending, their recipe is loaded first, since the present recipe may lack what the other
   * properties name. Properties that code sets during this loading are applied at once if the present
   * recipe allows them. @param {State} news the properties that code has set for this turn */
  async #adopt(news) {
    const problem = wrongProperty(this.props);
    if (problem) return this.#refuse(problem);
    if (!this.player?.recipe || this.player.closed) {
      this.left = this.#state ?? this.left;
      if (!(await this.#open(this.left ?? this.pending))) return;
    }
    const player = /** @type {Player} */ (this.player);
    const { choices } = this.pending;
    if (choices && same(choices, this.choosing)) {
      const { choices: _, ...later } = toAdopt(news, {}, this.props);
      if (!this.#set(player, later)) this.#adopted(later);
      return;
    }
    if (choices && !(await this.#choose(player, choices))) return;
    const all = this.pending; // code may have set more meanwhile
    const { choices: _, ...rest } = all;
    const misfit = wrongProperty(this.props) || this.#set(player, rest);
    if (misfit) return this.#refuse(misfit);
    this.#adopted(all);
  }

  /** Open a new figure for the present slug and controls, in place of the old one. Returns true if the new
   * figure is shown. Returns false if an error message is shown instead, or if the new figure is replaced or
   * closed while it is being loaded. @param {State} state the state to show @returns {Promise<boolean>} */
  async #open(state) {
    const { slug, controls } = this.props;
    this.player?.close();
    this.player = null;
    this.choosing = null;
    this.binding.fresh = true;
    this.opening = new AbortController();
    const signal = AbortSignal.any([this.closed.signal, this.opening.signal]);
    const search = new URLSearchParams({
      ...query(state),
      ...(controls ? { controls: controls.join(",") || "0" } : {}),
    });
    const { html, refused } = await this.giver.figure(String(slug), search, signal);
    if (signal.aborted) return false;
    if (!html) {
      // of the state that was taken over, code may have corrected the choices, or taken them back
      const isOld = state === this.left && !fulfils(this.props.choices, state.choices);
      return isOld ? this.#open(this.pending) : this.#refuse(String(refused));
    }
    this.page.innerHTML = html;
    const root = /** @type {HTMLElement} */ (this.page.querySelector(":scope > [data-slug]"));
    const source = this.giver.dress(root);
    await (drawing ??= library(source));
    if (signal.aborted) return false;
    const player = new Player(root, commands);
    this.player = player;
    player.whenShown(() => this.pace.ask());
    for (const news of ["normscape:ready", "normscape:state"])
      root.addEventListener(news, () => this.pace.ask());
    await player.start();
    if (player.closed || !player.recipe) return false;
    const wrong = unknownParameter(state.params, Object.keys(player.params));
    if (wrong) return this.#refuse(wrong);
    this.left = null;
    this.#adopted(state);
    return true;
  }

  /** Set properties other than choices, if the player's recipe allows them all; otherwise return an error
   * message. @param {Player} player @param {State} asked @returns {string | undefined} */
  #set(player, asked) {
    const { state, wrong } = read(query(asked), player.recipe);
    const misfit = unknownParameter(asked.params, Object.keys(player.params)) || wrong[0];
    if (misfit) return misfit;
    for (const name of Object.keys(asked.params ?? {})) player.set(name, state.params[name]);
    if (asked.follow !== undefined) player.follow(state.follow);
    if (asked.progress !== undefined) {
      player.pause();
      player.seek(state.progress);
    }
    if (asked.camera !== undefined) player.fly(state.camera);
  }

  /** Change choices, for which the figure needs another recipe. If the choices are refused, show an error
   * message in place of the figure. If no answer comes within HOLD_MS, the next turn begins, while this turn
   * goes on waiting. Returns whether the other pending properties can be applied now. True if the figure has
   * adopted the choices, if the reader has replaced them, or if code has unset them. False if they are
   * refused, if code has replaced them, or if the figure is closed. @param {Player} player @param
   * {NonNullable<State["choices"]>} choices */
  async #choose(player, choices) {
    this.choosing = choices;
    const asked = query({ choices });
    const isReplaced = () => this.choosing !== choices || player.closed;
    const refusal = async () =>
      (await ask(player.root, { ...player.choices, ...asked }, player.usual, player.life)).refused;
    const late = setTimeout(() => isReplaced() || this.goOn(), HOLD_MS);
    try {
      let refused = await refusal();
      // if no answer came, the player goes on asking, and the server may refuse the choices later
      if (!refused && !isReplaced() && (await player.choose(asked)) === false && !isReplaced())
        refused = await refusal();
      if (isReplaced()) return false;
      const present = this.pending.choices;
      if (!present) return true;
      if (!same(present, choices)) return false;
      return refused ? this.#refuse(refused) : true;
    } finally {
      clearTimeout(late);
      if (this.choosing === choices) this.choosing = null;
    }
  }

  /** Show an error message in place of the figure. Returns false. @param {string} words */
  #refuse(words) {
    this.binding.refused = true;
    this.page.querySelector(".refused")?.remove();
    for (const each of this.page.children) /** @type {HTMLElement} */ (each).hidden = true;
    this.page.append(
      h(
        "p",
        { className: "refused", role: "alert" },
        `${["Scene", this.props.slug].filter(Boolean).join(" ")}: ${words}`,
      ),
    );
    return false;
  }

  /** Note that the figure has adopted some properties, which are then no longer pending. Remove the error
   * message, if there is one, and show the figure again. @param {State} state the adopted properties */
  #adopted(state) {
    this.pending = without(this.pending, state);
    this.binding.refused = false;
    this.page.querySelector(".refused")?.remove();
    for (const each of this.page.children) /** @type {HTMLElement} */ (each).hidden = false;
    // even if nothing has changed: code may have received an echo, an older value than the figure's
    this.pace.ask();
  }

  /** The state that the figure shows, as properties; null until its first recipe is loaded.
   * @returns {State | null} */
  get #state() {
    if (!this.player?.recipe) return null;
    const { recipe, params, progress, followed, camera } = this.player;
    const deep = recipe.views.find(({ dims }) => dims === 3);
    const { eye, center } = camera ?? (deep ? home(deep) : { eye: undefined, center: [] });
    return {
      choices: recipe.chosen,
      params,
      progress,
      follow: followed,
      camera: eye && (center.some(Boolean) ? [...eye, ...center] : eye),
    };
  }

  /** Report the reader's changes to the application's code. Does nothing while properties that this code has
   * set are still pending. */
  #report() {
    const state = this.#state;
    const news = state && !Object.keys(this.pending).length && this.binding.told(state);
    if (news) this.tell(news);
  }

  /** Set up the shadow tree: styles, keyboard shortcuts, and observers that notice when the surrounding
   * page's theme changes. */
  #dress() {
    const { signal } = this.closed;
    const shadow = this.host.shadowRoot ?? this.host.attachShadow({ mode: "open" });
    const { sheet, there } = this.giver.styles();
    this.queue = there.then(() => typefaces(/** @type {HTMLStyleElement | HTMLLinkElement} */ (sheet).sheet));
    shadow.replaceChildren(sheet, this.page);
    shadow.adoptedStyleSheets = [plotlys];
    this.page.addEventListener(
      "keydown",
      (event) => {
        if (this.player?.recipe) key(event, this.player);
      },
      { signal },
    );
    const watch = new MutationObserver(() => this.#color());
    for (const each of [document.documentElement, document.body]) watch.observe(each, { attributes: true });
    signal.addEventListener("abort", () => watch.disconnect());
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.#color(), { signal });
  }

  /** Set the theme to the one that the properties name, or otherwise to that of the surrounding page. */
  #color() {
    const asked = this.props.theme;
    const theme = asked === "light" || asked === "dark" ? asked : this.giver.scheme(this.host);
    if (this.host.dataset.scheme === theme) return;
    this.host.dataset.scheme = theme;
    this.player?.recolor();
  }
}

// `@font-face` rules have no effect in a shadow tree, so they are added to the document. The names of our
// typefaces are unique, so this does not change the page's own text
const faces = new CSSStyleSheet();

/** Add the `@font-face` rules of our stylesheet to the document, once for all figures. @param {CSSStyleSheet
 * | null} sheet the stylesheet; null if it has not been loaded: then nothing is added */
function typefaces(sheet) {
  if (!sheet || document.adoptedStyleSheets.includes(faces)) return;
  const found = [...sheet.cssRules].filter((rule) => rule instanceof CSSFontFaceRule);
  const base = sheet.href ?? document.baseURI;
  faces.replaceSync(
    found
      .map(({ cssText }) =>
        cssText.replace(/url\("([^"]+)"\)/g, (_, at) => `url("${new URL(at, base).href}")`),
      )
      .join("\n"),
  );
  document.adoptedStyleSheets.push(faces);
}

const plotlys = new CSSStyleSheet(); // a copy of the CSS rules that Plotly inserts into the document
/** @type {Promise<void> | undefined} */ let drawing;

/** Load our version of Plotly without changing the page's `window.Plotly`, since the page may have another
 * version, or load one later. Ours becomes available as the promise `normscape.plotly`. Then the CSS rules
 * that Plotly has added to the document are copied for the shadow trees. @param {string} source the address
 * of our version */
async function library(source) {
  const page = /** @type {any} */ (window);
  const script = h("script", { src: source });
  /** @type {Plotly | undefined} */ let ours;
  let theirs = page.Plotly;
  Object.defineProperty(page, "Plotly", {
    configurable: true,
    get: () => theirs,
    set(value) {
      if (document.currentScript === script) ours = value;
      else theirs = value;
    },
  });
  await new Promise((go) => {
    script.onload = script.onerror = go;
    document.head.append(script);
  });
  delete page.Plotly;
  if (theirs) page.Plotly = theirs;
  script.remove();
  page.normscape.plotly = ours ? Promise.resolve(ours) : Promise.reject(new Error("Plotly did not load"));
  page.normscape.plotly.catch(() => {}); // the player reports it
  if (!ours) drawing = undefined; // the next figure tries again
  /** @type {NodeListOf<HTMLStyleElement>} */
  const styles = document.querySelectorAll("style[id^='plotly.js-style']");
  const rules = [...styles].flatMap((style) => [...(style.sheet?.cssRules ?? [])]);
  plotlys.replaceSync(rules.map((rule) => rule.cssText).join("\n"));
}
