/**
 * Run the pure modules of assets/ for the Python tests. Reads JSON from standard input, one line {call,
 * …arguments} per question; prints one line per question, {answer} or {error}. `call` names an entry of
 * `answers`.
 */

import "./browser_globals.mjs";
import { figure, figureReply, figuresWithFaults } from "./figure_runner.mjs";
import { Element, Player } from "./figure_stand_ins.mjs";
import { store, stored } from "../../assets/browser.mjs";
import { duration } from "../../assets/dom.mjs";
import { recorded } from "../../assets/page/film.mjs";
import { resting } from "../../assets/player/resting.mjs";
import { find, suggestion } from "../../assets/page/search.mjs";
import { createInterface } from "node:readline";
import { Binding, paced, query, toAdopt } from "../../assets/guest/binding.mjs";
import { unknownParameter, wrongProperty } from "../../assets/guest/properties.mjs";
import { recipe } from "../../assets/guest/kernel_recipe.mjs";
import { plain, sentence, side, where } from "../../assets/player/describe.mjs";
import * as engine from "../../assets/engine/engine.mjs";
import { crowds, crowdsOf, legible } from "../../assets/engine/crowds.mjs";
import { MARKS } from "../../assets/engine/marks.mjs";
import { edgeOn } from "../../assets/engine/geometry.mjs";
import { hull } from "../../assets/engine/hull.mjs";
import { certificate, selection, weights } from "../../assets/engine/selection.mjs";
import { opacityOf, pointsOf, valuesOf } from "../../assets/engine/shown.mjs";
import * as link from "../../assets/player/link.mjs";
import { approached, flat, lifted, zoomOf, widened } from "../../assets/engine/perspective.mjs";
import { largePoints, lineVisible, placed, spots, unmoved } from "../../assets/painter/names.mjs";
import * as motion from "../../assets/player/motion.mjs";
import { restoreAfterScroll } from "../../assets/player/controls.mjs";
import { nudge } from "../../assets/player/dragging.mjs";
import { marked } from "../../assets/player/letters.mjs";
import { readout, rows, typeset } from "../../assets/player/numbers.mjs";
import * as mentioned from "../../assets/player/mentioned.mjs";
import * as passages from "../../assets/player/passages.mjs";
import { sortRows } from "../../assets/player/overview.mjs";
import { spread } from "../../assets/player/scrubber.mjs";
import { pause, poll } from "../../assets/player/poll.mjs";
import { upload } from "../../assets/player/upload.mjs";
import { ask } from "../../assets/player/source.mjs";
import { framesOf } from "../../assets/player/frames.mjs";
import { State } from "../../assets/player/state.mjs";
import { within } from "../../assets/painter/plotly/context.mjs";
import { deep } from "../../assets/painter/plotly/depth.mjs";
import { compileLazily, declared } from "../../assets/painter/plotly/shaders.mjs";
import { cacheUniforms } from "../../assets/painter/plotly/uniforms.mjs";
import { watchPinch } from "../../assets/painter/pinch.mjs";
import { enlarge } from "../../assets/painter/traces.mjs";

/** Encode numbers as base64 of float32, because JSON has no NaN and no infinities. */
const pack = (x) => Buffer.from(Float32Array.from(x).buffer).toString("base64");
const each = (object, f) => Object.fromEntries(Object.entries(object).map(([name, x]) => [name, f(x)]));

/** Call a function, and run all timers that it has started, on a virtual clock: without waiting, in the order
 * of their times. The function gets `performance.now` of this clock. */
function virtually(act) {
  const { setTimeout } = globalThis;
  const { now } = performance;
  const waiting = [];
  let time = 0;
  globalThis.setTimeout = (call, ms = 0) => waiting.push({ time: time + ms, call });
  performance.now = () => time;
  act(performance.now);
  while (waiting.length) {
    const next = waiting.reduce((first, each) => (each.time < first.time ? each : first));
    waiting.splice(waiting.indexOf(next), 1);
    time = next.time;
    next.call();
  }
  Object.assign(globalThis, { setTimeout });
  performance.now = now;
}

/**
 * Replace the function `fetch` by another, which gives the replies in order: for "error" it rejects, and for
 * "hang" it waits until the request is aborted. After the last reply, all requests reject. Returns a list, to
 * which each request is added when it is made.
 */
