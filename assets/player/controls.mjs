// @ts-check
/** Sliders, choices and the scrubber: native elements that tell the player what the hand does. */

import { clockOf, unpack } from "../engine/engine.mjs";
import { h, readable, unset } from "../dom.mjs";
import { within } from "./link.mjs";

const NOTCH = 0.05; // of a log slider, in powers of ten

/**
 * A log slider runs over log10; one notch below its least value stands for exactly 0.
 * @param {import("../engine/engine.mjs").Parameter} p
 */
export const track = (p) =>
  p.scale === "log"
    ? { min: Math.log10(p.min) - NOTCH, max: Math.log10(p.max), step: NOTCH }
    : { min: p.min, max: p.max, step: p.step };
/** @param {import("../engine/engine.mjs").Parameter} p @param {number} value */
export const toTrack = (p, value) =>
  p.scale !== "log" ? value : value === 0 ? Math.log10(p.min) - NOTCH : Math.log10(value);
/** @param {import("../engine/engine.mjs").Parameter} p @param {number} at */
export const fromTrack = (p, at) => {
  if (p.scale !== "log") return Number(at.toPrecision(9));
  return at < Math.log10(p.min) - NOTCH / 2
    ? 0
    : Math.max(p.min, Math.min(p.max, Number((10 ** at).toPrecision(3))));
};

/**
 * One slider with label, number entry and reset (double click). @param
 * {import("../engine/engine.mjs").Parameter} p the parameter
 * @param {(value: number) => void} set
 * @returns {{element: HTMLElement, show: (value: number) => void}}
 */
export function slider(p, set) {
  const id = `parameter-${p.name}`;
  const range = h("input", {
    type: "range",
    id,
    ...track(p),
    ondblclick: () => set(p.value),
    title: "Double click: back to the default",
  });
  const entry = h("input", {
    type: "text",
    id: `${id}-value`,
    inputMode: "decimal",
    className: "entry",
    "aria-label": `${p.label}, value`,
    "aria-describedby": `${id}-hint`,
    value: readable(p.value),
  });
  const hint = h("span", { className: "hint", id: `${id}-hint`, role: "alert" });
  range.addEventListener("input", () => set(fromTrack(p, range.valueAsNumber)));
  let shown = NaN; // nothing yet
  const judge = (/** @type {boolean} */ fine) => {
    entry.setAttribute("aria-invalid", String(!fine));
    hint.textContent = fine
      ? ""
      : `a number from ${readable(p.min)} to ${readable(p.max)}${p.scale === "log" ? ", or 0" : ""}`;
  };
  const forget = () => {
    judge(true);
    entry.value = readable(shown);
  };
  entry.addEventListener("change", () => {
    const x = entry.value.trim() === "" ? NaN : Number(entry.value.replace(",", ".").replace("−", "-"));
    const fine = within(p, x);
    judge(fine);
    if (fine) set(x);
  });
  entry.addEventListener("keydown", (/** @type {KeyboardEvent} */ event) => {
    if (event.key === "Escape") forget();
  });
  entry.addEventListener("blur", () => {
    if (!hint.textContent) forget();
  });
  const element = h(
    "div",
    { className: "slider" },
    h("label", { htmlFor: id, title: p.about, innerHTML: p.label }),
    range,
    entry,
    hint,
  );
  return {
    element,
    show(value) {
      if (value === shown) return;
      shown = value;
      range.value = String(toTrack(p, value));
      range.setAttribute("aria-valuetext", readable(value));
      if (!entry.matches(":focus") || hint.textContent) forget();
    },
  };
}

/**
 * The sliders of a recipe, in their groups. @param {HTMLElement} part @param
 * {import("../engine/engine.mjs").Recipe} recipe @param {(name: string, value: number) => void} set
 * @returns {(params: Record<string, number>) => void} shows the values */
export function sliders(part, recipe, set) {
  const parameters = recipe.parameters.filter((p) => p.name !== recipe.clock && !p.quiet);
  const all = new Map(parameters.map((p) => [p.name, slider(p, (value) => set(p.name, value))]));
  /** @type {Map<string, HTMLElement>} */ const groups = new Map();
  for (const p of parameters) {
    if (!groups.has(p.group)) groups.set(p.group, group(p));
    /** @type {HTMLElement} */
    (groups.get(p.group)).append(/** @type {ReturnType<typeof slider>} */ (all.get(p.name)).element);
  }
  part.replaceChildren(...groups.values());
  /** @type {Record<string, number> | undefined} */ let known;
  return (params) => {
    if (params === known) return;
    known = params;
    for (const [name, { show }] of all) show(params[name]);
  };
}

