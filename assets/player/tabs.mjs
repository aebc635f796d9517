// @ts-check
/** Tabs for narrow or low windows. There the first view is always visible. Of the other views and the part
 * for numbers only one is visible at a time, selected by its tab, and a view is drawn only when its tab is
 * selected. Wide pages show all views and the numbers, and no tabs.
 *
 * On a telephone the first view stays at the top as the page scrolls, and the selected view is below it. If
 * the reader scrolls on, for example to a slider, the first view would cover the selected one. Then the
 * selected view stands beside the first one (`pair`). */

import { h } from "../dom.mjs";
import { plain } from "./describe.mjs";
/** @import { View } from "../engine/engine.mjs" */
/** @import { Player } from "./player.mjs" */
/** @import { Stop } from "./tour.mjs" */

const NUMBERS_TAB = "numbers";

/** The label of a view's tab: the view's title or, without a title, the view's name with a capital letter.
 * @param {{title: string, name: string}} view */
const called = ({ title, name }) => title || name.charAt(0).toUpperCase() + name.slice(1);

/** The elements that tabs can show (`panel`), with the label of each tab (`words`): all views but the first,
 * then the part for numbers, if the page has it. Returns [] if there is only one view. @param {Player} player
 */
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

/** Create the element with the tabs of a player. Initially the first tab is selected. The element is hidden
 * if there are fewer than two tabs. @param {Player} player @returns {HTMLElement} */
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
  selectNamed(player, list);
  // low windows and presentations have no tab for numbers
  new ResizeObserver(() => {
    if (list.checkVisibility() && !buttons[selected].checkVisibility()) choose(0);
  }).observe(list);
  return list;
}

/** Whether all axes of a view have the same scale. @param {View} view */
const hasEqualAxes = ({ dims, figure }) =>
  dims === 3 || Boolean(/** @type {{scaleanchor?: string}} */ (figure.layout.yaxis).scaleanchor);

/** Put the selected view beside the first one, or back below it, by the class `paired` of the player's
 * element. The selected view stands beside the first one if two things are true: the first view stays at the
 * top as the page scrolls; and this view or the slider of the stages covers more than half of the selected
 * view's place below. This place is then kept free, so that nothing else moves. A view whose axes have
 * different scales always stays below: it is a graph, which would not be legible at half the width. Call this
 * function whenever the page has been scrolled, the window has been resized, or the views have changed.
 * @param {Player} player @param {boolean} [scrolled] whether the page has only been scrolled: then the place
 * below is not measured again */
export function pair(player, scrolled = false) {
  const { root, panels } = player;
  if (!scrolled) root.classList.remove("paired");
  const list = /** @type {HTMLElement | null} */ (root.querySelector(".views:not(:has(> .poster)) > .tabs"));
  const k = panels.findIndex(({ gd }) => gd.parentElement.classList.contains("chosen"));
  const [first, chosen] = [0, k].map((v) => panels[v]?.gd.parentElement);
  const stays = k > 0 && getComputedStyle(first).position === "sticky";
  if (!list?.checkVisibility() || !stays || !hasEqualAxes(panels[k].view))
    return root.classList.remove("paired");
  if (!root.classList.contains("paired")) list.style.setProperty("--place", `${chosen.offsetHeight}px`);
  const middle = list.getBoundingClientRect().bottom + parseFloat(list.style.getPropertyValue("--place")) / 2;
  const covering = [first, player.need("scrubber")].map((part) => part.getBoundingClientRect().bottom);
  root.classList.toggle("paired", middle < Math.max(...covering));
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

/** For each player the stop of the tour for which `selectNamed` has selected a tab.
 * @type {WeakMap<Player, Stop>} */
const served = new WeakMap();

/** Select the tab that the text of the tour's present stop names in quotation marks, if it names one and no
 * longer asks its question. This is done once for a stop, so that the reader can select another tab. Call
 * this function when the tour has come to a stop, and when the labels of the tabs have changed. @param
 * {Player} player @param {Element} [parent] the element that contains the tabs */
export function selectNamed(player, parent = player.need("views")) {
  const { stop, asking } = player.tour ?? {};
  if (!stop || asking || served.get(player) === stop) return;
  served.delete(player);
  const buttons = /** @type {NodeListOf<HTMLElement>} */ (parent.querySelectorAll("[role=tab]"));
  const text = plain(stop.html);
  const named = [...buttons].find((tab) => text.includes(`“${tab.textContent}”`));
  if (!named) return;
  served.set(player, stop);
  named.click();
}
