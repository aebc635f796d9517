/** Runs the pure modules of assets/ for the tests: a JSON line in, a JSON line out. */

import { createInterface } from "node:readline";
import { side } from "../../assets/describe.mjs";
import * as engine from "../../assets/engine.mjs";
import * as marks from "../../assets/marks.mjs";
import { hull } from "../../assets/hull.mjs";
import * as link from "../../assets/link.mjs";
import * as motion from "../../assets/motion.mjs";
import { rows } from "../../assets/numbers.mjs";

/** Numbers as base64, so that NaN and infinities travel too. */
const pack = (x) => Buffer.from(x.buffer, x.byteOffset, x.byteLength).toString("base64");
const each = (object, f) => Object.fromEntries(Object.entries(object).map(([name, x]) => [name, f(x)]));

const answers = {
  /** Stages, positions and what marks show at each of many (params, progress, followed). */
  run({ recipe, cases, marks: shown }) {
    return cases.map(({ params, progress, followed }) => {
      const all = engine.stages(recipe, params), at = engine.positions(recipe, params, progress);
      const moment = { recipe, stages: all, at, params, progress, followed };
      const out = { stages: each(all, (stages) => stages.map(pack)), positions: each(at, pack) };
      return { ...out, marks: shown.map((mark) => ({
        points: pack(marks.pointsOf(mark, moment)),
        opacity: marks.opacityOf(mark, progress),
        values: mark.color ? pack(marks.valuesOf(mark, moment)) : null,
      })) };
    });
  },
  marks: () => Object.keys(marks.MARKS),
  hull({ points, n, d }) {
    const { rank, corners, order, triangles } = hull(points, n, d);
    return { rank, corners: corners.flatMap((is, i) => (is ? [i] : [])), order, triangles };
  },
  hullTime({ points, n, d }) {
    for (let k = 0; k < 20; k++) hull(points, n, d);
    const start = performance.now();
    for (let k = 0; k < 20; k++) hull(points, n, d);
    return (performance.now() - start) / 20;
  },
  residual: ({ a, b, n }) => engine.residual(Float32Array.from(a), Float32Array.from(b), n),
  measures: ({ points }) => points.map((x) => each(engine.measures(x), (v) => (Number.isNaN(v) ? null : v))),
  read({ search, choices, recipe }) {
    const { chosen, rest } = link.split(search, choices);
    return { chosen, ...link.read(rest, recipe) };
  },
  write: ({ state, choices, recipe }) => link.write(state, choices, recipe),
  motion: ({ name, cases }) => cases.map((all) => motion[name](...all)),
  sides: ({ cameras }) => cameras.map(side),
  rows: ({ recipe, params, followed }) => rows(recipe, params, engine.stages(recipe, params), followed),
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
