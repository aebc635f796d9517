// @ts-check
/**
 * Changes of the recipe: by the page's link, by new choices, or by a stop of the tour. Changes are made one
 * after the other. A change that is not finished when a later one is requested is dropped. A loaded recipe is
 * shown only when the reader neither drags nor types (grip.mjs).
 */

import { calmly } from "../browser.mjs";
import { changes, read, split, tooLong } from "./link.mjs";
import { ask } from "./source.mjs";
/** @import { Recipe } from "../engine/engine.mjs" */
/** @import { Grip } from "./grip.mjs" */
/** @import { Growth } from "./growth.mjs" */
/** @import { Answer } from "./source.mjs" */

/**
 * @typedef {import("./state.mjs").State} State
 *
 * @typedef {object} Scene the parts of the player that are used here
 * @property {HTMLElement} root
 * @property {State} state
 * @property {Growth} growth
 * @property {Grip} grip
 * @property {AbortSignal} life aborts when the player is closed
 * @property {(words: string) => void} notice shows a message, "" for none
 * @property {() => string} noticed the message that is shown
 * @property {(answer: Answer, link: Parameters<State["take"]>[2]) => void} take makes a recipe and a link's
 * state the player's own
 * @property {() => Promise<void>} mount builds the page's parts for the recipe
 * @property {(push?: boolean) => void} write writes the state into the page's address; with `push` as a new
 * entry of the browser's history
 * @property {(stop: number) => void} openTour opens the tour at a stop; 1 is the first
 * @property {(to: {camera: import("./link.mjs").State["camera"]} | null) => void} arrived a change has been
 * made; `to` is where the camera should fly, null if it stays
 * @property {() => void} refused shows the present choices again in the drop-down lists and check boxes
 */

const SLOW_ANSWER_MS = 4000; // milliseconds after which a notice says that the figure is loading
const LOADING_TEXT = "The figure is still loading.";
const NO_ANSWER_TEXT = "The server does not answer. What is on the page still works";
const NOT_DRAWN_TEXT = "The figure could not be drawn. Reload the page to try again.";

export class RecipeChanges {
  #scene;
  /** @type {Record<string, string> | null} the choices whose recipe is being loaded */ #wanted = null;
  /** @type {Promise<unknown>} */ #queue = Promise.resolve();
  #request = new AbortController();
  #linkedStop = 0; // the tour's stop that the page's link names, until it is shown; 0 if there is none
  #following = false;

