// @ts-check
/**
 * Changes of the recipe: by the page's link, by new choices, by a stop of the tour, or by the page around an
 * embed (its host). A new change aborts the request for the recipe of an earlier change. New choices are
 * merged with choices that are still being loaded; any other change replaces those choices. A loaded
 * recipe is shown only when the reader neither drags nor types (grip.mjs). If no answer comes, the request is
 * repeated until an answer comes or another change is requested.
 */

import { prefersReducedMotion, sleep, wait } from "../browser.mjs";
import { writeAddress } from "./address.mjs";
import { refuse, showLists } from "./controls.mjs";
import { Grip } from "./grip.mjs";
import { changes, read, split, tooLong, wrongValues } from "./link.mjs";
import { pause } from "./poll.mjs";
import { ask, errorText } from "./source.mjs";
/** @import { Recipe } from "../engine/engine.mjs" */
/** @import { FrameLoop } from "./frame_loop.mjs" */
/** @import { Growth } from "./growth.mjs" */
/** @import { PageParts } from "./page_parts.mjs" */
/** @import { Player } from "./player.mjs" */
/** @import { State } from "./state.mjs" */

const TICK_MS = 500;
const SLOW_ANSWER_TICKS = 8; // then a notice says that the figure is loading; a blocked page has no ticks
const NO_ANSWER_TEXT = "The server does not answer";
const BUSY_TEXT = "The server is busy";
// This HTTP status may come from an error of the server that only some choices cause; others of at least 500
// come rather from a proxy. After as many such answers to a link's choices, the defaults are tried too
const ERROR_STATUS = 500;
const MAX_LINK_ERRORS = 6;
const KEEPS_ASKING_TEXT = "This page keeps asking";
export const NOT_DRAWN_TEXT = "The figure could not be drawn. Reload the page to try again.";

export class RecipeChanges {
  #player;
  #state;
  #growth;
  #parts;
  #frames;
  #grip;
  #loadingText;
  /** @type {Record<string, string> | null} the choices whose recipe is being loaded */ #wanted = null;
  /** @type {Promise<unknown>} */ #queue = Promise.resolve();
  #request = new AbortController();
  #lost = 0; // the number of requests, in a row, to which no answer came; 0 when a change is done
  #linkedStop = 0; // the tour's stop that the page's link names, until it is shown; 0 if there is none
  #following = false;

  /** @param {Player} player @param {State} state @param {Growth} growth @param {PageParts} parts
   * @param {FrameLoop} frames */
  constructor(player, state, growth, parts, frames) {
    this.#player = player;
    this.#state = state;
    this.#growth = growth;
    this.#parts = parts;
    this.#frames = frames;
    this.#grip = new Grip(player.root, player.life);
    const name = player.root.querySelector(".poster")?.ariaLabel;
    const which = name ? `The figure “${name}”` : "The figure";
    this.#loadingText = `${which} is still loading.`;
  }

  /** The choices whose recipe is being loaded; null if none is. */
  get wanted() {
    return this.#wanted;
  }

  /** Whether the figure has yet to show the state that the page's link names. Until then, the link must not
   * be overwritten. */
  get following() {
    return this.#following;
  }

