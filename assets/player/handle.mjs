// @ts-check
/**
 * A player in an element of any page, and the few words by which that page leads it.
 *
 * @typedef {{choices: Record<string, string>, params: Record<string, number>, progress: number, follow: number}} Shown what a page
 *   may know and set
 * @typedef {Partial<Shown> & {slug: string, usual: Record<string, string>, recipe: string, plotly: string, still?: string, query?: string,
 *   controls?: string[]}} Options usual: the defaults of the choices; recipe, plotly, still: where these are asked for; query: the
 *   state as a link has it; controls: the names of those that are shown
 */

import { shared } from "../page/globals.mjs";
import { h } from "./controls.mjs";
import { Player } from "./player.mjs";

const PARTS = ["notice", "formula", "views", "scrubber", "choices", "parameters", "numbers"];

/** @param {HTMLElement} element an empty one, which is the player's until it is closed @param {Options} options */
export function mount(element, { slug, usual, recipe, plotly, still, query = "", controls, ...shown }) {
  /** @type {((shown: Shown) => void)[]} */ const heard = [];
  const life = new AbortController(), { signal } = life;
  Object.assign(element.dataset, { choices: JSON.stringify(usual), recipe, plotly, query: new URLSearchParams(query).toString(),
    ...(still && { still }), ...(controls && { controls: controls.join(",") }) });
  element.classList.add("scene");
  element.replaceChildren(...PARTS.map((name) => h("div", { className: name, hidden: name === "notice" })));
  shared.normscape ??= { players: [] };
  let player = play(slug);

  /** @param {string} name */
  function play(name) {
    const made = new Player(element, name);
    made.start();
    return made;
  }
  /** Until it has a recipe. @returns {Promise<void>} */
  const known = () => new Promise((go) => {
    if (player.known) go();
    else element.addEventListener("normscape:living", () => go(), { once: true, signal });
  });
  const handle = {
    get slug() { return player.slug; },
    /** @returns {Shown | null} null before there is a recipe */
    get() {
      const { choices, params, progress, followed } = player;
      return player.known ? { choices, params, progress, follow: followed } : null;
    },
    /** What is given is set, all else stays. RangeError where it cannot be. @param {Partial<Shown>} wanted */
    async set({ choices, params, progress, follow }) {
      await known();
      if (choices) await player.choose(choices);
      for (const [name, value] of Object.entries(params ?? {})) player.set(name, value);
      if (progress !== undefined) player.seek(progress);
      if (follow !== undefined) player.follow(follow);
    },
    /** To be told when figures have come to rest in another state. @param {(shown: Shown) => void} hear */
    onChange(hear) { heard.push(hear); },
    /** Another scene in its place. @param {string} name @param {Pick<Options, "usual" | "recipe">} from */
    show(name, from) {
      player.close();
      Object.assign(element.dataset, { choices: JSON.stringify(from.usual), recipe: from.recipe, query: "" });
      player = play(name);
    },
    close() {
      life.abort();
      player.close();
      element.replaceChildren();
    },
  };
  element.addEventListener("normscape:state", () => {
    const now = handle.get();
    if (now) for (const hear of heard) hear(now);
  }, { signal });
  if (Object.keys(shown).length) handle.set(shown);
  return handle;
}