/**
 * Where the sliders of a parameter's group stand: below one another under its name, or in a row beside it.
 * @param {import("../engine/engine.mjs").Parameter} p
 */
const group = ({ group: name, vector }) =>
  h("fieldset", { className: vector ? "group vector" : "group" }, ...(name ? [h("legend", {}, name)] : []));

/**
 * The largest number of a choice that a click on the picture can set, such as the last seed. @param
 * {import("../engine/engine.mjs").Recipe} recipe
 * @param {string} name */
const clicked = ({ views }, name) =>
  views
    .flatMap(({ layers }) => layers)
    .reduce(
      (most, { hand }) =>
        hand?.kind === "choose" && hand.choice === name
          ? Array.from(unpack(hand.numbers)).reduce((a, b) => Math.max(a, b), most)
          : most,
      0,
    );

/**
 * The choices of a scene as native controls.
 * @param {HTMLElement} part
 * @param {import("../engine/engine.mjs").Recipe} recipe
 * @param {(name: string, value: string) => void} choose
 */
export function choices(part, recipe, choose) {
  const fits = (/** @type {import("../engine/engine.mjs").Choice} */ { kind, name, when }) =>
    kind !== "result" &&
    (kind !== "picked" || clicked(recipe, name) > 0) &&
    (!when || when[1].includes(String(recipe.chosen[when[0]])));
  part.replaceChildren(
    ...recipe.choices.filter(fits).map((c) => {
      const id = `choice-${c.name}`;
      const value = String(recipe.chosen[c.name]);
      const onchange = (/** @type {Event} */ event) =>
        choose(c.name, /** @type {HTMLInputElement} */ (event.target).value);
      if (c.kind === "several") return several(c, value, (words) => choose(c.name, words));
      const control =
        c.kind === "one"
          ? h(
              "select",
              { id, onchange },
              ...Object.entries(c.options).map(([v, label]) =>
                h("option", { value: v, selected: v === value }, /** @type {string} */ (label)),
              ),
            )
          : c.kind === "sentence"
            ? h("input", { id, type: "text", value, autocomplete: "off", spellcheck: false, onchange })
            : "min" in c
              ? h("input", {
                  id,
                  type: "number",
                  min: c.min,
                  max: c.kind === "picked" ? clicked(recipe, c.name) : c.max,
                  step: 1,
                  value,
                  onchange,
                })
              : h("textarea", {
                  id,
                  rows: 4,
                  value: value.replaceAll(/; */g, "\n"),
                  onchange: (/** @type {Event} */ e) =>
                    choose(
                      c.name,
                      /** @type {HTMLTextAreaElement} */ (e.target).value
                        .trim()
                        .replaceAll(/\s*\n\s*/g, "; "),
                    ),
                });
      return h("div", { className: `choice ${c.kind}` }, h("label", { htmlFor: id }, c.label), control);
    }),
  );
}

/** A whole number with its thousands apart; the format is made once. */
export const whole = new Intl.NumberFormat("en-GB").format;
const DEPTH = "through the layers"; // where there is another time, that of a training
const MANY = 6; // stages, on a telephone: of more the number stands, and the name of the present one
const LONG = 34; // letters of all their names: so is it where these have no room
const APART = 0.07; // of the clock's way, from one button to the next at least
const SPEEDS = [0.25, 0.5, 1, 2, 4];

/**
 * Check boxes for any of some options.
 * @param {import("../engine/engine.mjs").Choice} c
 * @param {string} value
 * @param {(words: string) => void} choose
 */
function several(c, value, choose) {
  const boxes = Object.entries(c.options).map(([word, label]) => ({
    word,
    label,
    box: h("input", {
      type: "checkbox",
      id: `choice-${c.name}-${word}`,
      checked: value.split(",").includes(word),
    }),
  }));
  const tell = () =>
    choose(
      boxes
        .filter(({ box }) => box.checked)
        .map(({ word }) => word)
        .join(","),
    );
  return h(
    "fieldset",
    { className: "choice several", onchange: tell },
    h("legend", {}, c.label),
    ...boxes.map(({ box, label }) => h("label", {}, box, /** @type {string} */ (label))),
  );
}

