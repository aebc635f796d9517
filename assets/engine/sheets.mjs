// @ts-check
/** Count the sheets into which a network folds the unit circle. Each layer is an invertible affine map of the
 * plane followed by a norm, which divides by the length. The number of sheets over a direction is the number
 * of points of the circle that all layers together send there. Mirrors tests/geometry/circle_sheets.py.
 * Pure. */

import { value } from "./packed.mjs";
/** @import { Cloud, Params } from "./engine.mjs" */

const LEAST_ANGLE = 1e-9; // radians: directions that are closer count as the same

/** @typedef {{A: ArrayLike<number>, b: ArrayLike<number>}} Layer x ↦ (Ax + b)/‖Ax + b‖, A (2 × 2) row by row
 * @typedef {[number, number]} Point */

/** The first `count` layers of a cloud's pipeline, in which affine steps and norms alternate: A and b at the
 * given parameters. Throws if a layer does not begin with an affine step that has a matrix of its own, not
 * another cloud's points (`Of`). @param {Cloud} cloud @param {number} count @param {Params} params @returns
 * {Layer[]} */
export const layersOf = ({ steps }, count, params) =>
  Array.from({ length: count }, (_, k) => {
    const step = steps[2 * k];
    if (step.kind !== "affine" || "of" in step.A) throw new Error(`step ${2 * k} is no Affine of its own`);
    return { A: value(step.A, params), b: step.b ? value(step.b, params) : [0, 0] };
  });

/** The number of sheets: the largest number of points of the unit circle that the layers, applied in order,
 * send to the same direction. Exact, not sampled: the number changes only at the directions where the image
 * of the circle turns back (`foldAngles`), so it is counted in the middle of each arc between two of them.
 * Without layers it is 1. @param {Layer[]} layers */
export function circleSheets(layers) {
  const turns = foldAngles(layers).sort((a, b) => a - b);
  const ends = turns.length ? [...turns, turns[0] + 2 * Math.PI] : [0, 1];
  let most = 0;
  for (let i = 1; i < ends.length; i++) {
    if (ends[i] - ends[i - 1] <= LEAST_ANGLE) continue;
    const middle = (ends[i - 1] + ends[i]) / 2;
    most = Math.max(most, sheetsOver([Math.cos(middle), Math.sin(middle)], layers, layers.length));
  }
  return most;
}

/** The number of points of the unit circle that the first `count` layers send to a direction. A quadratic
 * equation gives the at most two directions that the last of these layers sends there. For each of them, the
 * points that the earlier layers send to it are counted by recursion. @param {Point} direction of length 1
 * @param {Layer[]} layers @param {number} count @returns {number} */
function sheetsOver(direction, layers, count) {
  if (!count) return 1;
  const { A, b } = layers[count - 1];
  const [x, y] = solved(A, direction);
  const [cx, cy] = solved(A, b);
  const square = x * x + y * y;
  const along = x * cx + y * cy;
  const discriminant = along * along - square * (cx * cx + cy * cy - 1);
  if (!(discriminant > 0)) return 0;
  const root = Math.sqrt(discriminant);
  let sum = 0;
  for (const s of [(along - root) / square, (along + root) / square])
    if (s > 0) sum += sheetsOver([s * x - cx, s * y - cy], layers, count - 1);
  return sum;
}

/** The directions, as angles in radians, at which the image of the circle under all layers turns back. A
 * layer folds the circle where a ray from the origin touches the ellipse A·circle + b; the layers after it
 * carry these directions along. @param {Layer[]} layers */
function foldAngles(layers) {
  /** @type {Point[]} */ let directions = [];
  for (const { A, b } of layers) {
    const [cx, cy] = solved(A, b);
    const square = cx * cx + cy * cy;
    if (square > 1) {
      const root = Math.sqrt(square - 1);
      for (const side of [1, -1])
        directions.push([(-side * root * cy - cx) / square, (side * root * cx - cy) / square]);
    }
    directions = directions.map(([x, y]) => {
      const u = A[0] * x + A[1] * y + b[0];
      const v = A[2] * x + A[3] * y + b[1];
      const length = Math.hypot(u, v);
      return [u / length, v / length];
    });
  }
  return directions.map(([x, y]) => Math.atan2(y, x));
}

/** Solve A·x = y for an invertible 2 × 2 matrix A. @param {ArrayLike<number>} A row by row
 * @param {ArrayLike<number>} y @returns {Point} */
function solved(A, y) {
  const determinant = A[0] * A[3] - A[1] * A[2];
  return [(A[3] * y[0] - A[1] * y[1]) / determinant, (A[0] * y[1] - A[2] * y[0]) / determinant];
}
