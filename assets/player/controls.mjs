// @ts-check
/** The controls of a scene as native form elements: sliders for parameters; lists, check boxes and text
 * fields for choices. Each control calls a function when the reader changes its value.
 *
 * @typedef {(moved: boolean) => void} Restore a function that undoes a touch of a control. moved: whether the
 *   touch has changed the value; if so, the previous value is restored. In both cases the function also
 *   restores whether the value counts as set by the reader
 */

import { marksOf, unpack } from "../engine/engine.mjs";
import { h, readable } from "../dom.mjs";
import { within } from "./link.mjs";
/** @import { Choice, Parameter, Recipe } from "../engine/engine.mjs" */

/** The largest sideways movement, in pixels, of a finger that scrolls the page and does not drag a slider. */
export const MAX_SIDEWAYS_PX = 15;
const LOG_STEP = 0.05; // step of a logarithmic slider, in powers of ten

/** The range of a parameter's slider: its min, max and step. On a logarithmic slider, positions are decimal
 * logarithms of values, and the lowest position stands for 0; it is one step below the position of the
 * smallest positive value. @param {Parameter} p */
export const track = (p) =>
  p.scale === "log"
    ? { min: Math.log10(p.min) - LOG_STEP, max: Math.log10(p.max), step: LOG_STEP }
    : { min: p.min, max: p.max, step: p.step };
/**
 * The position on a parameter's slider (`track`) for a value. @param {Parameter} p @param {number} value
 */
export const toTrack = (p, value) =>
  p.scale !== "log" ? value : value === 0 ? Math.log10(p.min) - LOG_STEP : Math.log10(value);
/**
 * The value at a position of a parameter's slider (`track`), rounded: to three digits on a logarithmic
 * slider, to nine on others.
 * @param {Parameter} p @param {number} at
 */
export const fromTrack = (p, at) => {
  if (p.scale !== "log") return Number(at.toPrecision(9));
  return at < Math.log10(p.min) - LOG_STEP / 2
    ? 0
    : Math.max(p.min, Math.min(p.max, Number((10 ** at).toPrecision(3))));
};

/** The position nearest to `at` that a slider can have: a whole number of steps above its minimum, or its
 * maximum. @param {number} at @param {{min: number, max: number, step: number}} range of the slider */
export function fitting(at, { min, max, step }) {
  const near = min + step * Math.round((Math.max(min, at) - min) / step);
  return at < max ? Number(Math.min(max, near).toPrecision(12)) : max;
}

/** Restore a slider's value if the browser decides that a touch of the slider scrolls the page; by then,
 * Chromium has moved the slider to the finger. But if the finger has moved more than MAX_SIDEWAYS_PX
 * sideways, it has dragged the slider, and the slider keeps its new value. @param {HTMLInputElement} range
 * the slider @param {() => Restore} remember called when a touch begins */
export function restoreAfterScroll(range, remember) {
  let start = { x: 0, position: range.value, restore: /** @type {Restore} */ (() => {}) };
  let moved = false;
  let dragged = false;
  range.addEventListener("pointerdown", ({ isPrimary, clientX: x }) => {
    if (!isPrimary) return;
    start = { x, position: range.value, restore: remember() };
    moved = dragged = false;
  });
  range.addEventListener("pointermove", ({ isPrimary, clientX }) => {
    dragged ||= isPrimary && Math.abs(clientX - start.x) > MAX_SIDEWAYS_PX;
  });
  range.addEventListener("input", () => (moved = true));
  range.addEventListener("pointercancel", ({ isPrimary }) => {
    if (!isPrimary || dragged) return;
    if (moved) range.value = start.position;
    start.restore(moved);
  });
}

/** Create a slider with a label and a field in which its value can be typed; a double click resets it to the
 * default. @param {Parameter} p the parameter @param {(value: number) => void} set called when the reader
 * sets a value @param {() => Restore} remember called when a touch begins @returns {{element: HTMLElement,
 * show: (value: number) => void}} show: a function that shows a value */
export function slider(p, set, remember) {
  const id = `parameter-${p.name}`;
  const range = h("input", {
    type: "range",
    id,
    ...track(p),
    ondblclick: () => set(p.value),
    title: "Double-click to reset",
    ...(p.about && { "aria-description": p.about }),
  });
  range.addEventListener("input", () => set(fromTrack(p, range.valueAsNumber)));
  const entry = numberEntry(p, id, set);
  let shown = NaN; // nothing shown yet
  restoreAfterScroll(range, remember);
  return {
    element: h(
      "div",
      { className: "slider", "data-control": p.name },
      h("label", { htmlFor: id, title: p.about, innerHTML: p.label }),
      range,
      ...entry.elements,
    ),
    show(value) {
      if (value === shown) return;
      shown = value;
      range.value = String(toTrack(p, value));
      range.setAttribute("aria-valuetext", readable(value));
      entry.show(value);
    },
  };
}