  /** Run `change` when all earlier changes have ended; their requests are aborted now. Returns the result of
   * `change`, or undefined if a later change was requested before `change` could run. @template T @param
   * {(signal: AbortSignal) => Promise<T>} change `signal` aborts when a later change is requested, or the
   * player is closed @returns {Promise<T | undefined>} */
  #next(change) {
    const player = this.#player;
    const noticed = () => player.part("notice")?.textContent ?? "";
    this.#request.abort();
    this.#request = new AbortController();
    const signal = AbortSignal.any([player.life, this.#request.signal]);
    let before = "";
    let ticks = 0;
    const late = setInterval(() => {
      if (++ticks < SLOW_ANSWER_TICKS) return;
      clearInterval(late);
      if (signal.aborted || this.#lost) return;
      before = noticed();
      player.notice(this.#loadingText, "status");
    }, TICK_MS);
    const done = this.#queue
      .then(() => (signal.aborted ? undefined : change(signal)))
      .finally(() => {
        clearInterval(late);
        if (signal.aborted) return;
        this.#lost = 0;
        if (noticed() === this.#loadingText) player.notice(before);
      });
    this.#queue = done.catch(() => {
      if (!signal.aborted) player.notice(NOT_DRAWN_TEXT);
    });
    return done;
  }

  /** Request the recipe for some choices. If the server does not answer, fails or is busy, show a notice, and
   * request the recipe again after a pause or when the network is back, until `signal` aborts. @param
   * {Record<string, string>} choices @param {AbortSignal} signal @param {Record<string, string>} [other] the
   * defaults, to be tried too once the server has answered MAX_LINK_ERRORS times with ERROR_STATUS. If the
   * server has a recipe for them, this recipe is the answer, with the status as `failed` */
  async #ask(choices, signal, other) {
    const { root } = this.#player;
    const { usual } = this.#state;
    for (let errors = 0; ;) {
      const answer = await ask(root, choices, usual, signal);
      if (answer.recipe || answer.refused || signal.aborted) return answer;
      const { failed, busy = 0, reason = BUSY_TEXT } = answer;
      if (other && failed === ERROR_STATUS && ++errors >= MAX_LINK_ERRORS) {
        const instead = await ask(root, other, usual, signal);
        if (instead.recipe) return { ...instead, failed };
      }
      const what = failed ? errorText(failed) : busy ? reason : NO_ANSWER_TEXT;
      const still = this.#state.known ? "; what it shows already still works" : "";
      this.#player.notice(`${what}. ${KEEPS_ASKING_TEXT}${still}.`);
      showLists(root, this.#state.choices);
      this.#lost++;
      if (busy) await wait(busy, signal);
      else await sleep(pause({ empty: 0, lost: this.#lost, after: 0 }), signal);
    }
  }

  /** Show the state that the page's link names. If the link has an error, or if the server has an error
   * for this link but not for the default state, show the scene's default state and a notice. After a
   * server error, the link stays in the address until the reader makes a choice. In a page that is not ours,
   * a server error does not lead to the default state: the server is asked again, until it answers or the
   * page's code sets other choices. @returns {Promise<unknown>} */
  restore() {
    const player = this.#player;
    const { usual } = this.#state;
    this.#wanted = null;
    this.#following = true;
    this.#linkedStop = 0;
    this.#state.begin();
    return this.#next(async (signal) => {
      const { chosen, rest, wrong } = split(player.root.dataset.query ?? location.search, usual);
      const isUsual = !Object.keys(changes({ ...usual, ...chosen }, usual)).length;
      const other = player.apart || isUsual ? undefined : { ...usual };
      let answer = await this.#ask({ ...usual, ...chosen }, signal, other);
      const { refused, failed } = answer;
      if (refused) {
        wrong.push(refused);
        answer = await this.#ask({ ...usual }, signal);
      }
      const asked = answer.recipe && read(failed ? {} : rest, answer.recipe);
      wrong.push(...(asked?.wrong ?? []));
      if (wrong.length && !refused && answer.recipe) answer = await this.#ask({ ...usual }, signal);
      await this.#grip.free();
      if (signal.aborted) return;
      this.#following = Boolean(failed);
      if (!asked || !answer.recipe) {
        this.#refuse(answer.refused ?? "");
        return;
      }
      const words = failed ? `${errorText(failed)} for this link` : wrongLinkText(wrong);
      player.notice(words && `${words}. The scene starts from its default state.`);
      this.#linkedStop = wrong.length ? 0 : asked.state.tour;
      this.#parts.take(answer, wrong.length ? read({}, answer.recipe).state : asked.state);
      await this.#parts.build();
      if (player.closed) return;
      if (this.#linkedStop) player.tour?.open(this.#linkedStop - 1);
      player.commands.goOn(player);
    });
  }

  /** Load and show the recipe for changed choices, and keep all other values of the state that the new recipe
   * allows. @param {Record<string, string>} changed @returns {Promise<boolean | undefined>} whether the scene
   * now has these choices; undefined if a later change has replaced this one */
  async choose(changed) {
    const state = this.#state;
    if (!state.known) return false;
    if (!this.#wanted && !this.#linkedStop && !state.arriving) state.begin();
    for (const name of Object.keys(changed)) state.touch(name);
    return this.#change(changed);
  }

  /** Show a stop of the tour, or the state that an embedding page sends. Values that `stop` does not name get
   * the scene's defaults, except those that the reader sets before the stop is shown. If a value is wrong,
   * the figure stays as it is, and a notice says so. @param {Record<string, string>} stop the state, as the
   * names and values in a link's query @param {boolean} linked whether the page's link names the stop */
  async visit(stop, linked) {
    const state = this.#state;
    const { chosen, rest } = split(new URLSearchParams(stop).toString(), state.usual);
    const present = this.#wanted ?? state.choices;
    this.#linkedStop = 0;
    state.call(rest, linked);
    const changed = changes({ ...state.usual, ...chosen }, present);
    for (const name of Object.keys(defaultsAfter(changed, state.recipe)))
      if (name in chosen) changed[name] = chosen[name]; // also if it has this value already
    for (const name of Object.keys(changed)) if (state.touched(name)) delete changed[name];
    await this.#change(changed, rest);
  }

  /** Give up a stop of the tour for which no answer comes, because the reader has closed the tour. Choices
   * that the reader has made since the stop are not given up. */
  giveUpStop() {
    const state = this.#state;
    if (!this.#lost || !state.arriving) return;
    this.#lost = 0;
    const own = Object.entries(this.#wanted ?? {}).filter(([name]) => state.touched(name));
    this.#request.abort();
    this.#wanted = null;
    this.#following = false;
    state.begin();
    this.#player.notice("");
    if (own.length) this.choose(Object.fromEntries(own));
  }

  /** If the changed choices need another recipe, load and show it. Then show the tour's stop that waits for
   * this recipe, if there is one. @param {Record<string, string>} changed @param {Record<string, string>}
   * rest the values of that stop that are no choices @returns {Promise<boolean | undefined>} whether the
   * scene now has these choices; undefined if a later change has replaced this one */
  async #change(changed, rest = {}) {
    const player = this.#player;
    const state = this.#state;
    const tooLongWords = tooLong(changed, state.recipe.choices);
    if (tooLongWords) {
      if (!this.#wanted) state.begin();
      return this.#refuse(tooLongWords, changed);
    }
    if (!this.#wanted && this.#growth.takes(changed)) return this.#arrive();
    const choices = (this.#wanted = {
      ...(this.#wanted ?? state.choices),
      ...defaultsAfter(changed, state.recipe),
      ...changed,
    });
    return this.#next(async (signal) => {
      const other = Object.keys(changes(choices, state.choices)).length > 0;
      const answer = other ? await this.#ask(choices, signal) : null;
      await this.#grip.free();
      if (signal.aborted) return undefined;
      this.#wanted = null;
      const addressed = !this.#following; // whether the page's address is that of the present state
      this.#following = false;
      if (answer && !answer.recipe) {
        const { refused, parameter } = answer;
        state.begin();
        return this.#refuse(refused ?? "", choices, parameter ? [parameter] : Object.keys(changed));
      }
      const wrong = wrongValues(rest, answer?.recipe ?? state.recipe);
      if (wrong.length) {
        state.begin();
        return this.#refuse(wrong.join("; "));
      }
      player.notice("");
      if (!answer?.recipe) return this.#arrive();
      if (addressed) writeAddress(player, false);
      this.#parts.take(answer, state.kept(answer.recipe));
      // a stop of the tour has an entry already; and a choice made before its question is answered gets none,
      // because the answer will replace it
      writeAddress(player, !state.arriving && !player.tour?.asking);
      await this.#parts.build();
      return signal.aborted ? undefined : this.#arrive();
    });
  }

  /** Say why a change is refused: at the field in which the reader has typed the wrong value, or else in a
   * notice. Lists and check boxes return to the present choices; a text that the reader has typed stays in
   * its field, to be corrected. Returns false. @param {string} words the reason, without a full stop @param
   * {Record<string, string>} [asked] the refused choices @param {string[]} [names] of the choices that may be
   * wrong */
  #refuse(words, asked = {}, names = Object.keys(asked)) {
    const { root } = this.#player;
    const { choices } = this.#state;
    const other = changes(asked, choices); // a field with the present value is not what is wrong
    const shown = names.some((name) => name in other && refuse(root, name, asked[name], `${words}.`));
    this.#player.notice(shown ? "" : `${words}. The picture is as it was.`);
    showLists(root, choices);
    return false;
  }

  /** Finish a change: show the tour's stop that waited for it, if there is one. Returns true. */
  #arrive() {
    const to = this.#state.arrive(prefersReducedMotion());
    if (to) this.#player.fly(to.camera);
    this.#frames.schedule();
    return true;
  }
}

/** The notice for the errors in a link; "" if there are none. @param {string[]} wrong */
const wrongLinkText = (wrong) => (wrong.length ? `This link has an error: ${wrong.join("; ")}` : "");

/** The default values of the choices that depend (`of`) on a changed choice and so must be reset, such as the
 * choice of a trained network after a change of the data. @param {Record<string, string>} changed
 * @param {Recipe} recipe @returns {Record<string, string>} */
function defaultsAfter(changed, recipe) {
  const dependent = recipe.choices.filter((c) => c.of?.some((name) => name in changed));
  return Object.fromEntries(dependent.map((c) => [c.name, String(c.default)]));
}
