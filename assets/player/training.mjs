// @ts-check
/** Run the training panel of a scene's page: the browser's half of components/pages/panel.py, and the buttons
 * for the files of a run (a stored training). While a training runs, the figure shows its film so far (the
 * network's weights at all checkpoints until now). For this the server's worker sends the recipe again and
 * again, without the parts that it has sent before. */

import { sleep } from "../browser.mjs";
import { shared } from "../globals.mjs";
import { duration, h, whole } from "../dom.mjs";
import { changes } from "./link.mjs";
import { poll } from "./poll.mjs";
import { asked, fileButton, messages, upload } from "./upload.mjs";
/** @import { Recipe } from "../engine/engine.mjs" */
/** @import { Player } from "./player.mjs" */

const QUIET_MS = 3000; // milliseconds without an answer, after which the page says so
const NO_ANSWER_TEXT =
  "The server does not answer at the moment. This page keeps asking; a running training may go on.";
const TRY_AGAIN_TEXT = "The server does not answer. Try again in a moment.";
const NOT_OPENED_TEXT = "The training has ended, but its result cannot be opened. Train again.";
const NO_WORKER_TEXT = "No training worker is running on the server. The training waits until one starts.";

const player = () => shared.normscape.players[0];

/**
 * The training whose news this page polls; null if there is none. ticket: its identifier on the server;
 * shown: the player that shows the training; choices: the choices that were sent with the order (the
 * choice `seed` is later set to 0 if the training has no such network); known: the parts of the recipe that
 * the worker has sent, by kind and name; seeds: the number of networks that are trained; seen: the training
 * step of the last picture (a recipe of the film so far); stop: whether the reader has asked to stop; look:
 * the changed choices for which the worker should make pictures; life: aborted when the polling must end.
 * @type {{ticket: string, shown: Player, choices: Record<string, string>, known: Map<string, object>, seeds:
 * number, seen: number, stop: boolean, look: Record<string, string>, life: AbortController} | null}
 */
let followed = null;
/** News for the training panel: its state ("idle" or "running"), the value of its progress bar in percent,
 * and its message. @typedef {[string, number, string]} News */
/** @type {News} */ let lastNews = ["idle", 0, ""];
// the news that the panel shows: the most recent ones, or a message about a missing answer
let shownNews = lastNews;
let silence = 0; // a timer
let orders = 0; // the number of trainings that were ordered

const orderUrl = (/** @type {Player} */ shown) => shown.root.dataset.run?.replace(/run$/, "training") ?? "";
const pollUrl = () => (followed ? `${orderUrl(followed.shown)}/${followed.ticket}` : "");

/** The panel's number fields, such as learning rate and steps. @returns {NodeListOf<HTMLInputElement>} */
const fields = () => document.querySelectorAll(".training .fields input");

/** Order a training from the server: send the scene, the choices and the numbers in the panel's fields. Mark
 * the fields with wrong values, and start to poll the training's news if there is a ticket. */
async function train() {
  const shown = player();
  const choices = { ...shown.choices }; // the reader may change them before the server answers
  const texts = Object.entries(choices).map(([name, value]) => [name, String(value)]);
  const numbers = Array.from(fields(), ({ name, valueAsNumber }) => [name, valueAsNumber]);
  const body = JSON.stringify({
    slug: shown.slug,
    choices: Object.fromEntries(texts),
    ...Object.fromEntries(numbers),
  });
  const order = ++orders;
  expectAnswer(TRY_AGAIN_TEXT);
  const options = { method: "POST", body, headers: { "Content-Type": "application/json" } };
  const { answer, words } = await asked(orderUrl(shown), options, { 0: TRY_AGAIN_TEXT });
  if (order !== orders) return; // the reader has clicked again
  clearTimeout(silence);
  if (shown.closed) return; // the reader has left the scene
  for (const field of fields()) {
    const wrong = answer?.wrong?.[field.name];
    field.setAttribute("aria-invalid", String(Boolean(wrong)));
    /** @type {HTMLElement} */
    (document.getElementById(`${field.id}-wrong`)).textContent = wrong ?? "";
  }
  if (answer?.ticket) begin(answer.ticket, shown, choices);
  else showNews((lastNews = ["idle", 0, answer?.refused ?? words]));
}

/** Start to poll the server for news of the training with this ticket; stop polling for another training.
 * @param {string} ticket @param {Player} shown the player that shows the training @param {Record<string,
 * string>} choices the choices that were sent with the order */
function begin(ticket, shown, choices) {
  forget();
  const life = new AbortController();
  followed = {
    ticket,
    shown,
    choices,
    known: new Map(),
    seeds: 0,
    seen: -1,
    stop: false,
    look: {},
    life,
  };
  shown.interceptChoices(adoptChoices);
  // the reader leaves the scene while the training runs
  shown.life.addEventListener(
    "abort",
    () => {
      close();
      forget();
    },
    { signal: life.signal },
  );
  expectAnswer(NO_ANSWER_TEXT);
  poll(pollUrl(), question, handle, { signal: life.signal, sleep });
  showNews((lastNews = ["running", 0, "Starting …"]));
}

