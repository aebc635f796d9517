/** Stand-ins for the modules that assets/guest/figure.mjs imports and that need a browser: elements that draw
 * nothing, and a player with the real `State` and `RecipeChanges`. */

import { RecipeChanges } from "../../assets/player/recipe_changes.mjs";
import { State } from "../../assets/player/state.mjs";

export const commands = { goOn() {} };
export const key = () => {};
export const home = () => ({ eye: [1, 1, 1], center: [0, 0, 0] });

export class Element extends EventTarget {
  children = [];
  dataset = {};
  hidden = false;
  shadowRoot = null;
  constructor(tag, properties, ...children) {
    super();
    Object.assign(this, { tag, ...properties, textContent: children.join("") });
    if (tag === "link") setTimeout(() => this.onload());
  }
  attachShadow() {
    return (this.shadowRoot = new Element("shadow root"));
  }
  replaceChildren(...children) {
    this.children = children;
  }
  append(...children) {
    for (const each of children) each.parent = this;
    this.children.push(...children);
  }
  remove() {
    if (this.parent) this.parent.children = this.parent.children.filter((each) => each !== this);
  }
  /** A scene's element whose data-query is `query`. */
  set innerHTML(query) {
    const root = new Element("section");
    root.dataset = { slug: "x", recipe: "/recipe/x", query };
    this.children = [];
    this.append(root);
  }
  querySelector(selector) {
    const has = ({ tag, className }) =>
      selector === ".refused" ? className === "refused" : tag === "section";
    return /refused|data-slug/.test(selector) ? (this.children.find(has) ?? null) : null;
  }
  querySelectorAll() {
    return [];
  }
  closest() {
    return this;
  }
}

export const h = (...all) => new Element(...all);

export class Player {
  static usual = {};
  commands = commands;
  #life = new AbortController();
  #state = new State(Player.usual);
  words = "";
  apart = true;
  listeners = [];
  constructor(root) {
    this.root = root;
    const state = this.#state;
    for (const name of ["usual", "recipe", "choices", "params", "progress", "leg", "playing", "followed"])
      Object.defineProperty(this, name, { get: () => state[name] });
    const parts = {
      take: (answer, kept) => state.take(answer.recipe, answer.choices, kept),
      async build() {},
    };
    const frames = { schedule: () => this.#shown() };
    this.changes = new RecipeChanges(this, state, { takes: () => false }, parts, frames);
  }
  get camera() {
    return this.#state.camera;
  }
  get state() {
    return this.#state.link;
  }
  get wanted() {
    return this.changes.wanted;
  }
  get life() {
    return this.#life.signal;
  }
  get closed() {
    return this.life.aborted;
  }
  close() {
    this.#life.abort();
  }
  #shown() {
    if (!this.closed) for (const listen of this.listeners) setTimeout(listen);
  }
  whenShown(listener) {
    this.listeners.push(listener);
  }
  part() {
    return { textContent: this.words };
  }
  notice(words) {
    this.words = words;
  }
  async start() {
    await this.changes.restore();
    this.#shown();
  }
  choose(choices) {
    return this.changes.choose(choices);
  }
  set(name, value) {
    this.#state.set(name, value);
    this.#shown();
  }
  follow(index) {
    this.#state.follow(index);
    this.#shown();
  }
  seek(progress) {
    this.#state.seek(progress);
    this.#shown();
  }
  pause() {
    this.#state.pause();
  }
  fly() {}
  recolor() {}
}
