// @ts-check
/**
 * Training on a scene's page: the clientside half of components/train_panel.py, and the files of a run. The picture goes
 * with the training: what the worker sends is the recipe of the film so far, of which it leaves out what it has sent.
 */

import { h } from "./controls.mjs";

const QUIET = 5000; // milliseconds without news after which the page says so
const LOST = "The server no longer answers, so this training cannot be followed. Reload the page to train again.";

const player = () => /** @type {any} */ (window).normscape.players[0];
const whole = (/** @type {number} */ x) => x.toLocaleString("en-GB");
const duration = (/** @type {number} */ s) => (s < 60 ? `${Math.ceil(s)} s` : `${Math.floor(s / 60)} min ${Math.ceil(s % 60)} s`);

/** The training that this page follows. @type {{ticket: string, choices: Record<string, string>, known: Map<string, any>, bar: number, watch: number} | null} */
let followed = null;

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
  clearTimeout(followed?.watch);
  followed = { ticket, choices: { ...player().choices }, known: new Map(), bar: 0, watch: 0 };
  watch();
  return ["running", 0, "Starting …"];
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
  picture(news.recipe);
  const left = news.left === null ? "" : `, about ${duration(news.left)} left`;
  followed.bar = (100 * news.step) / news.steps;
  return ["running", followed.bar, `Step ${whole(news.step)} of ${whole(news.steps)}: median loss ${news.loss.toPrecision(2)}, `
    + `${news.solved} of ${news.seeds} solve it${left}`];
}

/** The picture of the film so far, unless the hand has chosen something else meanwhile. @param {any} recipe */
function picture(recipe) {
  const { known, choices } = /** @type {NonNullable<typeof followed>} */ (followed);
  for (const kind of ["clouds", "views"]) {
    recipe[kind] = recipe[kind].map((/** @type {any} */ each) => {
      const place = `${kind} ${each.name}`, full = { ...known.get(place), ...each };
      known.set(place, full);
      return full;
    });
  }
  const same = Object.entries(choices).every(([name, value]) => String(player()?.choices[name]) === String(value));
  if (same && recipe.clock) player().live(recipe);
}

const ENDS = /** @type {Record<string, string>} */ ({
  lost: "The training was lost: its worker has ended, or could not be reached for a while. Train again.",
  left: "This training ended when the page was left.",
  replaced: "This training was given up: you have started another one.",
});

/** @param {any} end */
function over(end) {
  if (!end) return Array(3).fill(/** @type {any} */ (window).dash_clientside.no_update);
  const choices = followed?.choices;
  clearTimeout(followed?.watch);
  followed = null;
  if (end.state !== "done") return ["idle", 0, ENDS[end.state] ?? `The training failed: ${end.words}`];
  toEnd({ ...choices, run: end.run, net: "", seed: String(end.seed) });
  const ended = end.ended ? `, ${end.ended} ended early` : "";
  return ["idle", 100, `${end.solved} of ${end.seeds} solve it after ${whole(end.step)} steps${ended}. Seed ${end.seed} is shown; the link keeps it.`];
}

/** The recipe of a whole run, at its last step. @param {Record<string, string>} choices */
async function toEnd(choices) {
  const shown = player(), done = await shown?.choose(choices);
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
  if (followed) navigator.sendBeacon(`${player().root.dataset.run.replace(/run$/, "training")}/${followed.ticket}/close`);
});

const { dash_clientside } = /** @type {any} */ (Object.assign(window, { dash_clientside: /** @type {any} */ (window).dash_clientside ?? {} }));
dash_clientside.training = { ask, show, over };
