// @ts-check
/** Show a recipe on the page: fill the parts of the player's element with controls, texts and tables, and
 * open a panel for each view. */

import { h } from "../dom.mjs";
import { scrubber } from "./scrubber.mjs";
import { onlyOf, unpack } from "../engine/engine.mjs";
import { controls } from "./fold.mjs";
import { labelFigure } from "./describe.mjs";
import { letters } from "./letters.mjs";
import { symbols } from "./symbols.mjs";
import { lines } from "./overview.mjs";
import { marksMentioned } from "./mentioned.mjs";
import { passages, stageShownAt } from "./passages.mjs";
import { PlanePanel } from "../painter/plane.mjs";
import { NoWebGL, SpacePanel } from "../painter/plotly/space.mjs";
import { picture } from "../painter/pictures.mjs";
import { pair, rename, selectNamed, tabs } from "./tabs.mjs";
import { Tour } from "./tour.mjs";
import { drawingShown } from "../browser.mjs";
import { name, reserveLegend } from "../painter/names.mjs";
import { home, legend, plotly } from "../painter/views.mjs";
/** @import { Recipe, View } from "../engine/engine.mjs" */
/** @import { Mark } from "../engine/recipe.d.ts" */
/** @import { Camera, Frame, Panel } from "../painter/painter.mjs" */
/** @import { PageParts } from "./page_parts.mjs" */
/** @import { Player } from "./player.mjs" */

const IDLE_TIMEOUT_MS = 300; // how long to wait at most until the browser is idle

/**
 * @typedef {{picked: (layer: Mark, point: number) => void, turned: (camera: Camera, panel: Panel) => void,
 * living: () => void, panels: (panels: Panel[]) => Panel[]}} Listeners functions that `open` or a panel
 * calls. picked: the reader has clicked on a point; turned: the reader has turned a panel's camera; living:
 * the first panel has been drawn, so frames can follow; panels: the panels have been created, and this
 * function stores their array and returns it
 */

/** The colour of a role in the theme of an element, as a CSS value. @param {Element} element
 * @param {string} name of the role */
export const color = (element, name) => getComputedStyle(element).getPropertyValue(`--${name}`).trim();

/** Fill all parts of the page except the views. @param {Player} player @param {PageParts} parts the parts of
 * the player; they get the tour if they have none yet @returns {(() => void)[]} functions to call when the
 * state has changed */
export function fill(player, parts) {
  const { recipe } = player;
  const part = (/** @type {string} */ name) => player.part(name);
  const shows = /** @type {(() => void)[]} */ ([]);
  const scrub = part("scrubber");
  const text = part("text");
  const formula = part("formula");
  const training = part("training");
  const explained = part("explained");
  shows.push(...controls(player));
  lines(part("overview"), recipe.overviews);
  if (scrub) scrub.hidden = !player.offers("progress");
  if (scrub && player.offers("progress")) shows.push(scrubber(scrub, recipe, player));
  if (training && recipe.choices.some((c) => c.kind === "result" && recipe.chosen[c.name]))
    training.toggleAttribute("open", true);
  if (training) training.hidden = !recipe.choices.some((c) => c.kind === "result" && player.offers(c.name));
  const stage = part("stage");
  if (stage) shows.push(...letters(stage, recipe, player));
  parts.count();
  if (formula) {
    formula.innerHTML = recipe.formula;
    delete formula.dataset.stage;
    shows.push(
      () => mark(formula, player.progress),
      ...symbols(
        formula,
        recipe.parameters.filter((p) => player.offers(p.name)),
        player,
      ),
    );
  }
  shows.push(marksMentioned(player));
  if (explained) shows.push(passages(explained, player));
  if (text && recipe.text) parts.tour ??= new Tour(text, recipe.text.tour, player);
  return shows;
}

/** Highlight the parts of the formula that belong to the stage shown at `progress`. @param {HTMLElement}
 * formula @param {number} progress */
function mark(formula, progress) {
  const stage = `stage-${stageShownAt(progress)}`;
  if (formula.dataset.stage === stage) return;
  formula.dataset.stage = stage;
  for (const piece of formula.querySelectorAll("[class*=stage-]"))
    piece.classList.toggle("marked", piece.classList.contains(stage));
}

