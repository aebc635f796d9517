// @ts-check
/** Tabs for narrow or low windows. In these the first view is always visible. Of the other views and the part
 * for numbers only one is visible at a time, selected by its tab, and a view is drawn only when its tab is
 * selected. Wide pages show all views and the numbers, and no tabs.
 *
 * On a telephone the selected view is below the first one, which stays at the top as the page scrolls. When
 * the reader has scrolled past the selected view, as to reach a slider, it stands beside the first one. */

import { h } from "../dom.mjs";
/** @import { View } from "../engine/engine.mjs" */
/** @import { Player } from "./player.mjs" */

const NUMBERS_TAB = "numbers";

/** The label of a view's tab: the view's title or, without a title, the view's name with a capital letter.
 * @param {{title: string, name: string}} view */
const called = ({ title, name }) => title || name.charAt(0).toUpperCase() + name.slice(1);

/** The panels that tabs can show, with the words of each tab: all views but the first, then the part for
 * numbers, if the page has it. Empty if there is only one view. @param {Player} player */
function panels(player) {
  const figures = [...player.need("views").querySelectorAll(":scope > .view")];
  const all = player.recipe.views.slice(1).map((view, i) => ({ words: called(view), panel: figures[i + 1] }));
  const numbers = player.part(NUMBERS_TAB);
  if (numbers && all.length)
    all.push({
      words: "Numbers",
      panel: Object.assign(numbers, { id: numbers.id || `${NUMBERS_TAB}-${player.slug}` }),
    });
  return all;
}

/** The element with the tabs of a player. Initially the first tab is selected. The element is hidden if there
 * are fewer than two tabs. @param {Player} player @returns {HTMLElement} */
export function tabs(player) {
  const { root } = player;
  const all = panels(player);
  const numbers = player.part(NUMBERS_TAB);
  const buttons = all.map(({ words, panel }, k) =>
    h(
      "button",
      { type: "button", role: "tab", "aria-controls": panel.id, onclick: () => choose(k), title: words },
      words,
    ),
  );
  let selected = 0;
  const choose = (/** @type {number} */ k) => {
    if (!all.length) return;
    selected = k;
    buttons.forEach((button, i) => {
      button.ariaSelected = String(i === k);
      button.tabIndex = i === k ? 0 : -1;
      all[i].panel.classList.toggle("chosen", i === k);
    });
    root.dataset.tabs = all[k].panel === numbers ? NUMBERS_TAB : "views";
    root.classList.remove("paired"); // the next view may be higher
  };
  delete root.dataset.tabs;
  root.classList.remove("paired");
  const list = h(
    "div",
    {
      className: `tabs of-${all.length}`,
      role: "tablist",
      "aria-label": "Panels beside the figure",
      hidden: all.length < 2,
      onkeydown: (/** @type {KeyboardEvent} */ event) => {
        const shown = buttons.filter((button) => button.checkVisibility());
        const now = shown.indexOf(buttons[selected]);
        const to = tabAfter(event.key, now, shown.length - 1);
        if (to === undefined) return;
        event.preventDefault();
        event.stopPropagation();
        choose(buttons.indexOf(shown[to]));
        shown[to].focus();
      },
    },
    ...buttons,
  );
  choose(0);
  pair(player, list);
  // low windows and presentations have no tab for numbers
  new ResizeObserver(() => {
    if (list.checkVisibility() && !buttons[selected].checkVisibility()) choose(0);
  }).observe(list);
  return list;
}

/** Whether all axes of a view have the same scale. @param {View} view */
const hasEqualAxes = ({ dims, figure }) =>
  dims === 3 || Boolean(/** @type {{scaleanchor?: string}} */ (figure.layout.yaxis).scaleanchor);

/** From now on, whenever the window has been scrolled or resized, set the class `paired` of the page, which
 * makes the selected view stand beside the first one: if the first one stays at the top, and covers more than
 * half of the selected view's own place. That place is kept free, so that nothing else moves. Views whose
 * axes have different scales are graphs; they would not be legible at half the width. @param {Player} player
 * @param {HTMLElement} list the element with the tabs */
function pair(player, list) {
  const { root, life } = player;
  const update = (/** @type {Event} */ { type }) => {
    if (!list.isConnected) return;
    if (type === "resize") root.classList.remove("paired");
    const views = [.../** @type {NodeListOf<HTMLElement>} */ (root.querySelectorAll(".views > .view"))];
    const k = views.findIndex((view) => view.classList.contains("chosen"));
    const stays = k > 0 && list.checkVisibility() && getComputedStyle(views[0]).position === "sticky";
    if (!stays || !hasEqualAxes(player.recipe.views[k])) return root.classList.remove("paired");
    if (!root.classList.contains("paired")) list.style.setProperty("--place", `${views[k].offsetHeight}px`);
    const middle =
      list.getBoundingClientRect().bottom + parseFloat(list.style.getPropertyValue("--place")) / 2;
    root.classList.toggle("paired", middle < player.need("scrubber").getBoundingClientRect().bottom);
  };
  for (const type of ["scroll", "resize"]) addEventListener(type, update, { passive: true, signal: life });
}

/** The number of the tab to which a key leads from tab `now`; undefined if the key leads to none.
 * @param {string} key @param {number} now @param {number} last the number of the last tab */
const tabAfter = (key, now, last) =>
  ({ ArrowRight: now < last ? now + 1 : 0, ArrowLeft: now ? now - 1 : last, Home: 0, End: last })[key];

/** Update the label of the tab of view v, after its title has changed. View 0 has no tab.
 * @param {Player} player @param {number} v */
export function rename(player, v) {
  const tab = player.need("views").querySelectorAll("[role=tab]")[v - 1];
  if (tab && v) tab.textContent = called(player.recipe.views[v]);
}
