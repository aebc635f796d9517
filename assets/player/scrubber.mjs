// @ts-check
/** Create the scrubber below a figure: a slider for the progress through the stages, a second slider for the
 * clock (a parameter that plays by itself, such as the training step) if the recipe has one, and the buttons.
 */

import { clockOf, marksOf, unpack } from "../engine/engine.mjs";
import { h, plainLabel, whole } from "../dom.mjs";
import { replay } from "./clicks.mjs";
import { restoreAfterScroll } from "./controls.mjs";
/** @import { Parameter, Recipe } from "../engine/engine.mjs" */
/** @import { Player } from "./player.mjs" */

const STAGES_CAPTION = "stages"; // the caption of the stages' slider, if there is a clock above it
// the forms of the stages' labels, as CSS classes, from the longest to the shortest: numbers and names; the
// same, but no number before a name that contains one; only numbers, except the name of the present stage
const LABEL_FORMS = ["", "brief", "tight"];
const MIN_LABEL_GAP_PX = 6; // smallest gap between neighbouring labels
const MIN_BUTTON_DISTANCE = 0.07; // of neighbouring replay buttons, as a share of the clock's range
const SPEEDS = [0.25, 0.5, 1, 2, 4];

/** The contents of the icons' SVG images, which are 24 units wide. @type {Record<string, string>} */
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
/** The SVG text of an icon. `name` is a key of ICONS. @param {string} name */
const icon = (name) => `<svg viewBox="0 0 24 24" aria-hidden="true">${ICONS[name]}</svg>`;

/** Fill an element with the scrubber of a recipe. @param {HTMLElement} part the element
 * @param {Recipe} recipe @param {Player} player @returns {() => void} a function to call in each frame: it
 * moves the sliders and updates the buttons to the player's state */
export function scrubber(part, recipe, player) {
  const parameter = clockOf(recipe);
  const clock = parameter ? clockSlider(parameter, player) : null;
  const slider = stageSlider(recipe, player);
  const tools = toolbar(player);
  part.replaceChildren(
    ...(clock ? [clock.element] : []),
    h(
      "div",
      { className: "track" },
      ...(clock ? [h("span", { className: "caption" }, STAGES_CAPTION)] : []),
      ...slider.elements,
    ),
    tools.element,
  );
  part.hidden = false;
  part.classList.toggle("still", player.last === 0);
  return () => {
    clock?.show();
    slider.show();
    tools.show();
  };
}

/** Create the slider for the progress, with a button for each stage below it, and a function `show` that
 * updates both to the player's state. @param {Recipe} recipe @param {Player} player */
function stageSlider(recipe, player) {
  const names = recipe.stages.map(plainLabel);
  const last = names.length - 1;
  const range = progressRange(last, player);
  const stops = recipe.stages.map((name, k) =>
    h(
      "button",
      {
        type: "button",
        className: "stop",
        id: `stage-${player.slug}-${k}`, // keeps the focus when the stages are rebuilt
        "data-numbered": /\d/.test(name), // the name has a number of its own
        onclick: () => player.goTo(k),
        style: `--at: ${last ? k / last : 0}`,
      },
      ...(name === String(k)
        ? [h("span", {}, name)] // shown in all forms
        : [h("span", { className: "nth" }, String(k)), " ", h("span", { className: "name" }, name)]),
    ),
  );
  const labels = h("div", {}, ...stops);
  const shorten = () => {
    fitLabels(labels, stops);
    hideCovered(labels, stops);
  };
  new ResizeObserver(shorten).observe(labels);
  document.fonts.ready.then(shorten);
  let words = "";
  let shown = -1; // the stage that is marked as the present one
  return {
    elements: [range, labels],
    show() {
      range.value = String(player.progress);
      range.style.setProperty("--part", String(player.progress / last));
      const at = Math.round(player.progress);
      const now = `${names[at]}, ${player.progress.toFixed(1)} of ${last}`;
      if (now === words) return;
      range.setAttribute("aria-valuetext", (words = now));
      if (at === shown) return;
      shown = at;
      stops.forEach((stop, k) => stop.setAttribute("aria-current", k === at ? "step" : "false"));
      hideCovered(labels, stops);
    },
  };
}

/** The rectangle of the text that a label shows. @param {HTMLElement} label */
function textBox(label) {
  const range = document.createRange();
  range.selectNodeContents(label);
  return range.getBoundingClientRect();
}

/** Whether two texts overlap horizontally, or are nearer than MIN_LABEL_GAP_PX. @param {DOMRect} a
 * @param {DOMRect} b */
const meet = (a, b) => a.left < b.right + MIN_LABEL_GAP_PX && b.left < a.right + MIN_LABEL_GAP_PX;

