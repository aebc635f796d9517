// @ts-check
/**
 * Benchmark of three ways to draw the same frames in a scene's page: our painter, Plotly.restyle and
 * Plotly.animate.
 */

import { now, stages } from "/assets/engine/engine.mjs";
import { pointsOf } from "/assets/engine/shown.mjs";
import { shared } from "/assets/globals.mjs";

/** @typedef {(progress: number) => unknown} Update draws the frame at a progress (position between stages, in
 *   stages) */

const player = shared.normscape.players[0];
const frame = () => new Promise(requestAnimationFrame);

/** The display coordinates that each layer (mark) of the first view draws at a position between stages.
 * @param {number} progress the position, in stages */
function figures(progress) {
  const { recipe, params } = player;
  const all = stages(recipe, params);
  const at = now(recipe, all, progress);
  return recipe.views[0].layers.map((layer) =>
    pointsOf(layer, { recipe, stages: all, at, params, progress, followed: 0 }),
  );
}

/**
 * The coordinates of some layers in the format of Plotly's `update`: for each of x, y and z, one array for
 * each layer. @param {number} progress the position between stages, in stages @param {number[]} indices of
 * the layers
 */
function update(progress, indices) {
  const points = figures(progress);
  /** @type {Record<string, number[][]>} */ const columns = { x: [], y: [], z: [] };
  for (const l of indices) {
    "xyz"
      .split("")
      .forEach((name, r) =>
        columns[name].push(Array.from({ length: points[l].length / 3 }, (_, i) => points[l][3 * i + r])),
      );
  }
  return columns;
}

/** The indices of the layers that must be redrawn in each frame, because their points at progress 0.5 differ
 * from those at 2.5 or 3.5. */
function moving() {
  const a = figures(0.5);
  const b = figures(2.5);
  const c = figures(3.5);
  return a.map((_, l) => l).filter((l) => a[l].some((v, i) => v === v && (v !== b[l][i] || v !== c[l][i])));
}

/** For each way of drawing, a function that returns its `Update`. @type {Record<string, (slider: string) =>
 * Update>} */
export const ways = {
  ours: (slider) => {
    const { clock, parameters } = player.recipe;
    const own = parameters.find((each) => each.name === slider);
    if (slider && !own) throw new Error(`no slider ${slider}`);
    if (own)
      return (progress) =>
        player.set(slider, own.min + (progress / (player.last || 1)) * (own.max - own.min));
    const p = parameters.find((each) => each.name === clock) ?? parameters[0];
    return (progress) => {
      // in a figure with both stages and a clock, such as one of a training, a frame changes both
      if (player.last) player.seek(progress);
      if (clock || !player.last)
        player.set(p.name, p.min + (progress / (player.last || 1)) * (p.max - p.min));
    };
  },
  restyle: () => {
    const { gd, Plotly } = player.panels[0];
    const indices = moving();
    return (progress) => Plotly.restyle(gd, update(progress, indices), indices);
  },
  animate: () => {
    const { gd, Plotly } = player.panels[0];
    const indices = moving();
    const options = { mode: "immediate", transition: { duration: 0 }, frame: { duration: 0, redraw: true } };
    return (progress) => {
      const { x, y, z } = update(progress, indices);
      return Plotly.animate(
        gd,
        { data: indices.map((_, k) => ({ x: x[k], y: y[k], z: z[k] })), traces: indices },
        options,
      );
    };
  },
};

/** Draw `count` frames from the first stage to the last, one in each animation frame. The caller measures the
 * time that scripts took, by the browser's own metrics. @param {string} way a key of `ways` @param {number}
 * count @param {string} [slider] for the way "ours", the name of a parameter to change instead of the
 * progress */
export async function run(way, count, slider = "") {
  const go = ways[way](slider);
  for (let i = 0; i < count; i++) {
    await new Promise((/** @type {(value?: unknown) => void} */ done) =>
      requestAnimationFrame(async () => {
        await go(((player.last || 1) * (i + 0.5)) / count);
        done();
      }),
    );
  }
  await frame();
}

/** The latencies, in milliseconds, of `count` moves of a slider, or of the position between stages if the way
 * is not "ours". A latency is the time from the move to the animation frame after WebGL has drawn, when the
 * picture is on the screen.
 * @param {string} way a key of `ways` @param {number} count */
export async function latency(way, count) {
  const [panel] = /** @type {import("/assets/painter/plotly/space.mjs").SpacePanel[]} */ (player.panels);
  const plot = panel.scene.glplot;
  const slider = /** @type {HTMLInputElement} */ (document.querySelector(".parameters input[type=range]"));
  const go = ways[way]("");
  const out = [];
  for (let i = 0; i < count; i++) {
    const drawn = new Promise((/** @type {(value?: unknown) => void} */ resolve) => {
      plot.gl.clear = (/** @type {number} */ mask) => {
        delete plot.gl.clear;
        plot.gl.clear(mask);
        resolve();
      };
    });
    const start = performance.now();
    if (way === "ours") {
      slider.value = String(
        Number(slider.min) + ((Number(slider.max) - Number(slider.min)) * (i + 1)) / (count + 1),
      );
      slider.dispatchEvent(new Event("input", { bubbles: true }));
    } else go((player.last * (i + 0.5)) / count);
    await drawn;
    await frame();
    out.push(performance.now() - start);
    await frame();
  }
  return out;
}