function script(replies) {
  const asked = [];
  globalThis.fetch = async (url, { body: sent, signal }) => {
    asked.push({ url, body: typeof sent === "string" ? JSON.parse(sent) : null });
    const reply = replies.shift() ?? "error";
    if (reply === "error") throw new TypeError("Failed to fetch");
    if (reply === "hang")
      await new Promise((_, no) => signal.addEventListener("abort", () => no(signal.reason)));
    const body = reply.base64 ? Buffer.from(reply.base64, "base64") : reply.text;
    return new Response(reply.status === 204 ? null : body, { status: reply.status, headers: reply.headers });
  };
  return asked;
}

/** @type {object[]} */ let searched = [];

const answers = {
  /**
   * Compute for each case (params, progress, followed) the stages and the present positions of all clouds,
   * and for each mark its drawn points, opacity and colour values. The stages are null if `params` equal
   * those of the case before.
   */
  run({ recipe, cases, marks: shown }) {
    const memory = new WeakMap();
    return cases.map(({ params, progress, followed }, k) => {
      const all = engine.stages(recipe, params, memory);
      const at = engine.positions(recipe, params, progress);
      const moment = { recipe, stages: all, at, params, progress, followed };
      const known = k > 0 && JSON.stringify(params) === JSON.stringify(cases[k - 1].params);
      const out = {
        stages: known ? null : each(all, (stages) => stages.map(pack)),
        positions: each(at, pack),
      };
      return {
        ...out,
        marks: shown.map((mark) => ({
          points: pack(pointsOf(mark, moment)),
          opacity: opacityOf(mark, progress),
          values: mark.color ? pack(valuesOf(mark, moment)) : null,
        })),
      };
    });
  },
  /** For each (params, progress): the opacities of all marks, in the frame of each view. */
  opacities: ({ recipe, cases }) =>
    cases.map(([params, progress]) => {
      const [stages, at] = [engine.stages(recipe, params), engine.positions(recipe, params, progress)];
      const frames = framesOf({ recipe, stages, at, params, progress, followed: 0 }, false);
      return frames.map((frame) => frame.map(({ opacity }) => opacity));
    }),
  /** The names of the loose clouds (whose points may move at different times), the progress of each of their
   * points, and the positions of the points of all clouds, during a leg (the way from one stage to the next).
   * The last point starts later than the first, by the share `lag` of the leg's duration. */
  scattered({ recipe, leg, lag }) {
    const params = link.defaults(recipe);
    const own = motion.apart(leg, lag);
    const at = engine.positions(recipe, params, motion.along(leg, false), own);
    return {
      loose: [...engine.loose(recipe)],
      each: each(engine.progresses(recipe, own), (x) => Array.from(x)),
      at: each(at, pack),
    };
  },
  edgeOn: ({ values, eye }) => edgeOn(values, eye),
  marks: () => Object.keys(MARKS),
  hull: ({ points, n, d }) => answers.hulls({ sets: [points], n, d })[0],
  /** The convex hull of each set of points. Each computation gets the hull of the previous set, which it may
   * reuse. */
  hulls({ sets, n, d }) {
    let before;
    return sets.map((points) => {
      const { rank, order, triangles } = (before = hull(points, n, d, before));
      return { rank, order, triangles };
    });
  },
  /** The CPU time of computing a hull from scratch, in milliseconds: the mean of 20 runs, after 20 to warm
   * up. */
  hullTime({ points, n, d }) {
    for (let k = 0; k < 20; k++) hull(points, n, d);
    const start = process.cpuUsage();
    for (let k = 0; k < 20; k++) hull(points, n, d);
    const { user, system } = process.cpuUsage(start);
    return (user + system) / 1000 / 20;
  },
  /**
   * For each set of keys: the largest attention weight of each key, whether it can be selected, and its
   * certificate. The weights of each set are computed from the results for the previous set; certificates are
   * not.
   */
  selections({ sets, n, d }) {
    let before;
    return sets.map((keys) => {
      before = weights(selection(keys, n, d, before?.selection), n, d, before);
      const certificates = Array.from({ length: n }, (_, k) => certificate(keys, n, d, k));
      return {
        largest: Array.from(before.largest),
        selectable: before.selection.wins,
        certificates: certificates.map((found) => ({
          ...found,
          margin: n > 1 ? found.margin : null,
          weights: Array.from(found.weights),
        })),
      };
    });
  },
  /**
   * For each set of keys: which of them can be selected, and their largest attention weights, first computed
   * from the results for the previous set, then from scratch.
   */
  warm({ sets, n, d }) {
    let before;
    return sets.map((keys) => {
      before = weights(selection(keys, n, d, before?.selection), n, d, before);
      const cold = weights(selection(keys, n, d), n, d);
      return [before, cold].map(({ selection, largest }) => ({
        wins: selection.wins,
        largest: Array.from(largest),
      }));
    });
  },
  unpack: ({ packed }) => [...engine.unpack(packed)],
  residual: ({ a, b, n }) => engine.residual(Float32Array.from(a), Float32Array.from(b), n),
  measures: ({ points }) => points.map((x) => each(engine.measures(x), (v) => (Number.isNaN(v) ? null : v))),
  read({ search, choices, recipe }) {
    const { chosen, rest, wrong } = link.split(search, choices);
    const { state, wrong: more } = link.read(rest, recipe);
    return { chosen, state, wrong: [...wrong, ...more] };
  },
  tooLong: ({ changed, choices }) => link.tooLong(changed, choices),
  write: ({ state, choices, recipe }) => link.write(state, choices, recipe),
  approached: ({ camera, f }) => approached(camera, f),
  lifted: ({ pixel, at, ranges, camera, size }) => lifted(pixel, at, ranges, camera, ...size),
  widened: ({ view, progress, params }) => widened(view.ranges, zoomOf(view, progress, params)),
  flat: ({ points, ranges, camera, size }) => [...flat(Float32Array.from(points), ranges, camera, ...size)],
  lineVisible: ({ pixels, room }) =>
    lineVisible(
      Float32Array.from(pixels, (x) => x ?? NaN),
      room,
    ),
  unmoved: ({ frames }) =>
    unmoved(
      frames.map((/** @type {(number | null)[]} */ pixels) => Float32Array.from(pixels, (x) => x ?? NaN)),
    ),
  enlarged: ({ data, layout, layers, scale }) => {
    enlarge(data, layout, layers, scale);
    return { data, layout };
  },
  largePoints: ({ at, radius }) =>
    largePoints(
      Float32Array.from(at, (x) => x ?? NaN),
      radius,
    ),
  named: ({ sizes, things, room, taken, crowd, radius, discs }) =>
    placed(
      sizes.map(([wide, tall], k) => ({
        wide,
        tall,
        spots: spots(Float32Array.from(things[k]), k % 2 === 1, radius, discs),
      })),
      room,
      taken,
      Float32Array.from(crowd),
    ),
  spread: ({ places }) => spread(places),
  /** The position of a slider after events [type, x, whether from the first finger, new position], and for
   * each time that the slider was restored, whether the touch had moved it. */
  scrolled({ events }) {
    const range = Object.assign(new EventTarget(), { value: "1" });
    const restored = [];
    restoreAfterScroll(/** @type {any} */ (range), () => (moved) => restored.push(moved));
    for (const [type, clientX, isPrimary, value] of events) {
      range.value = value ?? range.value;
      range.dispatchEvent(Object.assign(new Event(type), { clientX, isPrimary }));
    }
    return [range.value, restored];
  },
  /** The zoom factors that a pinch reports while fingers touch an element and a child of it (zooms), and for
   * each event whether the browser and other listeners get it (reaches). An event is its type and its
   * fingers; a finger is [x, y, whether it is on the child]. */
  pinched({ events, scale }) {
    globalThis.visualViewport = /** @type {any} */ ({ scale });
    const [element, child] = [new EventTarget(), new EventTarget()];
    Object.assign(element, { contains: (target) => target === element || target === child });
    const zooms = [];
    watchPinch(element, new AbortController().signal, (apart) => zooms.push(apart));
    const reaches = events.map(([type, ...fingers]) => {
      const event = new Event(type, { cancelable: true });
      let stopped = false;
      event.stopPropagation = () => (stopped = true);
      const touches = fingers.map(([clientX, clientY, on]) => ({
        clientX,
        clientY,
        target: on ? child : element,
      }));
      element.dispatchEvent(
        Object.assign(event, { touches, targetTouches: touches.filter(({ target }) => target === element) }),
      );
      return [!event.defaultPrevented, !stopped];
    });
    return { zooms, reaches };
  },
  /** After each click on the head of a table's column: the numbers of the rows in their new order, and the
   * direction of the order. */
  sorted({ rows, clicks }) {
    const all = rows.map((cells, k) => ({ cells, value: k + 1 }));
    let [by, order] = [0, "ascending"];
    return clicks.map((c) => {
      order = sortRows(all, c, c === by ? order : "none");
      by = c;
      return [all.map(({ value }) => value), order];
    });
  },
  resting: ({ player }) => resting(player),
  mentioned: ({ name, cases }) => cases.map((all) => mentioned[name](...all)),
  passages: ({ name, cases }) => cases.map((all) => passages[name](...all)),
  motion: ({ name, cases }) => cases.map((all) => motion[name](...all)),
  /** For each leg of the animation (a move between stages) and lag: the progress of the points whose relative
   * indices in their cloud (0 the first, 1 the last) are `parts`. */
  apart: ({ cases, parts }) => cases.map(([leg, lag]) => parts.map(motion.apart(leg, lag))),
  /** For each camera that a panel reports during a flight between two cameras: whether it counts as turned by
   * the reader, and whether the flight goes on. The first camera reported is that of the flight itself. */
  async reported({ flight: [from, to], turned }) {
    const { Camera } = await import("../../assets/player/camera.mjs");
    let now = from;
    const panel = { is3d: true, camera: () => now, setCamera: (given) => (now = given) };
    const camera = new Camera({ panels: [panel] }, new State({}));
    camera.fly(to);
    camera.advance(300);
    return [now, turned].map((each) => [camera.turned(each, panel), Boolean(camera.flight)]);
  },
  where: (player) => where(player),
  sides: ({ cameras }) => cameras.map(side),
  sentences: ({ labels }) => labels.map(sentence),
  durations: ({ seconds }) => seconds.map(duration),
  plain: ({ labels }) => labels.map(plain),
  /**
   * The result of uploading a file of `size` bytes, if the page's limit is `most` bytes and the server gives
   * `reply`; and the number of requests (asked).
   */
  async upload({ size, most, reply }) {
    const asked = script([reply]);
    const found = await upload("/recording", { size }, most);
    return { ...found, asked: asked.length };
  },
  /** The text of each readout of a recipe. */
  readouts({ recipe, params, progress, followed }) {
    const stages = engine.stages(recipe, params);
    const at = engine.positions(recipe, params, progress);
    const player = {
      recipe,
      stages,
      at,
      params,
      progress,
      followed,
      moment: { recipe, stages, at, params, progress, followed },
    };
    return recipe.readouts.map((r) => readout(r, recipe, player));
  },
  /** The crowds of each view of a recipe: the places where several points coincide, with their numbers. */
  counts({ recipe, params, progress, followed }) {
    const stages = engine.stages(recipe, params);
    const at = engine.positions(recipe, params, progress);
    return recipe.views.map((view) => crowdsOf(view, { recipe, stages, at, params, progress, followed }));
  },
  /** For each readout of a recipe: the indices of the points that it marks or counts, from `marked`. */
  letters({ recipe, params, progress, followed }) {
    const stages = engine.stages(recipe, params);
    const at = engine.positions(recipe, params, progress);
    return recipe.readouts.map((r) => marked(r, { recipe, stages, at, params, progress, followed }));
  },
  rows: ({ recipe, params, followed }) => rows(recipe, params, engine.stages(recipe, params), followed),
  typeset: ({ text }) => typeset(text),
  pauses: ({ cases }) => cases.map(([since, chance]) => pause(since, chance)),
  /** The properties that a `Binding` passes on at each step. A step is either properties set by code
   * (`props`) or the figure's state after a change (`state`), `pause` milliseconds after the step before, by
   * default long after any echo; `fresh` means that a new figure has been opened before, `refused` that it
   * shows an error message, and `pending` are the properties that it has not adopted yet. */
  bind({ steps }) {
    const binding = new Binding();
    let now = 0;
    return steps.map(({ props, state, fresh, refused, pending, pause = 10_000 }) => {
      now += pause;
      binding.fresh ||= Boolean(fresh);
      binding.refused = Boolean(refused);
      return props ? binding.asked(props, pending, now) : binding.told(state, now);
    });
  },
  asked: ({ state }) => query(state),
  toAdopt: ({ pending, news, props }) => toAdopt(pending, news, props),
  wrongProperty: ({ props }) => wrongProperty(props),
  unknownParameter: ({ params, names }) => unknownParameter(params, names),
  /**
   * The recipe that a figure in a notebook gets for a query (found), its messages to the kernel (sent), and
   * the number of listeners that it leaves behind (ears). `has` is the recipe in the widget's state;
   * `meanwhile` arrives from the kernel while that recipe is being unpacked; `answer` is the kernel's answer
   * to a message, "gone" if the figure is removed before an answer comes, or "dead" if the page knows that
   * the kernel was restarted.
   */
  async made({ has, query, meanwhile, answer }) {
    const ears = {};
    const sent = [];
    const life = new AbortController();
    const hear = (event, news) => (ears[event] ?? []).forEach((each) => each(news));
    const say = ({ made, ...news }) => {
      if (made) {
        model.made = made;
        hear("change:_made");
      } else hear("msg:custom", news);
    };
    const model = {
      made: has,
      get: () => model.made,
      widget_manager: { get_model: async () => ({ comm_live: answer !== "dead" }) },
      on: (event, ear) => (ears[event] ??= []).push(ear),
      off: (event, ear) => {
        ears[event] = ears[event].filter((each) => each !== ear);
      },
      send(asked) {
        sent.push(asked);
        if (answer === "gone") life.abort();
        else if (answer) setTimeout(() => answer.forEach(say));
      },
    };
    const unpack = async (packed) => {
      if (packed === "corrupt") throw new TypeError("cannot be unpacked");
      const news = meanwhile;
      meanwhile = null;
      await null;
      if (news) say(news);
      await null;
      return packed;
    };
    const found = await recipe(model, unpack, query, life.signal);
    return { found, sent, ears: Object.values(ears).flat().length };
  },
  paced({ every, at }) {
    const calls = [];
    virtually((now) => {
      const { ask } = paced(() => calls.push(now()), every);
      for (const ms of at) setTimeout(ask, ms);
    });
    return calls;
  },
  /**
   * Poll a server that sends `replies`, until an answer has the step `end`; at the step `wrong` the receiver
   * throws an error. Returns the requests, the received answers, and the pauses in milliseconds.
   */
  async poll({ replies, end, wrong }) {
    const asked = script(replies);
    const heard = [];
    const slept = [];
    const life = new AbortController();
    globalThis.reportError = () => {};
    await poll(
      "/training/1",
      () => ({ seen: heard.length }),
      (answer) => {
        heard.push(answer);
        if (answer?.step === wrong) throw new Error("this cannot be drawn");
        return answer?.step !== end;
      },
      {
        signal: life.signal,
        sleep: async (ms) => {
          slept.push(ms);
          if (slept.length > 50) life.abort();
        },
      },
    );
    return { asked, heard, slept };
  },
  /** The recipe that a page gets, and the pauses in milliseconds between its requests, which the test makes
   * shorter by the factor `speed`. With `wake`, events happen all the time after which a lost request may be
   * repeated early. */
  async recipe({ replies, abort, known, wake, speed = 1 }) {
    const { setTimeout } = globalThis;
    const asked = script(replies);
    const slept = [];
    const life = new AbortController();
    const root = {
      dataset: { recipe: "/recipe/x" },
      querySelector: () => known && { textContent: JSON.stringify(known) },
    };
    if (abort) setTimeout(() => life.abort(), abort);
    globalThis.setTimeout = (call, ms) => (slept.push(ms), setTimeout(call, ms / speed));
    const start = performance.now();
    const events =
      wake && setInterval(() => globalThis.document.dispatchEvent(new Event("visibilitychange")), 5);
    const answer = await ask(root, { n: "1" }, { n: "0" }, life.signal);
    globalThis.setTimeout = setTimeout;
    clearInterval(events);
    return { answer, asked: asked.length, slept, ms: performance.now() - start };
  },
  /**
   * The choices of a player after each command [name, arguments …], the choices that it waits for (wanted),
   * whether it waits for the state of its link (following), its notice, and the number of its requests until
   * then. The names are those of the methods of `RecipeChanges`, and others: "link" follows another
   * link; "ours" lets the page be the scene's own; "away" lets the server fail with a status, or for 0 not
   * answer, at all queries or at those that contain a text; "slow" lets it answer only after a second; "back"
   * lets it answer again, with `recipe` for all choices; "online" dispatches that event.
   */
  async changes({ recipe, usual, acts }) {
    let status = 200;
    let only = "";
    let requests = 0;
    globalThis.fetch = async (url) => {
      requests++;
      if (!url.includes(only)) return new Response(JSON.stringify(recipe));
      if (status === "slow") {
        await new Promise((go) => setTimeout(go, 1000));
        return new Response(JSON.stringify(recipe));
      }
      if (!status) throw new TypeError("Failed to fetch");
      return new Response(status === 200 ? JSON.stringify(recipe) : "<h1>", { status });
    };
    Player.usual = usual;
    const dataset = { recipe: "/recipe/x", query: "" };
    const player = new Player(Object.assign(new Element("section"), { dataset }));
    const { changes } = player;
    await player.start();
    const told = [];
    for (const [name, ...all] of acts) {
      if (name === "away") [status, only = ""] = all;
      else if (name === "slow") status = "slow";
      else if (name === "ours") player.apart = false;
      else if (name === "back") {
        status = 200;
        globalThis.window.dispatchEvent(new Event("online"));
      } else if (name === "online") globalThis.window.dispatchEvent(new Event("online"));
      else if (name === "link") {
        [dataset.query] = all;
        changes.restore();
      } else changes[name](...all);
      await new Promise((go) => setTimeout(go, 10));
      const { wanted, following } = changes;
      told.push({ choices: player.choices, wanted, following, words: player.words, requests });
    }
    player.close();
    return told;
  },
  /**
   * The values that the player's `State` has, and the points that it draws, after each command [name,
   * arguments …]. The names are those of its methods, and four others: "write" tries to assign a field from
   * outside, "take" loads the recipe, "fast" sets speed and loop, and "moves" sets several parameters before
   * a frame is drawn.
   */
  state({ recipe, usual, acts }) {
    const state = new State(usual);
    const told = [];
    for (const [name, ...all] of acts) {
      let gave;
      try {
        if (name === "write") state[all[0]] = all[1];
        else if (name === "take") state.take(recipe, usual, link.read({}, recipe).state);
        else if (name === "fast") [state.speed, state.loop] = all;
        else if (name === "moves") all.forEach(([parameter, value]) => state.set(parameter, value));
        else gave = state[name](...all);
      } catch (error) {
        gave = error.constructor.name;
      }
      const { progress, params, playing, running, followed, growing, moves, query, opening } = state;
      const frame = state.frame(false).flat();
      told.push({
        gave,
        opening,
        progress,
        params,
        playing,
        running,
        followed,
        growing,
        moves,
        query,
        drawn: frame.map((mark) => pack(mark.points)),
        colors: frame.map(({ values }) => values && pack(values)),
      });
    }
    return told;
  },
  /** The values of the parameters after some points, given by their indices, have been turned by a key, one
   * after the other. */
  nudged({ recipe, points }) {
    const state = new State({});
    state.take(recipe, {}, link.read({}, recipe).state);
    for (const point of points) {
      state.frame(false);
      state.follow(point);
      nudge(state, 10);
    }
    return state.params;
  },
  /**
   * Draw frames with time slices: first one for each entry of `acts`, which lists the parameters to set
   * before it, then more until no computation is unfinished. Each frame may begin `budget` parts of long
   * computations. Reports for each frame the number of exponentials computed (work), and for each mark
   * whether it is drawn exactly as without slices (exact) and whether it has changed since the frame before
   * (changed). `whole` is the largest number of exponentials in a frame without slices.
   */
  sliced({ recipe, acts, budget }) {
    const { exp } = Math;
    let exponentials = 0;
    Math.exp = (x) => (exponentials++, exp(x));
    const [state, direct] = [recipe, structuredClone(recipe)].map((each) => {
      const made = new State({});
      made.take(each, {}, link.read({}, each).state);
      made.frame(false);
      return made;
    });
    const bits = (frame) =>
      frame.flat().map(({ points, values }) => pack(points) + (values ? pack(values) : ""));
    const told = [];
    let drawn = bits(state.frame(false));
    let wanted = drawn;
    let whole = 0;
    for (let k = 0; k < acts.length || (state.unfinished && k < 10_000); k++) {
      for (const [name, value] of acts[k] ?? []) {
        state.set(name, value);
        direct.set(name, value);
      }
      if (k < acts.length) {
        exponentials = 0;
        wanted = bits(direct.frame(false));
        whole = Math.max(whole, exponentials);
      }
      let parts = 0;
      exponentials = 0;
      const frame = state.frame(false, () => parts < budget && ++parts > 0);
      const work = exponentials;
      const now = bits(frame);
      const exact = now.map((x, m) => x === wanted[m]);
      told.push({ work, unfinished: state.unfinished, exact, changed: now.map((x, m) => x !== drawn[m]) });
      drawn = now;
    }
    Math.exp = exp;
    return { frames: told, whole };
  },
  /**
   * Run the player's `State` for `end` milliseconds once for each of the `moments` (in milliseconds) at which
   * the reader acts (`hand`: commands [name, arguments …]). Returns for each run the state just after these
   * actions, and at the end. `acts` are commands [milliseconds, name, arguments …] that the page gives
   * meanwhile; "take" loads the recipe with an index, and the state of a link, or null to keep the present
   * state. There is a frame every 50 ms; all times must be multiples of this. As on the page, any action of
   * the reader stops the first run, with which a scene opens.
   */
  courses({ recipes, usual, acts, hand, moments, end }) {
    const tell = ({ progress, params, playing, followed, moves, query, camera, opening }) => ({
      progress,
      params,
      playing,
      followed,
      moves,
      query,
      camera,
      opening,
    });
    const act = (state, [name, ...all]) => {
      if (name !== "take") return state[name](...all);
      const recipe = recipes[all[0]];
      state.take(
        recipe,
        { ...usual, ...link.texts(recipe.chosen) },
        all[1] ? link.read(all[1], recipe).state : state.kept(recipe),
      );
    };
    return moments.map((moment) => {
      const state = new State(usual);
      const told = [];
      for (let now = 0; now <= end; now += 50) {
        for (const [, ...each] of acts.filter(([at]) => at === now)) act(state, each);
        if (now === moment) {
          if (state.opening) state.pause();
          for (const each of hand) act(state, each);
          told.push(tell(state));
        }
        state.advance(50, false);
      }
      return [...told, tell(state)];
    });
  },
  declared: ({ source }) => declared(source),
  // Returns the names of the calls to WebGL before a program of this source is first used (before), and of
  // the calls from then on (after); the warnings on the console (reports); and whether WebGL is given a real
  // location of the uniform (located).
  compileLazily: ({ source }) => {
    const calls = /** @type {string[]} */ ([]);
    const named = (/** @type {string} */ name, /** @type {unknown} */ result) => [
      name,
      (/** @type {unknown[]} */ ...given) => {
        calls.push(name);
        if (name === "uniform1f") located = given[0] === place;
        return result;
      },
    ];
    const place = {};
    let located = false;
    const methods = "shaderSource compileShader attachShader linkProgram useProgram uniform1f".split(" ");
    const gl = Object.assign(
      Object.create({
        ...Object.fromEntries(methods.map((name) => named(name, undefined))),
        ...Object.fromEntries([named("getUniformLocation", place)]),
        createShader: () => ({}),
        createProgram: () => ({}),
        getAttachedShaders: () => [shader],
        getShaderSource: () => source,
        getProgramParameter: () => true,
      }),
      { LINK_STATUS: "linked", ACTIVE_UNIFORMS: "uniforms" },
    );
    const { warn } = console;
    const reports = /** @type {string[]} */ ([]);
    console.warn = (message) => reports.push(message);
    compileLazily(gl);
    const shader = gl.createShader();
    const program = gl.createProgram();
    gl.shaderSource(shader, source);
    gl.compileShader(shader);
    gl.attachShader(program, shader);
    gl.linkProgram(program);
    const opacity = gl.getUniformLocation(program, "opacity");
    const before = calls.splice(0);
    gl.useProgram(program);
    gl.uniform1f(opacity, 1);
    console.warn = warn;
    return { before, after: calls, reports, located };
  },
  // Returns the calls to WebGL at each turn, in which a shader's uniforms are set to the given values; at a
  // turn that is null, code outside the cache sets a uniform instead.
  uniforms: ({ types, turns }) => {
    /** @type {unknown[]} */ let told = [];
    const set = Object.fromEntries(
      ["uniform1f", "uniform1i", "uniform3fv", "uniformMatrix4fv"].map((name) => [
        name,
        (/** @type {unknown[]} */ ...asked) => told.push([name, ...asked]),
      ]),
    );
    const gl = Object.assign(Object.create({ ...set, useProgram: () => {} }), {
      getUniformLocation: (/** @type {unknown} */ _, /** @type {string} */ name) => name,
    });
    const program = {};
    const shader = { program, types: { uniforms: types } };
    cacheUniforms(gl)(shader);
    gl.useProgram(program);
    return turns.map((given) => {
      told = [];
      if (given === null) gl.uniform1f("opacity", 7);
      else shader.uniforms = given;
      return told;
    });
  },
  crowds: ({ points, ranges }) => crowds(Float32Array.from(points), ranges),
  legible: ({ counts, at }) =>
    legible(
      counts.map((count) => ({ count })),
      at,
      13,
    ).map(({ count }) => count),
  crowdsTime({ points, ranges }) {
    const all = Float32Array.from(points);
    const start = process.cpuUsage();
    for (let k = 0; k < 20; k++) crowds(all, ranges);
    return process.cpuUsage(start).user / 20_000;
  },
  deep: ({ sources, depth }) => sources.map((source) => deep(source, depth).text),
  /**
   * For three WebGL contexts, the names of the figures that have patched each. Two figures are built at the
   * same time, and each gets one context; the third context is created after them.
   */
  async within() {
    const Canvas = (globalThis.HTMLCanvasElement = class {
      /** @type {{by: string[]}} */ context = { by: [] };
      getContext() {
        return this.context;
      }
    });
    const canvases = [new Canvas(), new Canvas(), new Canvas()];
    const built = ["first", "second"].map((name, k) =>
      within(
        async () => {
          canvases[k].getContext("webgl");
          await new Promise((go) => setTimeout(go, 5 * (k + 1)));
        },
        (/** @type {any} */ gl) => gl.by.push(name),
      ),
    );
    await Promise.all(built);
    canvases[2].getContext("webgl");
    return canvases.map(({ context }) => context.by);
  },
  /** Set the search index for the following questions, and return its length. */
  entries: ({ entries }) => (searched = entries).length,
  find: ({ entries = searched, query }) => find(entries, query),
  suggestion: ({ query }) => suggestion(searched, query),
  "find first": ({ queries }) => queries.map((query) => find(searched, query)[0]?.entry.url ?? ""),
  /** The video format chosen in a browser that can record the MIME types `types`; if `types` is null, the
   * browser has no recorder. Null if there is no format. */
  recorded({ types }) {
    globalThis.MediaRecorder = types && {
      isTypeSupported: (/** @type {string} */ type) => types.includes(type),
    };
    return recorded() ?? null;
  },
  /** The values of `stored` after texts are stored in a browser that refuses its storage. */
  storedWithoutStorage({ key, texts }) {
    const refuses = () => {
      throw new DOMException("", "SecurityError");
    };
    Object.defineProperty(globalThis, "localStorage", { configurable: true, get: refuses });
    return [null, ...texts].map((text) => {
      store(key, text);
      return stored(key);
    });
  },
  query: ({ pairs }) => new URLSearchParams(pairs).toString(),
  figure,
  figureReply,
  figuresWithFaults,
};

for await (const line of createInterface({ input: process.stdin })) {
  const { call, ...arguments_ } = JSON.parse(line);
  let answer;
  try {
    answer = { answer: await answers[call](arguments_) };
  } catch (error) {
    answer = { error: error.stack };
  }
  process.stdout.write(`${JSON.stringify(answer)}\n`);
}