/** Stop polling for news of the training, and stop intercepting the player's choices. The server is not told.
 */
function forget() {
  clearTimeout(silence);
  followed?.life.abort();
  followed?.shown.interceptChoices(null);
  followed = null;
}

/** Tell the server that the page is being left, so that the server ends the training; does nothing if no
 * training is polled. */
function close() {
  if (followed) navigator.sendBeacon(`${pollUrl()}/close`);
}

/** Ask the server, with the next poll, to stop the training early and keep its result. */
function stop() {
  if (followed) followed.stop = true;
}

/** Show a message if no answer comes within QUIET_MS from now; a new call restarts this time.
 * @param {string} words the message */
function expectAnswer(words) {
  clearTimeout(silence);
  silence = window.setTimeout(() => showNews([lastNews[0], lastNews[1], words]), QUIET_MS);
}

/** Show state, progress bar and message in the training panel, if they have changed. @param {News} news */
function showNews(news) {
  if (String(news) === String(shownNews)) return;
  const [state, bar, words] = (shownNews = news);
  const { set_props } = shared.dash_clientside;
  set_props("train-panel", { "data-state": state });
  set_props("train-bar", { value: bar });
  set_props("train-words", { children: words });
}

/** The data that the page sends with each poll: the training step of the most recent picture that it has
 * received, whether to stop, and the changed choices for the next pictures. */
function question() {
  const { seen, stop, look } = /** @type {NonNullable<typeof followed>} */ (followed);
  return { seen, stop, look };
}

/** Handle an answer to a poll. @param {any} answer null if the server had no news @returns {boolean} whether
 * to continue polling */
function handle(answer) {
  if (!followed) return false;
  expectAnswer(NO_ANSWER_TEXT);
  if (answer?.end) lastNews = finish(answer.end);
  else if (answer) lastNews = update(answer);
  showNews(lastNews);
  return Boolean(followed);
}

/** Show the picture (the recipe of the film so far) in the news of a running training, if there is one.
 * Returns the panel's new state, bar and message. @param {any} news the server's answer @returns {News} */
function update(news) {
  if (!followed) return lastNews;
  if (news.away)
    return [
      "running",
      lastNews[1],
      "The training queue is not available at the moment. A running training may go on.",
    ];
  if (news.worker === false) return ["running", 0, NO_WORKER_TEXT];
  if ("ahead" in news) return ["running", 0, news.ahead ? `${news.ahead} ahead of you` : "Starting …"];
  followed.seeds = news.seeds;
  followed.seen = news.step;
  if (Number(followed.shown.choices.seed) >= news.seeds) {
    // the worker shows seed 0 instead; this does not count as the reader's choice
    followed.choices.seed = "0";
    adoptChoices({ seed: "0" });
  }
  showPicture(news.recipe);
  const left = news.left === null ? "" : `, about ${duration(news.left)} left`;
  return [
    "running",
    (100 * news.step) / news.steps,
    `Step ${whole(news.step)} of ${whole(news.steps)}: median loss ${news.loss.toPrecision(2)}, ` +
      `${news.solved} of ${news.seeds} solve it${left}`,
  ];
}

/** Whether a choice affects only what the page shows of a training, such as the seed, and not the training
 * itself. @param {string} name of the choice */
function affectsOnlyPictures(name) {
  const run = followed?.shown.recipe.choices.find((c) => c.name === "run");
  return ![...(run?.of ?? []), "run", "net"].includes(name);
}

/** The choices that differ from those with which the training began, with their present values. */
function changed() {
  const { choices, shown } = /** @type {NonNullable<typeof followed>} */ (followed);
  return changes(shown.choices, choices);
}

/** Ask the worker, with the next poll, to make its next pictures (recipes) for these changed choices.
 * @param {Record<string, string>} choices */
function askForPictures(choices) {
  if (followed) followed.look = choices;
}

/** Handle a change of choices by the reader during a training. If all changed choices affect only what is
 * shown, they apply from the next picture on, and the result is true. A seed that the training does not have
 * is refused with a notice; then, too, the result is true. Otherwise, or if no training runs, this does
 * nothing and returns false. @param {Record<string, string>} wanted the changed choices, by name
 * @returns {boolean} */
function adoptChoices(wanted) {
  if (!followed || !Object.keys(wanted).every(affectsOnlyPictures)) return false;
  const { shown, seeds } = followed;
  const beyond = Number(wanted.seed) >= seeds;
  shown.notice(beyond ? `seed=${wanted.seed}, but this training has ${seeds} seeds, numbered from 0` : "");
  shown.setChosen(beyond ? { seed: shown.choices.seed } : wanted); // a refused seed leaves its field
  askForPictures(changed());
  return true;
}

/** Show the training's film so far, as a recipe: add the parts that the worker did not send again, and give
 * the recipe to the player, unless the reader has meanwhile made choices that need another training. @param
 * {Recipe} recipe */
