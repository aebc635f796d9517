// @ts-check
/**
 * Training on a scene's page: the clientside half of components/training/panel.py, and the files of a run. The picture goes
 * with the training: what the worker sends is the recipe of the film so far, of which it leaves out what it has sent.
 */

import { h, whole } from "./controls.mjs";

const QUIET = 5000; // milliseconds without news after which the page says so
const LOST = "The server no longer answers, so this training cannot be followed. Reload the page to train again.";

const player = () => /** @type {any} */ (window).normscape.players[0];
const duration = (/** @type {number} */ s) => (s < 60 ? `${Math.ceil(s)} s` : `${Math.floor(s / 60)} min ${Math.ceil(s % 60)} s`);

/** The training that this page follows: the player that shows it, the choices then, what the worker was told to show.
 * @type {{ticket: string, shown: any, choices: Record<string, string>, known: Map<string, any>, bar: number, watch: number, seeds: number, look: string} | null} */
let followed = null;

/** @param {string} what @returns {boolean} whether it is on its way to the server */
const tell = (what) => navigator.sendBeacon(`${followed?.shown.root.dataset.run.replace(/run$/, "training")}/${followed?.ticket}/${what}`);

/** What a page asks to train. @param {unknown} _ @param {any} steps @param {any} lr @param {any} seeds @param {any} seed */
function ask(_, steps, lr, seeds, seed) {
  const { slug, choices } = player(), texts = Object.entries(choices).map(([name, value]) => [name, String(value)]);
  return { slug, choices: Object.fromEntries(texts), steps, lr, seeds, seed, time: Date.now() };
}

/** State of the panel, bar and words, after whatever has come. @param {string | null} refused @param {string} ticket @param {string} news */
function show(refused, ticket, news) {
  const { dash_clientside: { callback_context: { triggered }, no_update } } = /** @type {any} */ (window);
  const came = new Set(triggered.map((/** @type {any} */ t) => t.prop_id.split(".")[0]));
  if (came.has("train-ticket") && ticket) return begun(ticket);
  if (came.has("train-refused") && refused) return followed ? [no_update, no_update, no_update] : ["idle", 0, refused];
  if (came.has("train-news") && news && followed) return under(JSON.parse(news));
  return [no_update, no_update, no_update];
}

/** @param {string} ticket */
function begun(ticket) {
  forget();
  const shown = player();
  followed = { ticket, shown, choices: { ...shown.choices }, known: new Map(), bar: 0, watch: 0, seeds: 0, look: "" };
  shown.turn = turn;
  shown.listen.signal.addEventListener("abort", () => { if (followed?.shown === shown) forget(); }); // its page was left
  watch();
  return ["running", 0, "Starting …"];
}

/** Nothing is followed any more. */
function forget() {
  clearTimeout(followed?.watch);
  if (followed) followed.shown.turn = null;
  followed = null;
}

/** Say so if nothing comes for a while; the next news say otherwise. */
function watch() {
  if (!followed) return;
  clearTimeout(followed.watch);
  followed.watch = window.setTimeout(() => /** @type {any} */ (window).dash_clientside.set_props("train-words", { children: LOST }), QUIET);
}

/** @param {any} news */
function under(news) {
  if (!followed) return [];
  watch();
  if (news.away) return ["running", followed.bar, "The queue does not answer at the moment. The training goes on where it runs."];
  if ("ahead" in news) return ["running", 0, news.ahead ? `${news.ahead} before you` : "Starting …"];
  followed.seeds = news.seeds;
  if (Number(followed.shown.choices.seed) >= news.seeds) {
    followed.choices.seed = "0"; // as the worker shows it, and not a wish of the hand
    turn({ seed: "0" });
  }
  picture(news.recipe);
  const left = news.left === null ? "" : `, about ${duration(news.left)} left`;
  followed.bar = (100 * news.step) / news.steps;
  return ["running", followed.bar, `Step ${whole(news.step)} of ${whole(news.steps)}: median loss ${news.loss.toPrecision(2)}, `
    + `${news.solved} of ${news.seeds} solve it${left}`];
}

/** Whether a choice is of what is shown alone, such as the seed, and not of what is trained. @param {string} name */
function free(name) {
  const { of } = followed?.shown.recipe.choices.find((/** @type {any} */ c) => c.name === "run");
  return ![...of, "run", "net"].includes(name);
}

/** The choices that the hand has changed since the training began. */
function changed() {
  const { choices, shown } = /** @type {NonNullable<typeof followed>} */ (followed), now = Object.entries(shown.choices);
  return Object.fromEntries(now.map(([name, value]) => [name, String(value)]).filter(([name, text]) => text !== String(choices[name])));
}

/** The worker shows what the hand has chosen to see. @param {Record<string, string>} choices */
function look(choices) {
  const query = new URLSearchParams(choices).toString();
  if (followed && query !== followed.look && tell(`look?${query}`)) followed.look = query;
}