/** Whether the panels can show a recipe: whether the recipe has one view for each panel, with the same number
 * of dimensions. @param {Panel[]} panels @param {Recipe} recipe */
export const fit = (panels, { views }) =>
  panels.length === views.length && panels.every(({ view }, v) => view.dims === views[v].dims);

/** Open a panel for each view of the player's recipe, one after the other. If the present panels `fit` the
 * recipe, they are kept instead, with their cameras. The page's still picture stays until the first panel is
 * drawn. Without WebGL, a notice and a picture replace the panels (`still`). @param {Player} player @param
 * {() => Frame[]} frame returns the present frames of all views @param {Listeners} listeners */
export async function open(player, frame, listeners) {
  const { recipe, panels } = player;
  const views = player.need("views");
  if (fit(panels, recipe)) return keep(player, frame());
  player.closePanels();
  const Plotly = await plotly(player.root.dataset.plotly ?? "").catch(() => null);
  if (player.closed) return;
  if (!Plotly) return player.notice("The drawing library did not load. Reload the page to try again.");
  const poster = views.querySelector(".poster");
  views.replaceChildren(...(poster ? [poster] : []));
  views.className = arranged(recipe);
  views.classList.toggle("waiting", Boolean(poster));
  const built = listeners.panels(recipe.views.map((view) => build(player, view, Plotly, listeners)));
  views.append(tabs(player));
  pair(player);
  if (poster) views.append(poster); // after the views: CSS and tabs address these by their index
  try {
    for (const [v, panel] of built.entries()) {
      if (v && !panel.gd.clientWidth) {
        whenSeen(panel.gd, () => late(player, panel, v, frame));
        continue;
      }
      await begin(player, panel, frame()[v]);
      if (player.closed || player.panels !== built) return;
      if (v) continue;
      listeners.living();
      views.classList.remove("waiting");
      poster?.remove();
      pair(player);
      await drawingShown(IDLE_TIMEOUT_MS);
    }
  } catch (error) {
    if (!(error instanceof NoWebGL)) throw error;
    still(player, views);
  }
}

/** Draw a panel for the first time when it becomes visible. It was hidden, as behind a tab, when the other
 * panels were drawn. @param {Player} player @param {Panel} panel @param {number} v its index
 * @param {() => Frame[]} frame returns the present frames of all views */
async function late(player, panel, v, frame) {
  if (player.closed || player.panels[v] !== panel) return;
  await begin(player, panel, frame()[v]);
  if (player.panels[v] === panel) panel.onPlot();
}

/** Reserve room for a panel's legend, and draw the panel for the first time. @param {Player} player
 * @param {Panel} panel @param {Frame} frame the frame to draw */
function begin(player, panel, frame) {
  reserveLegend(panel.gd.parentElement.querySelector(".legend"));
  return panel.open(frame, player.camera);
}

/** Call the function `act` once, as soon as an element is visible with a width above 0.
 * @param {Element} element @param {() => void} act */
function whenSeen(element, act) {
  const watch = new ResizeObserver(() => {
    if (!element.clientWidth) return;
    watch.disconnect();
    act();
  });
  watch.observe(element);
}

/** The CSS classes for the layout of a recipe's views. @param {Recipe} recipe */
const arranged = ({ views }) => `views views-${views.length}${views[0].wide ? " wide" : ""}`;

/** Keep the present panels, and show the views of the new recipe in them. @param {Player} player
 * @param {Frame[]} frame one for each view */
async function keep(player, frame) {
  const { panels, recipe, camera } = player;
  player.need("views").className = arranged(recipe);
  await Promise.all(
    panels.map((panel, v) => {
      panel.show(recipe.views[v]);
      layOut(panel.gd.parentElement, panel.view);
      panel.gd.parentElement.querySelector("figcaption").textContent = panel.view.title;
      labelFigure(panel.gd, panel.view, player);
      explain(panel);
      rename(player, v);
      return panel
        .settle(frame[v])
        .then(() => panel.setCamera(camera ?? home(panel.view)))
        .then(() => panel.onRest());
    }),
  );
  selectNamed(player);
  pair(player);
}