/** Our own small drawings, 24 units wide. @type {Record<string, string>} */
const ICONS = {
  play: '<path d="M7 4v16l13-8z" fill="currentColor"/>',
  pause: '<path d="M7 5v14M17 5v14" stroke-width="4"/>',
  back: '<path d="M19 5v14l-11-7zM5 5v14"/>',
  on: '<path d="M5 5v14l11-7zM19 5v14"/>',
  loop: '<path d="M4 12a8 8 0 0 1 14-5l2 2M20 4v5h-5M20 12a8 8 0 0 1-14 5l-2-2M4 20v-5h5"/>',
  reset: '<path d="M5 12a7 7 0 1 0 2-5L4 10M4 4v6h6"/>',
  save: '<path d="M12 4v11M7 11l5 5 5-5M4 20h16"/>',
  share:
    '<path d="M18 5L6 12l12 7"/><circle cx="18" cy="5" r="2.5"/>' +
    '<circle cx="6" cy="12" r="2.5"/><circle cx="18" cy="19" r="2.5"/>',
  present: '<path d="M3 5h18v11H3zM12 16v4M8 20h8"/>',
  more: '<path d="M5 12h.01M12 12h.01M19 12h.01" stroke-width="4"/>',
  full: '<path d="M4 9V4h5M15 4h5v5M20 15v5h-5M9 20H4v-5"/>',
};
/** @param {string} name */
const icon = (name) => `<svg viewBox="0 0 24 24" aria-hidden="true">${ICONS[name]}</svg>`;

/**
 * The scrubber: progress with the stages as stops, and the buttons. @param {HTMLElement} part @param
 * {import("../engine/engine.mjs").Recipe} recipe @param {import("./player.mjs").Player} player
 * @returns {() => void} shows the player's state
 */
export function scrubber(part, recipe, player) {
  const last = recipe.stages.length - 1;
  const range = h("input", {
    type: "range",
    className: "progress",
    min: 0,
    max: last,
    step: 0.001,
    "aria-label": "Progress through the stages",
  });
  // also where it stands already
  for (const taken of ["pointerdown", "input"]) range.addEventListener(taken, () => player.pause());
  range.addEventListener("input", () => player.seek(range.valueAsNumber));
  range.addEventListener("keydown", (/** @type {KeyboardEvent} */ event) => {
    const by = { ArrowLeft: -1, ArrowDown: -1, ArrowRight: 1, ArrowUp: 1 }[event.key];
    if (by) {
      event.preventDefault();
      event.stopPropagation();
      player.step(by);
    }
  });
  const stops = recipe.stages.map((/** @type {string} */ name, /** @type {number} */ k) =>
    h(
      "button",
      {
        type: "button",
        className: "stop",
        onclick: () => player.goTo(k),
        style: `--at: ${last ? k / last : 0}`,
      },
      ...(name === String(k) ? [] : [h("span", { className: "nth" }, String(k))]),
      h("span", { className: "name" }, name),
    ),
  );
  const letters = stops.reduce(
    (/** @type {number} */ sum, /** @type {HTMLElement} */ stop) =>
      sum + (stop.lastElementChild?.textContent?.length ?? 0),
    0,
  );
  const button = (
    /** @type {string} */ name,
    /** @type {string} */ label,
    /** @type {() => void} */ onclick,
    className = "",
  ) =>
    h("button", {
      type: "button",
      className: `tool ${className}`,
      title: label,
      "aria-label": label,
      onclick,
      innerHTML: ICONS[name] ? icon(name) : name,
    });
  const play = button("play", "Play (space)", () => player.toggle(), "play");
  const loop = button(
    "loop",
    "Loop",
    () => {
      player.loop = !player.loop;
      show();
    },
    "rare",
  );
  const speed = h(
    "select",
    {
      className: "speed rare",
      "aria-label": "Speed",
      onchange: () => {
        player.speed = Number(speed.value);
      },
    },
    ...SPEEDS.map((s) => h("option", { value: s, selected: s === player.speed }, `${s}×`)),
  );
  const clock = recipe.clock
    ? clockwork(/** @type {import("../engine/engine.mjs").Parameter} */ (clockOf(recipe)), player, button)
    : null;
  const more = button(
    "more",
    "More buttons",
    () => {
      more.ariaExpanded = String(tools.classList.toggle("all"));
    },
    "more",
  );
  more.ariaExpanded = "false";
  const tools = h(
    "div",
    { className: "tools" },
    button("back", "Step back (←)", () => player.step(-1)),
    play,
    button("on", "Step on (→)", () => player.step(1)),
    loop,
    speed,
    h("span", { className: "space" }),
    button("reset", "Back to the defaults (R)", () => player.reset()),
    button("save", "Save the picture", () => player.save(), "rare"),
    ...(player.apart ? [] : [button("share", "Share, embed", () => player.share())]),
    ...(player.apart ? [] : [button("present", "Present (P)", () => player.present(), "rare")]),
    button("full", "Full screen (F)", () => player.fullscreen(), "rare"),
    button("?", "Keys (?)", () => player.help(), "rare"),
    more,
  );
  part.replaceChildren(
    ...(clock ? [clock.element] : []),
    h(
      "div",
      { className: "track" },
      ...(clock ? [h("span", { className: "caption" }, DEPTH)] : []),
      range,
      h("div", { className: `stops ${last > MANY ? "many" : ""} ${letters > LONG ? "long" : ""}` }, ...stops),
    ),
    tools,
  );
  part.hidden = false;
  part.classList.toggle("still", last === 0);
  let words = "";
  let playing = false;
  let looping = !player.loop;
  const show = () => {
    clock?.show();
    range.value = String(player.progress);
    range.style.setProperty("--part", String(player.progress / last));
    const at = Math.round(player.progress);
    const now = `${unset(recipe.stages[at])}, ${player.progress.toFixed(1)} of ${last}`;
    if (now !== words) {
      range.setAttribute("aria-valuetext", (words = now));
      stops.forEach((/** @type {HTMLElement} */ stop, /** @type {number} */ k) =>
        stop.setAttribute("aria-current", k === at ? "step" : "false"),
      );
    }
    if (playing !== player.playing) {
      playing = player.playing;
      const label = playing ? "Pause (space)" : "Play (space)";
      Object.assign(play, { title: label, ariaLabel: label, innerHTML: icon(playing ? "pause" : "play") });
    }
    if (looping !== player.loop) loop.ariaPressed = String((looping = player.loop));
  };
  return show;
}