  /** @param {Scene} scene */
  constructor(scene) {
    this.#scene = scene;
    scene.life.addEventListener("abort", () => this.#request.abort());
  }

  /** The choices whose recipe is being loaded; null if none is. */
  get wanted() {
    return this.#wanted;
  }

  /** Whether the state that the page's link names has not been shown yet, so that the link must not be
   * overwritten. */
  get following() {
    return this.#following;
  }

  /** Run `change` after all changes that have begun, whose requests are aborted. Returns its result;
   * undefined if a later change was requested before it could run. @template T @param {(stale: () => boolean)
   * => Promise<T>} change `stale` tells whether a later change has been requested meanwhile @returns
   * {Promise<T | undefined>} */
  #next(change) {
    const { life, notice, noticed } = this.#scene;
    this.#request.abort();
    const request = (this.#request = new AbortController());
    const stale = () => life.aborted || request.signal.aborted;
    let before = "";
    const late = setTimeout(() => {
      if (stale()) return;
      before = noticed();
      notice(LOADING_TEXT);
    }, SLOW_ANSWER_MS);
    const done = this.#queue
      .then(() => (stale() ? undefined : change(stale)))
      .finally(() => {
        clearTimeout(late);
        if (!stale() && noticed() === LOADING_TEXT) notice(before);
      });
    this.#queue = done.catch(() => {
      if (!stale()) notice(NOT_DRAWN_TEXT);
    });
    return done;
  }

  /** Request the recipe for some choices; a later change aborts the request.
   * @param {Record<string, string>} choices */
  #ask(choices) {
    const { root, state } = this.#scene;
    return ask(root, choices, state.usual, this.#request.signal);
  }

  /** Show the state that the page's link names. If the link has an error, report the error and show the
   * scene's default state. */
  restore() {
    const { root, state, grip, life, notice, take, mount, openTour } = this.#scene;
    const { usual } = state;
    this.#wanted = null;
    this.#following = true;
    this.#linkedStop = 0;
    state.begin();
    return this.#next(async (stale) => {
      const { chosen, rest, wrong } = split(root.dataset.query ?? location.search, usual);
      let answer = await this.#ask({ ...usual, ...chosen });
      const { refused } = answer;
      if (refused) {
        wrong.push(refused);
        answer = await this.#ask({ ...usual });
      }
      const asked = answer.recipe && read(rest, answer.recipe);
      wrong.push(...(asked?.wrong ?? []));
      if (wrong.length && !refused && answer.recipe) answer = await this.#ask({ ...usual });
      await grip.free();
      if (stale()) return;
      this.#following = false;
      if (!asked || !answer.recipe)
        return notice(
          state.known ? `${NO_ANSWER_TEXT}.` : "The server does not answer. Reload the page to try again.",
        );
      notice(
        wrong.length
          ? `This link has an error: ${wrong.join("; ")}. The scene starts from its default state.`
          : "",
      );
      this.#linkedStop = wrong.length ? 0 : asked.state.tour;
      take(answer, wrong.length ? read({}, answer.recipe).state : asked.state);
      await mount();
      if (this.#linkedStop && !life.aborted) openTour(this.#linkedStop);
    });
  }

  /** Load and show the recipe for changed choices, and keep the other values of the state where it allows
   * them. @param {Record<string, string>} changed @returns {Promise<boolean>} whether the scene now has these
   * choices */
  async choose(changed) {
    const { state } = this.#scene;
    if (!state.known) return false;
    if (!this.#wanted && !this.#linkedStop && !state.arriving) state.begin();
    for (const name of Object.keys(changed)) state.touch(name);
    return this.#change(changed);
  }

  /** Show a stop of the tour, which determines the whole state: values that it does not name get the scene's
   * defaults, except those that the reader sets before it is shown. @param {Record<string, string>} stop
   * @param {boolean} linked whether the page's link names the stop */
  async visit(stop, linked) {
    const { state } = this.#scene;
    const { chosen, rest } = split(new URLSearchParams(stop).toString(), state.usual);
    const present = this.#wanted ?? state.choices;
    this.#linkedStop = 0;
    state.call(rest, linked);
    const changed = changes({ ...state.usual, ...chosen }, present);
    for (const name of Object.keys(changed)) if (state.touched(name)) delete changed[name];
    await this.#change(changed);
  }

  /** If the changed choices need another recipe, load and show it. Then show the tour's stop that waits for
   * this recipe, if there is one. @param {Record<string, string>} changed @returns {Promise<boolean>} whether
   * the scene now has these choices */
  async #change(changed) {
    const { state, growth, grip, notice, take, mount, write } = this.#scene;
    const tooLongWords = tooLong(changed, state.recipe.choices);
    if (tooLongWords) return this.#refuse(`${tooLongWords}. The picture is as it was.`);
    if (!this.#wanted && growth.takes(changed)) return this.#arrive();
    const choices = (this.#wanted = {
      ...(this.#wanted ?? state.choices),
      ...defaultsAfter(changed, state.recipe),
      ...changed,
    });
    const done = await this.#next(async (stale) => {
      const other = Object.keys(changes(choices, state.choices)).length > 0;
      const answer = other ? await this.#ask(choices) : null;
      await grip.free();
      if (stale()) return false;
      this.#wanted = null;
      if (!answer) return this.#arrive();
      if (!answer.recipe) {
        state.begin();
        return this.#refuse(
          answer.refused
            ? `${answer.refused}. The picture is as it was.`
            : `${NO_ANSWER_TEXT}; a new choice must wait.`,
        );
      }
      notice("");
      write();
      take(answer, state.kept(answer.recipe));
      this.#following = false;
      write(true);
      await mount();
      return !stale() && this.#arrive();
    });
    return done ?? false;
  }

  /** Report why a change is refused. A text that the reader has typed stays in its field, to be corrected.
   * @param {string} words */
  #refuse(words) {
    this.#scene.notice(words);
    this.#scene.refused();
    return false;
  }

  /** Finish a change: show the tour's stop that waited for it, if there is one. Returns true. */
  #arrive() {
    this.#scene.arrived(this.#scene.state.arrive(calmly()));
    return true;
  }
}

/** The default values of those choices that must be reset because they depend (`of`) on a changed one, such
 * as a result that was computed from it. @param {Record<string, string>} changed @param {Recipe} recipe
 * @returns {Record<string, string>} */
function defaultsAfter(changed, recipe) {
  const invalid = recipe.choices.filter((c) => c.of?.some((name) => name in changed));
  return Object.fromEntries(invalid.map((c) => [c.name, String(c.default)]));
}