/** Give the labels of the stages the longest of LABEL_FORMS in which no neighbours overlap or nearly touch;
 * if there is no such form, the shortest form. @param {HTMLElement} labels the element that contains the
 * labels @param {HTMLElement[]} stops the labels */
function fitLabels(labels, stops) {
  for (const form of LABEL_FORMS) {
    labels.className = `stops ${form}`;
    const boxes = stops.map(textBox);
    if (!boxes.some((box, k) => k && meet(boxes[k - 1], box))) return;
  }
}

/** If the labels have the shortest form, hide those that the name of the present stage overlaps or nearly
 * touches. Show all other labels. @param {HTMLElement} labels the element that contains the labels @param
 * {HTMLElement[]} stops the labels */
function hideCovered(labels, stops) {
  const now = stops.findIndex((stop) => stop.ariaCurrent === "step");
  const boxes = labels.classList.contains("tight") && now >= 0 ? stops.map(textBox) : null;
  stops.forEach((stop, k) => {
    const isCovered = boxes && k !== now && meet(boxes[now], boxes[k]);
    stop.style.visibility = isCovered ? "hidden" : "";
  });
}

/** Create the slider for the progress: dragging it moves between stages, and arrow keys go to the previous or
 * next stage. @param {number} last the number of the last stage @param {Player} player */
function progressRange(last, player) {
  const range = h("input", {
    type: "range",
    className: "progress",
    min: 0,
    max: last,
    step: 0.001,
    "aria-label": "Progress through the stages",
  });
  restoreAfterScroll(range, () => player.remember("progress")); // first: the next listeners mark it as set
  // a press pauses even where it does not move the slider
  for (const taken of ["pointerdown", "input"]) range.addEventListener(taken, () => player.pause());
  range.addEventListener("input", () => player.seek(range.valueAsNumber));
  range.addEventListener("keydown", (event) => {
    const by = { ArrowLeft: -1, ArrowDown: -1, ArrowRight: 1, ArrowUp: 1 }[event.key];
    if (by) {
      event.preventDefault();
      event.stopPropagation();
      player.step(by);
    }
  });
  return range;
}

/** Create a button of the toolbar. @param {string} name the name of an icon, or a character
 * @param {string} label @param {() => void} onclick @param {string} [className] "rare": hidden in a narrow
 * toolbar until “more” is pressed */
const tool = (name, label, onclick, className = "") =>
  h("button", {
    type: "button",
    className: `tool ${className}`,
    title: label,
    "aria-label": label,
    onclick,
    innerHTML: ICONS[name] ? icon(name) : name,
  });

/** Create the drop-down list of speeds at which the figure can play. @param {Player} player */
function speedMenu(player) {
  const menu = h(
    "select",
    {
      className: "speed rare",
      "aria-label": "Speed",
      onchange: () => {
        player.speed = Number(menu.value);
      },
    },
    ...SPEEDS.map((s) => h("option", { value: s, selected: s === player.speed }, `${s}×`)),
  );
  return menu;
}

/** Create the `element` with the buttons below the sliders, and a function `show` that updates them to the
 * player's state. @param {Player} player */
function toolbar(player) {
  const play = tool("play", "Play (space)", () => player.toggle(), "play");
  const toggleLoop = () => {
    player.loop = !player.loop;
    show();
  };
  const loop = tool("loop", "Loop", toggleLoop, "rare");
  const toggleMore = () => {
    more.ariaExpanded = String(element.classList.toggle("all"));
  };
  const more = tool("more", "More buttons", toggleMore, "more");
  more.ariaExpanded = "false";
  const ofPage = [
    tool("share", "Share, embed", () => player.commands.share(player)),
    tool("present", "Present (P)", () => player.commands.present(player), "rare"),
  ];
  const element = h(
    "div",
    { className: "tools" },
    tool("back", "Step back (←)", () => player.step(-1)),
    play,
    tool("on", "Step on (→)", () => player.step(1)),
    loop,
    speedMenu(player),
    h("span", { className: "space" }),
    tool("reset", "Reset to the defaults (R)", () => player.reset()),
    tool("save", "Save the picture", () => player.save(), "rare"),
    ...(player.apart ? [] : ofPage),
    tool("full", "Full screen (F)", () => player.fullscreen(), "rare"),
    tool("?", "Keys (?)", () => player.commands.help(player), "rare"),
    more,
  );
  let playing = false;
  let looping = !player.loop; // so that the first `show` writes the state
  const show = () => {
    if (playing !== player.playing) {
      playing = player.playing;
      const label = playing ? "Pause (space)" : "Play (space)";
      Object.assign(play, { title: label, ariaLabel: label, innerHTML: icon(playing ? "pause" : "play") });
    }
    if (looping !== player.loop) loop.ariaPressed = String((looping = player.loop));
  };
  return { element, show };
}

