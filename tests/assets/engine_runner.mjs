/** Runs the pure modules of assets/ for the tests: a JSON line in, a JSON line out. */

import { createInterface } from "node:readline";
import { side } from "../../assets/describe.mjs";
import * as engine from "../../assets/engine.mjs";
import * as link from "../../assets/link.mjs";
import * as motion from "../../assets/motion.mjs";
import { rows } from "../../assets/numbers.mjs";

/** Numbers as base64, so that NaN and infinities travel too. */
const pack = (x) => Buffer.from(x.buffer, x.byteOffset, x.byteLength).toString("base64");
const each = (object, f) => Object.fromEntries(Object.entries(object).map(([name, x]) => [name, f(x)]));

const answers = {
  /** Stages, positions and layers at each of many (params, progress, followed). */
  run({ recipe, cases, layers }) {
    return cases.map(({ params, progress, followed }) => {
      const all = engine.stages(recipe, params), at = engine.positions(recipe, params, progress);
      const out = { stages: each(all, (stages) => stages.map(pack)), positions: each(at, pack) };
      return !layers ? out : { ...out, layers: recipe.views.flatMap((view) => view.layers).map((layer) => ({
        points: pack(engine.layerPoints(recipe, layer, all, at, progress, followed)),
        fading: engine.fading(layer, progress),
        values: layer.color ? pack(engine.layerValues(layer, recipe, all, at, followed)) : null,
      })) };
    });
  },
  residual: ({ a, b, n }) => engine.residual(Float32Array.from(a), Float32Array.from(b), n),
  measures: ({ points }) => points.map((x) => each(engine.measures(x), (v) => (Number.isNaN(v) ? null : v))),
  read({ search, choices, recipe }) {
    const { chosen, rest, wrong } = link.split(search, choices), { state, wrong: more } = link.read(rest, recipe);
    return { chosen, state, wrong: [...wrong, ...more] };
  },
  write: ({ state, choices, recipe }) => link.write(state, choices, recipe),
  motion: ({ name, cases }) => cases.map((all) => motion[name](...all)),
  sides: ({ cameras }) => cameras.map(side),
  rows: ({ recipe, params, followed }) => rows(recipe, params, followed),
  query: ({ pairs }) => new URLSearchParams(pairs).toString(),
};

for await (const line of createInterface({ input: process.stdin })) {
  const { call, ...arguments_ } = JSON.parse(line);
  let answer;
  try {
    answer = { answer: answers[call](arguments_) };
  } catch (error) {
    answer = { error: error.stack };
  }
  process.stdout.write(`${JSON.stringify(answer)}\n`);
}
