// @ts-check
/** A scene in an element of somebody else's page: in a shadow tree, so that neither's styles and names reach
 * the other's. Properties go in, what the hand has moved comes out. What it needs a giver has: a server
 * (server.mjs), or the kernel of a notebook (kernel.mjs). */

import { h } from "../dom.mjs";
import { commands } from "../page/commands.mjs";
import { key } from "../page/keys.mjs";
import { home } from "../painter/views.mjs";
import { read } from "../player/link.mjs";
import { Player } from "../player/player.mjs";
import { ask } from "../player/source.mjs";
import { Binding, paced, query } from "./binding.mjs";

/** @typedef {import("./binding.mjs").State} State */
/** @typedef {State & {slug?: string, controls?: string[] | null, theme?: string | null}} Props */
/**
 * @typedef {object} Giver
 * @property {() => {sheet: HTMLElement, there: Promise<unknown>}} styles those of a figure in a shadow tree
 * @property {(slug: string, search: URLSearchParams, signal: AbortSignal) => Promise<{html?: string,
 *   refused?: string}>} figure a scene's element, with its picture, for the query of an embed; or what was
 *   wrong with that, in words
 * @property {(root: HTMLElement) => string} dress gives the element what its player asks with; the address of
 *   the drawing library
 * @property {(host: HTMLElement) => "light" | "dark"} scheme the theme of the page around
 */

const OFTEN = 100; // milliseconds between two reports of what moves

export class Figure {
  /** @param {HTMLElement} host @param {Giver} giver @param {(news: State) => void} tell */
  constructor(host, giver, tell) {
    this.host = host;
    this.giver = giver;
    this.tell = tell;
    this.page = h("div", { className: "page embed" });
    this.binding = new Binding();
    /** @type {Props} */ this.props = {};
    /** @type {State} */ this.owed = {}; // what was refused, to be tried again with what comes
    /** @type {Player | null} */ this.player = null;
    this.pace = paced(() => this.#report(), OFTEN);
    /** @type {Promise<void>} */ this.line = Promise.resolve();
    this.closed = new AbortController();
    this.#dress();
  }

  /** The properties, as they are now. @param {Props} props */
  show(props) {
    const other = props.slug !== this.props.slug || String(props.controls) !== String(this.props.controls);
    const another = props.slug !== this.props.slug;
    const asked = this.binding.asked(props);
    this.props = props;
    this.#color();
    if (other) this.#next(() => this.#open(another ? asked : { ...this.#state, ...asked }));
    else if (Object.keys(asked).length) this.#next(() => this.#apply(asked));
  }

  close() {
    this.closed.abort();
    this.pace.stop();
    this.player?.close();
  }

  /** One change after the other. @param {() => Promise<void>} change */
  #next(change) {
    this.line = this.line
      .then(() => (this.closed.signal.aborted ? undefined : change()))
      .catch(() => this.#refuse("The figure could not be drawn. Reload the page to try again."));
  }

  /** A new figure. @param {State} asked */
  async #open(asked) {
    const { slug, controls } = this.props;
    const { signal } = this.closed;
    this.player?.close();
    this.player = null;
    this.binding.fresh = true;
    this.owed = asked;
    const search = new URLSearchParams({
      ...query(asked),
      ...(controls ? { controls: controls.join(",") || "0" } : {}),
    });
    const { html, refused } = await this.giver.figure(String(slug), search, signal);
    if (signal.aborted) return;
    if (!html) return this.#refuse(String(refused));
    this.page.innerHTML = html;
    const root = /** @type {HTMLElement} */ (this.page.querySelector(":scope > [data-slug]"));
    const source = this.giver.dress(root);
    await (drawing ??= library(source));
    const player = new Player(root, commands);
    this.player = player;
    player.whenShown(() => this.pace.ask());
    for (const news of ["normscape:ready", "normscape:state"])
      root.addEventListener(news, () => this.pace.ask());
    await player.start();
    const stranger = Object.keys(asked.params ?? {}).find(
      (name) => player.recipe && !(name in player.params),
    );
    if (stranger) return this.#refuse(`this scene has no parameter ${stranger}`);
    this.owed = {};
  }