/** Create the field beside a slider in which a value can be typed, and the hint that appears if the typed
 * value is not allowed. `show` shows a value, but does not replace text that the reader is typing.
 * @param {Parameter} p the parameter @param {string} id of the slider @param {(value: number) => void} set
 * called when the reader sets a value @returns {{elements: HTMLElement[], show: (value: number) => void}} */
function numberEntry(p, id, set) {
  const field = h("input", {
    type: "text",
    id: `${id}-value`,
    inputMode: "decimal",
    className: "entry",
    "aria-label": `${p.label}, value`,
    "aria-describedby": `${id}-hint`,
    value: readable(p.value),
  });
  const hint = h("span", { className: "hint", id: `${id}-hint`, role: "alert" });
  let shown = p.value;
  const judge = (/** @type {boolean} */ fine) => {
    field.setAttribute("aria-invalid", String(!fine));
    hint.textContent = fine
      ? ""
      : `a number from ${readable(p.min)} to ${readable(p.max)}${p.scale === "log" ? ", or 0" : ""}`;
  };
  const restore = () => {
    judge(true);
    field.value = readable(shown);
  };
  field.addEventListener("change", () => {
    const x = field.value.trim() === "" ? NaN : Number(field.value.replace(",", ".").replace("−", "-"));
    const fine = within(p, x);
    judge(fine);
    if (fine) set(x);
  });
  field.addEventListener("keydown", (event) => {
    if (event.key === "Escape") restore();
  });
  field.addEventListener("blur", () => {
    if (!hint.textContent) restore();
  });
  return {
    elements: [field, hint],
    show(value) {
      shown = value;
      if (!field.matches(":focus") || hint.textContent) restore();
    },
  };
}

/** Fill an element with sliders for the recipe's parameters, in groups. The clock and quiet parameters (which
 * readers set in the figure) get no slider here. @param {HTMLElement} part the element @param {Recipe} recipe
 * @param {(name: string, value: number) => void} set called when the reader sets a value @param {(name:
 * string) => Restore} remember called with the parameter's name when a touch of its slider begins @returns
 * {(params: Record<string, number>) => void} a function that shows the present values */
export function sliders(part, recipe, set, remember) {
  const parameters = recipe.parameters.filter((p) => p.name !== recipe.clock && !p.quiet);
  const all = parameters.map((p) => ({
    p,
    ...slider(
      p,
      (value) => set(p.name, value),
      () => remember(p.name),
    ),
  }));
  const groups = [...Map.groupBy(all, ({ p }) => p.group).values()];
  part.replaceChildren(...groups.map(group));
  /** @type {Record<string, number> | undefined} */ let known;
  return (params) => {
    if (params === known) return;
    known = params;
    for (const { p, show } of all) show(params[p.name]);
  };
}

/** Create the container for the sliders of a group of parameters: a column below the group's name or, for the
 * coordinates of a vector, a row beside the name. A row shows no labels of its sliders; so if only one
 * coordinate has a slider, the group is a column, too. @param {{p: Parameter, element: HTMLElement}[]}
 * members the parameters of the group, with their sliders */
const group = (members) => {
  const { group: name, vector } = members[0].p;
  const row = vector && members.length > 1;
  return h(
    "fieldset",
    { className: row ? "group vector" : "group" },
    ...(name ? [h("legend", {}, name)] : []),
    ...members.map(({ element }) => element),
  );
};

/** The largest value to which a click on the figure can set a choice, such as the last seed; 0 if no click
 * sets the choice. @param {Recipe} recipe @param {string} name of the choice */
const clicked = (recipe, name) =>
  marksOf(recipe).reduce(
    (most, { hand }) =>
      hand?.kind === "choose" && hand.choice === name
        ? Array.from(unpack(hand.numbers)).reduce((a, b) => Math.max(a, b), most)
        : most,
    0,
  );

/** A control of a choice. show: a function that shows a value. refuse: a function that shows the error
 * message `words` below the control, if the text that the reader has typed there is still `value`; returns
 * whether it is. Controls without typing have no `refuse`, or one that returns false. @typedef {{element:
 * HTMLElement, show: (value: string) => void, refuse?: (value: string, words: string) => boolean}} Control */

/** For the element of each choice's control: the control, the choice as JSON (definition), and the choice's
 * name. @type {WeakMap<Element, Control & {definition: string, name: string}>} */
const controls = new WeakMap();

/** For each container of controls, the function to call when the reader changes a choice. It is kept here
 * because a container, with its listeners, outlives its player. @type {WeakMap<HTMLElement, (name: string,
 * value: string) => void>} */
const choosers = new WeakMap();

/** Fill an element with the controls of a scene's choices. Three kinds of choices have no control: results of
 * a training, choices whose condition (`when`) does not hold now, and `picked` ones that no click can set. A
 * control whose definition has not changed keeps its element, so that an open list stays open.
 * @param {HTMLElement} part the element @param {Recipe} recipe
 * @param {(name: string, value: string) => void} choose called when the reader changes a choice */