function showPicture(recipe) {
  const { known, shown } = /** @type {NonNullable<typeof followed>} */ (followed);
  const other = changed();
  const parts = /** @type {Record<string, {name: string}[]>} */ (/** @type {unknown} */ (recipe));
  for (const kind of ["clouds", "views"]) {
    parts[kind] = parts[kind].map((each) => {
      const key = `${kind} ${each.name}`;
      const full = { ...known.get(key), ...each };
      known.set(key, full);
      return full;
    });
  }
  if (!recipe.clock || !Object.keys(other).every(affectsOnlyPictures)) return;
  askForPictures(other);
  shown.showTraining(recipe);
}

const OUTCOME_TEXTS = /** @type {Record<string, string>} */ ({
  lost: "The training was lost: its worker does not answer, or the server no longer knows it. Train again.",
  left: "This training ended when the page was left.",
  replaced: "This training was stopped because you started another one.",
  stopped: "This training was stopped before it began.",
});

/** Stop polling for a training that has ended, and show its run (the stored training) if there is one.
 * Returns the panel's new state, bar and message. @param {any} end the server's message about the end
 * @returns {News} */
function finish(end) {
  if (!followed) return lastNews;
  const { choices, shown } = followed;
  const kept = keptChoices(end.seeds);
  forget();
  if (end.state !== "done") {
    restore(shown);
    return ["idle", 0, OUTCOME_TEXTS[end.state] ?? `The training failed: ${end.words}`];
  }
  const seed = kept.seed ?? String(end.seed);
  toEnd(shown, { ...choices, ...kept, run: end.run, net: "", seed });
  const ended = end.ended ? `, ${end.ended} ended early` : "";
  return [
    "idle",
    100,
    `${end.solved} of ${end.seeds} solve it after ${whole(end.step)} steps${ended}. ` +
      `Seed ${seed} is shown; the link keeps it for at most ${end.days} days.`,
  ];
}

/** The choices that the reader has changed during the training and that affect only what is shown. The seed
 * is left out if the finished training has no network with this number, that is, if it is not below `seeds`.
 * @param {number} seeds */
function keptChoices(seeds) {
  const { seed, ...rest } = Object.fromEntries(
    Object.entries(changed()).filter(([name]) => affectsOnlyPictures(name)),
  );
  return Number(seed) < seeds ? { ...rest, seed } : rest;
}

/** Show the run with these choices, at its last training step. If it cannot be opened, the panel says so.
 * @param {Player} shown the player @param {Record<string, string>} choices */
async function toEnd(shown, choices) {
  const done = await shown.choose(choices);
  if (done === false && !followed) {
    restore(shown);
    showNews((lastNews = ["idle", 0, NOT_OPENED_TEXT]));
  }
  const clock = done && shown.recipe.parameters.find((p) => p.name === shown.recipe.clock);
  if (clock) shown.set(clock.name, clock.max);
}

/** After a training whose result cannot be opened: show the network that the page's address names, if the
 * player still shows pictures of the training. @param {Player} shown the player */
function restore(shown) {
  if (shown.growing) shown.restore();
}

/** Fill a part of the panel with buttons: download the run that is shown, get a link that contains its
 * network, and open a downloaded run. @param {HTMLElement} part @param {Player} shown the player */
function files(part, shown) {
  const { run, seed } = shown.choices;
  const runUrl = shown.root.dataset.run;
  const { line, answered } = messages();
  const open = async (/** @type {File} */ file) => {
    const query = new URLSearchParams(changes(shown.choices, shown.usual));
    const url = `${runUrl}/${shown.slug}?${query}`;
    const answer = await answered(upload(url, file, Number(part.dataset.maxBytes)));
    if (answer?.choices) shown.choose({ net: "", ...answer.choices });
  };
  const carry = async () => {
    const answer = await answered(asked(`${runUrl}/${run}/net?seed=${seed}`));
    if (answer && (await shown.choose({ run: "", net: answer.net }))) shown.commands.share(shown);
  };
  part.replaceChildren(
    ...(run
      ? [
          h("a", { href: `${runUrl}/${run}.npz`, download: "" }, "Download the run"),
          h(
            "button",
            {
              type: "button",
              title: "A link that contains the network of this seed and opens anywhere",
              onclick: carry,
            },
            "Link with the network",
          ),
        ]
      : []),
    ...fileButton("Open a run …", ".npz", open, "A downloaded run (.npz)"),
    line,
  );
}

/** @type {{part: HTMLElement, run: string, seed: string} | undefined} */ let filled;
/** Rebuild the panel's buttons for files (`files`) if another run or seed is shown, or if the buttons are
 * missing. */
function attend() {
  const shown = player();
  const part = /** @type {HTMLElement | null} */ (shown?.root.querySelector(".training .files"));
  if (
    !part ||
    (filled?.part === part &&
      part.childElementCount &&
      filled.run === shown.choices.run &&
      filled.seed === shown.choices.seed)
  )
    return;
  filled = { part, run: shown.choices.run, seed: shown.choices.seed };
  files(part, shown);
}
addEventListener("normscape:state", attend);

// if the page returns from the browser's cache, it polls again, and learns that the training has ended
addEventListener("pagehide", close);

shared.dash_clientside ??= {};
shared.dash_clientside.training = { train, stop };