  /** What code has set. @param {State} news */
  async #apply(news) {
    const { player } = this;
    const asked = { ...this.owed, ...news };
    if (!player?.recipe) return this.#open(asked);
    this.owed = asked;
    if (asked.choices && !(await this.#choose(player, query({ choices: asked.choices })))) return;
    const { choices, ...rest } = asked;
    const { state, wrong } = read(query(rest), player.recipe);
    const stranger = Object.keys(asked.params ?? {}).find((name) => !(name in player.params));
    if (wrong.length || stranger)
      return this.#refuse(wrong[0] ?? `this scene has nothing called ${stranger}`);
    for (const name of Object.keys(asked.params ?? {})) player.set(name, state.params[name]);
    if (asked.follow !== undefined) player.follow(state.follow);
    if (asked.progress !== undefined) {
      player.pause();
      player.seek(state.progress);
    }
    if (asked.camera !== undefined) player.fly(state.camera);
    this.owed = {};
    this.#allow();
  }

  /** Choices, if there is a recipe for them. @param {Player} player @param {Record<string, string>} choices
   */
  async #choose(player, choices) {
    const { refused } = await ask(
      player.root,
      { ...player.choices, ...choices },
      player.usual,
      this.closed.signal,
    );
    if (refused) this.#refuse(refused);
    return !refused && player.choose(choices);
  }

  /** Words in the place of the figure. @param {string} words */
  #refuse(words) {
    this.page.querySelector(".refused")?.remove();
    for (const each of this.page.children) /** @type {HTMLElement} */ (each).hidden = true;
    this.page.append(h("p", { className: "refused", role: "alert" }, `Scene ${this.props.slug}: ${words}`));
  }

  #allow() {
    this.page.querySelector(".refused")?.remove();
    for (const each of this.page.children) /** @type {HTMLElement} */ (each).hidden = false;
  }

  /** What the figure shows. @returns {State | null} */
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

  #report() {
    const state = this.#state;
    const news = state && !Object.keys(this.owed).length && this.binding.told(state);
    if (news) this.tell(news);
  }

  /** Styles, colours, keys. */
  #dress() {
    const { signal } = this.closed;
    const shadow = this.host.shadowRoot ?? this.host.attachShadow({ mode: "open" });
    const { sheet, there } = this.giver.styles();
    this.line = there.then(() => typefaces(/** @type {HTMLStyleElement | HTMLLinkElement} */ (sheet).sheet));
    shadow.replaceChildren(sheet, this.page);
    shadow.adoptedStyleSheets = [plotlys];
    this.page.addEventListener(
      "keydown",
      (/** @type {KeyboardEvent} */ event) => {
        if (this.player?.recipe) key(event, this.player);
      },
      { signal },
    );
    const watch = new MutationObserver(() => this.#color());
    for (const each of [document.documentElement, document.body]) watch.observe(each, { attributes: true });
    signal.addEventListener("abort", () => watch.disconnect());
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.#color(), { signal });
  }

  /** The theme that is asked for, or that of the page: what its own buttons and scroll bars are in. */
  #color() {
    const asked = this.props.theme ?? "auto";
    const theme = asked === "auto" ? this.giver.scheme(this.host) : asked;
    if (this.host.dataset.scheme === theme) return;
    this.host.dataset.scheme = theme;
    this.player?.recolor();
  }
}

const faces = new CSSStyleSheet(); // a shadow tree has none of its own: ours have names that no page has

/** Those of our styles, for the document, once. @param {CSSStyleSheet | null} sheet */
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

const plotlys = new CSSStyleSheet(); // Plotly's own rules, which it writes for the document
/** @type {Promise<void> | undefined} */ let drawing;

/** The drawing library that the painter knows, for us alone: the page may have another, or want more of it.
 * @param {string} source */
async function library(source) {
  const page = /** @type {any} */ (window);
  const script = h("script", { src: source });
  /** @type {import("../globals.mjs").Plotly | undefined} */ let ours;
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
  page.normscape.plotly.catch(() => {});
  /** @type {NodeListOf<HTMLStyleElement>} */
  const styles = document.querySelectorAll("style[id^='plotly.js-style']");
  const rules = [...styles].flatMap((style) => [...(style.sheet?.cssRules ?? [])]);
  plotlys.replaceSync(rules.map((rule) => rule.cssText).join("\n"));
}