/** Set the CSS classes that give a panel's element the shape for its view. @param {HTMLElement} figure the
 * panel's element @param {View} view */
function layOut(figure, view) {
  figure.classList.toggle("flat", view.dims === 2);
  figure.classList.toggle("strip", Boolean(view.strip));
  figure.classList.toggle("stack", view.rows > 1);
  figure.style.setProperty("--rows", String(view.rows));
}

/** Replace a panel's legend by the legend of its present view. @param {Panel} panel */
export const explain = ({ gd, view }) => gd.parentElement.querySelector(".legend").replaceWith(legend(view));

/**
 * Create the panel of a view, with its element and legend. @param {Player} player @param {View} view
 * @param {import("../globals.mjs").Plotly} Plotly @param {Listeners} listeners
 */
function build(player, view, Plotly, listeners) {
  const element = h("div", { className: "figure", tabIndex: -1 });
  labelFigure(element, view, player);
  const figure = h(
    "figure",
    { className: "view", id: `view-${player.slug}-${view.name}` },
    h("figcaption", {}, view.title),
    ...(view === player.recipe.views[0] ? [h("p", { className: "headline" })] : []),
    element,
    legend(view),
  );
  layOut(figure, view);
  player.need("views").append(figure);
  const Kind = view.dims === 3 ? SpacePanel : PlanePanel;
  const panel = new Kind(element, view, (name) => color(element, name), Plotly, {
    picked: (layer, index) => listeners.picked(layer, pointOf(layer, index)),
    turned: (camera) => listeners.turned(camera, panel),
  });
  panel.onRest = () => name(panel);
  if (view.edge)
    element.after(
      h(
        "button",
        { type: "button", className: "edge", onclick: () => player.edgeOn(panel) },
        "See the plane edge on",
      ),
    );
  return panel;
}

/** Replace the views in browsers without WebGL: show a notice, and the server's picture of the present state
 * or, if the page has no such server, the page's still picture. @param {Player} player
 * @param {HTMLElement} views */
function still(player, views) {
  player.closePanels();
  views.className = "views";
  const live =
    player.root.dataset.still &&
    h("img", { className: "live", alt: player.recipe.title, src: player.picture() });
  views.replaceChildren(
    h(
      "figure",
      { className: "view still" },
      h(
        "p",
        { role: "status" },
        "This browser has no WebGL, so nothing can be turned here; this is a still picture of the scene. " +
          "To turn the figure, switch on hardware acceleration, or use another browser.",
      ),
      live || (views.querySelector(".poster") ?? ""),
    ),
  );
}

/** Show the picture of a point in a corner of the first view, if the points of a cloud have pictures. It is
 * the picture of the point under the pointer or, if there is none, of the followed (selected) point.
 * @param {Player} player @returns {(() => void)[]} functions to call when the state has changed */
export function pictured(player) {
  const cloud = player.recipe.clouds.find((c) => c.pictures);
  const [panel] = player.panels;
  panel?.gd.parentElement.querySelector(".picture")?.remove();
  if (!cloud || !panel) return [];
  const { element, show } = picture(cloud, () => color(panel.gd, "ink"));
  let pointed = -1;
  const showNow = () => show(pointed < 0 ? player.followed : pointed);
  panel.onHover = (layer, index) => {
    pointed = layer && layer.cloud === cloud.name ? pointOf(layer, index) : -1;
    showNow();
  };
  panel.gd.parentElement.append(element);
  return [showNow];
}

/** The index, in its cloud, of a point that a layer draws. A layer may draw only some points of the cloud, or
 * draw them in another order. @param {Mark} layer @param {number} index the index of the point among those
 * that the layer draws, in its order @returns {number} */
function pointOf(layer, index) {
  if (layer.mark === "Line") return layer.order ? unpack(layer.order)[index] : index;
  const only = onlyOf(layer);
  return Array.isArray(only) ? only[index] : index;
}