/** Create buttons at the clock's slider that replay parts of the clock's range, for the keyboard: one for
 * each part that a click on a mark with a `Replay` plays. @param {Recipe} recipe @param {Player} player */
function replays(recipe, player) {
  const { min, max } = /** @type {Parameter} */ (clockOf(recipe));
  const buttons = /** @type {HTMLElement[]} */ ([]);
  const places = /** @type {number[]} */ ([]);
  for (const { hand, role, title } of marksOf(recipe)) {
    if (hand?.kind !== "replay") continue;
    const spans = unpack(hand.spans);
    for (let i = 0; i < spans.length; i += 2) {
      if (i && spans[i] === spans[i - 2] && spans[i + 1] === spans[i - 1]) continue;
      const kind = title.split(":")[0];
      const words = `${whole(spans[i])} to ${whole(spans[i + 1])}: play it`;
      const number = String(buttons.length + 1);
      places.push(((spans[i] + spans[i + 1]) / 2 - min) / (max - min));
      buttons.push(
        h(
          "button",
          {
            type: "button",
            className: "event",
            title: `${kind}, ${words}`,
            "aria-label": `${kind} ${number}, ${words}`,
            onclick: () => replay(player, hand, i / 2),
            style: `color: var(--${role})`,
          },
          h("span", { className: "kind" }, `${kind} `), // a finger sees no title
          number,
        ),
      );
    }
  }
  spread(places).forEach((at, k) => buttons[k].style.setProperty("--at", String(at)));
  return buttons;
}

/** Spread buttons on a track, so that neighbours are at least MIN_BUTTON_DISTANCE apart. First each button
 * that is too near to the previous one is moved to the right. Then the buttons that are now beyond the end,
 * 1, are moved back to the left. If there are more buttons than fit, the first get positions below 0. @param
 * {number[]} places the positions of the buttons, from 0 to 1, in ascending order @returns {number[]} their
 * new positions */
export function spread(places) {
  const moved = [...places];
  for (let k = 1; k < moved.length; k++) moved[k] = Math.max(moved[k], moved[k - 1] + MIN_BUTTON_DISTANCE);
  for (let k = moved.length - 1, end = 1; k >= 0; k--, end -= MIN_BUTTON_DISTANCE)
    moved[k] = Math.min(moved[k], end);
  return moved;
}

/** Create the slider of the clock, with its play button and replay buttons: the `element`, and a function
 * `show` that updates it to the player's state. @param {Parameter} p the clock's parameter
 * @param {Player} player */
function clockSlider(p, player) {
  const id = `parameter-${p.name}`;
  const range = h("input", {
    type: "range",
    id,
    className: "progress",
    min: p.min,
    max: p.max,
    step: p.step,
    ...(p.about && { "aria-description": p.about }),
  });
  restoreAfterScroll(range, () => player.remember(p.name)); // first: the next listeners mark it as set
  for (const taken of ["pointerdown", "input"]) range.addEventListener(taken, () => player.stop());
  range.addEventListener("input", () => player.set(p.name, range.valueAsNumber));
  const label = `Run through the ${p.label} (T)`;
  const run = tool("play", label, () => player.toggleClock());
  const words = h("span", { className: "now" });
  const digits = String(p.step).split(".")[1]?.length ?? 0;
  const events = h("div", { className: "events" });
  /** @type {Recipe | undefined} */ let known;
  /** @type {string | undefined} */ let shown;
  /** @type {boolean | undefined} */ let running;
  return {
    element: h(
      "div",
      { className: "clock" },
      run,
      h("label", { className: "caption", htmlFor: id, title: p.about }, p.label),
      range,
      words,
      events,
    ),
    show() {
      const { max } = /** @type {typeof p} */ (clockOf(player.recipe)); // the maximum grows during a training
      const at = Number(player.params[p.name].toFixed(digits));
      const now = `${at} ${max}`;
      if (now !== shown) {
        shown = now;
        range.max = String(max);
        range.style.setProperty("--part", String((at - p.min) / (max - p.min)));
        range.value = String(at);
        words.textContent = digits ? at.toFixed(digits).replace("-", "−") : whole(at);
      }
      if (known !== player.recipe) events.replaceChildren(...replays((known = player.recipe), player));
      if (running === player.running) return;
      running = player.running;
      Object.assign(run, { innerHTML: icon(running ? "pause" : "play"), ariaPressed: String(running) });
    },
  };
}