/** New choices of what is shown: the next picture has them. @param {Record<string, string>} wanted @returns {boolean} */
function turn(wanted) {
  if (!followed || !Object.keys(wanted).every(free)) return false;
  const { shown, seeds } = followed, beyond = Number(wanted.seed) >= seeds;
  shown.notice(beyond ? `seed=${wanted.seed}, but this training has ${seeds}, from 0 on` : "");
  if (beyond) return true;
  Object.assign(shown.choices, wanted);
  for (const [name, value] of Object.entries(wanted)) {
    const field = shown.root.querySelector(`#choice-${name}`);
    if (field) field.value = value;
  }
  look(changed());
  return true;
}

/** The picture of the film so far, unless the hand has chosen something else to train. @param {any} recipe */
function picture(recipe) {
  const { known, shown } = /** @type {NonNullable<typeof followed>} */ (followed), other = changed();
  for (const kind of ["clouds", "views"]) {
    recipe[kind] = recipe[kind].map((/** @type {any} */ each) => {
      const place = `${kind} ${each.name}`, full = { ...known.get(place), ...each };
      known.set(place, full);
      return full;
    });
  }
  if (!recipe.clock || !Object.keys(other).every(free)) return;
  look(other);
  shown.live(recipe);
}

const ENDS = /** @type {Record<string, string>} */ ({
  lost: "The training was lost: its worker has ended, or could not be reached for a while. Train again.",
  left: "This training ended when the page was left.",
  replaced: "This training was given up: you have started another one.",
});

/** @param {any} end */
function over(end) {
  if (!end || !followed) return Array(3).fill(/** @type {any} */ (window).dash_clientside.no_update);
  const { choices, shown } = followed, own = picked(end.seeds);
  forget();
  if (end.state !== "done") return ["idle", 0, ENDS[end.state] ?? `The training failed: ${end.words}`];
  const seed = own.seed ?? String(end.seed);
  toEnd(shown, { ...choices, ...own, run: end.run, net: "", seed });
  const ended = end.ended ? `, ${end.ended} ended early` : "";
  return ["idle", 100, `${end.solved} of ${end.seeds} solve it after ${whole(end.step)} steps${ended}. Seed ${seed} is shown; the link keeps it.`];
}

/** What the hand has chosen to see of a training that now ends, if it has so many seeds. @param {number} seeds */
function picked(seeds) {
  const { seed, ...rest } = Object.fromEntries(Object.entries(changed()).filter(([name]) => free(name)));
  return Number(seed) < seeds ? { ...rest, seed } : rest;
}

/** The recipe of a whole run, at its last step. @param {any} shown the player @param {Record<string, string>} choices */
async function toEnd(shown, choices) {
  const done = await shown.choose(choices);
  const clock = done && shown.recipe.parameters.find((/** @type {any} */ p) => p.name === shown.recipe.clock);
  if (clock) shown.set(clock.name, clock.max);
}

/** The files of the run that is shown. @param {HTMLElement} part @param {any} shown the player */
function files(part, shown) {
  const { run, seed } = shown.choices, place = shown.root.dataset.run, words = h("p", { role: "alert" });
  const open = h("input", { type: "file", accept: ".npz,.json", hidden: true, onchange: async () => {
    const [file] = open.files;
    const query = new URLSearchParams(Object.entries(shown.choices).filter(([name, value]) => String(value) !== String(shown.usual[name])));
    const answer = file && await ask(`${place}/${shown.slug}?${query}`, { method: "POST", body: file, headers: { "Content-Type": "application/octet-stream" } });
    open.value = "";
    if (answer?.choices) shown.choose({ net: "", ...answer.choices });
  } });
  /** @param {string} url @param {RequestInit} [options] */
  const ask = async (url, options) => {
    const reply = await fetch(url, options).catch(() => null), body = await reply?.json().catch(() => null);
    words.textContent = reply?.ok ? "" : body?.error ?? "The server does not answer.";
    return reply?.ok ? body : null;
  };
  const carry = async () => {
    const answer = await ask(`${place}/${run}/net?seed=${seed}`);
    if (answer && await shown.choose({ run: "", net: answer.net })) shown.share();
  };
  const link = (/** @type {string} */ kind) => h("a", { href: `${place}/${run}.${kind}`, download: "" }, `.${kind}`);
  part.replaceChildren(
    ...(run ? [h("span", {}, "Download the run: ", link("npz"), " ", link("json")),
      h("button", { type: "button", title: "A link that holds the network of this seed, and opens anywhere", onclick: carry }, "Link with the network")] : []),
    h("button", { type: "button", title: "A run that was downloaded, .npz or .json", onclick: () => open.click() }, "Open a run …"), open, words);
}

/** @type {any} */ let known;
function attend() {
  const shown = player(), part = /** @type {HTMLElement | null} */ (shown?.root.querySelector(".training .files"));
  if (!part || (known?.part === part && part.childElementCount && known.run === shown.choices.run && known.seed === shown.choices.seed)) return;
  known = { part, run: shown.choices.run, seed: shown.choices.seed };
  files(part, shown);
}
addEventListener("normscape:state", attend);

addEventListener("pagehide", () => {
  if (followed) tell("close");
});

const { dash_clientside } = /** @type {any} */ (Object.assign(window, { dash_clientside: /** @type {any} */ (window).dash_clientside ?? {} }));
dash_clientside.training = { ask, show, over };