export function choices(part, recipe, choose) {
  const fits = (/** @type {Choice} */ { kind, name, when }) =>
    kind !== "result" &&
    (kind !== "picked" || clicked(recipe, name) > 0) &&
    (!when || when[1].includes(String(recipe.chosen[when[0]])));
  choosers.set(part, choose);
  const before = new Map([...part.children].map((element) => [controls.get(element)?.definition, element]));
  const elements = recipe.choices.filter(fits).map((choice) => {
    const bounded = choice.kind === "picked" ? { ...choice, max: clicked(recipe, choice.name) } : choice;
    const definition = JSON.stringify(bounded);
    const known = before.get(definition);
    const made =
      (known && controls.get(known)) ?? control(bounded, (value) => choosers.get(part)?.(choice.name, value));
    controls.set(made.element, { ...made, definition, name: choice.name });
    made.show(String(recipe.chosen[choice.name]));
    return /** @type {Element} */ (made.element);
  });
  for (const element of [...part.children]) if (!elements.includes(element)) element.remove();
  elements.forEach((element, i) => {
    if (part.children[i] !== element) part.insertBefore(element, part.children[i] ?? null);
  });
}

/** Make the lists and check boxes show the present choices again, after a change has been refused. Text
 * fields keep what the reader has typed, so that it can be corrected. @param {HTMLElement} root
 * @param {Record<string, string>} chosen the present choices */
export function showLists(root, chosen) {
  for (const element of root.querySelectorAll(".controls :is(.one, .several)")) {
    const { name = "", show } = controls.get(element) ?? {};
    show?.(String(chosen[name]));
  }
}

/** Show an error message at the control in which the reader has typed the refused value of a choice. Returns
 * false if no control of this choice still has this value. @param {HTMLElement} root @param {string} name of
 * the choice @param {string} value @param {string} words the message */
export function refuse(root, name, value, words) {
  const element = root.querySelector(`.controls [data-control="${CSS.escape(name)}"]`);
  return Boolean(element && controls.get(element)?.refuse?.(value, words));
}

/** Create the control of a choice, with its label. In a field of several lines, each line end stands for "; "
 * in the choice's value. @param {Choice} choice @param {(value: string) => void} choose called when the
 * reader changes it @returns {Control} */
function control(choice, choose) {
  if (choice.kind === "several") return several(choice, choose);
  const id = `choice-${choice.name}`;
  const field = entry(choice, id);
  const lines = field instanceof HTMLTextAreaElement;
  const listed = field instanceof HTMLSelectElement;
  /** @type {HTMLOptionElement | undefined} on a static page, a value that only a stop of its tour has */
  let unlisted;
  const hint = h("span", { className: "hint", id: `${id}-hint`, role: "alert" });
  if (!listed) field.setAttribute("aria-describedby", hint.id);
  const judge = (/** @type {string} */ wrong) => {
    field.setAttribute("aria-invalid", String(Boolean(wrong)));
    hint.textContent = wrong;
  };
  const typed = () => (lines ? field.value.trim().replaceAll(/\s*\n\s*/g, "; ") : field.value);
  field.addEventListener("change", () => {
    judge("");
    choose(typed());
  });
  return {
    element: h(
      "div",
      { className: `choice ${choice.kind}`, "data-control": choice.name },
      h("label", { htmlFor: id }, choice.label),
      field,
      ...(listed ? [] : [hint]),
    ),
    refuse(value, words) {
      const found = !listed && typed() === value;
      if (found) judge(words);
      return found;
    },
    show(value) {
      judge("");
      const text = lines ? value.replaceAll(/; */g, "\n") : value;
      if (listed) {
        unlisted?.remove();
        if (!(value in choice.options)) field.add((unlisted = new Option(value)));
      }
      if (field.value !== text) field.value = text;
    },
  };
}

/** Create the form field of a choice: a list, a line of text, a number, or several lines of text.
 * @param {Choice} choice @param {string} id of the new element */
function entry({ kind, options, min, max }, id) {
  if (kind === "one")
    return h(
      "select",
      { id },
      ...Object.entries(options).map(([value, label]) => h("option", { value }, label)),
    );
  if (kind === "sentence") return h("input", { id, type: "text", autocomplete: "off", spellcheck: false });
  if (min !== undefined) return h("input", { id, type: "number", min, max, step: 1 });
  return h("textarea", { id, rows: 4 });
}

/** Create the control of a choice of kind "several": a check box for each option. The choice's value is the
 * names of the checked options, separated by commas. @param {Choice} choice
 * @param {(words: string) => void} choose called when the reader changes the choice @returns {Control} */
function several(choice, choose) {
  const boxes = Object.entries(choice.options).map(([word, label]) => ({
    word,
    label,
    box: h("input", { type: "checkbox", id: `choice-${choice.name}-${word}` }),
  }));
  const onchange = () =>
    choose(
      boxes
        .filter(({ box }) => box.checked)
        .map(({ word }) => word)
        .join(","),
    );
  return {
    element: h(
      "fieldset",
      { className: "choice several", "data-control": choice.name, onchange },
      h("legend", {}, choice.label),
      ...boxes.map(({ box, label }) => h("label", {}, box, label)),
    ),
    show(value) {
      for (const { word, box } of boxes) box.checked = value.split(",").includes(word);
    },
  };
}