/** A button for each span of the clock that a click on the figure plays: the way of the keyboard.
 * @param {import("../engine/engine.mjs").Recipe} recipe @param {import("./player.mjs").Player} player */
function replays(recipe, player) {
  const { min, max } = /** @type {import("../engine/engine.mjs").Parameter} */ (clockOf(recipe));
  const buttons = [];
  let at = -1;
  for (const { hand, role, title } of recipe.views.flatMap(({ layers }) => layers)) {
    if (hand?.kind !== "replay") continue;
    const spans = unpack(hand.spans);
    for (let i = 0; i < spans.length; i += 2) {
      if (i && spans[i] === spans[i - 2] && spans[i + 1] === spans[i - 1]) continue;
      const words = `${title.split(":")[0]}, ${whole(spans[i])} to ${whole(spans[i + 1])}: play it`;
      const place = ((spans[i] + spans[i + 1]) / 2 - min) / (max - min);
      at = Math.max(place, at + APART);
      buttons.push(
        h(
          "button",
          {
            type: "button",
            className: "event",
            title: words,
            "aria-label": `${buttons.length + 1}: ${words}`,
            onclick: () => player.replay(hand, i / 2),
            style: `--at: ${at}; color: var(--${role})`,
          },
          String(buttons.length + 1),
        ),
      );
    }
  }
  return buttons;
}

/**
 * The scrubber of a parameter that runs by itself. @param {import("../engine/engine.mjs").Parameter} p @param
 * {import("./player.mjs").Player} player
 * @param {(name: string, label: string, onclick: () => void) => HTMLElement} button */
function clockwork(p, player, button) {
  const id = `parameter-${p.name}`;
  const hand = h("input", { type: "range", id, className: "progress", min: p.min, max: p.max, step: p.step });
  for (const taken of ["pointerdown", "input"]) hand.addEventListener(taken, () => player.stop());
  hand.addEventListener("input", () => player.set(p.name, hand.valueAsNumber));
  const label = `Run through the ${p.label} (T)`;
  const run = button("play", label, () => player.run());
  const words = h("output", { htmlFor: id });
  const events = h("div", { className: "events" });
  /** @type {import("../engine/engine.mjs").Recipe | undefined} */ let known;
  /** @type {string | undefined} */ let shown;
  /** @type {boolean | undefined} */ let running;
  return {
    element: h(
      "div",
      { className: "clock" },
      run,
      h("label", { className: "caption", htmlFor: id, title: p.about }, p.label),
      hand,
      words,
      events,
    ),
    show() {
      const { max } = /** @type {typeof p} */ (clockOf(player.recipe)); // of a training it grows
      const at = Math.round(player.params[p.name]);
      const now = `${at} ${max}`;
      if (now !== shown) {
        shown = now;
        hand.max = String(max);
        hand.style.setProperty("--part", String((at - p.min) / (max - p.min)));
        hand.value = String(at);
        words.textContent = whole(at);
      }
      if (known !== player.recipe) events.replaceChildren(...replays((known = player.recipe), player));
      if (running === player.running) return;
      running = player.running;
      Object.assign(run, { innerHTML: icon(running ? "pause" : "play"), ariaPressed: String(running) });
    },
  };
}
