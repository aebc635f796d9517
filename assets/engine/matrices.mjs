// @ts-check
/**
 * Multiplication of points by a matrix. The matrix is stored in compressed rows (sparse), or as it is (dense)
 * if there are only a few points. Matrices are stored row by row, and points one after the other.
 */

import { value } from "./packed.mjs";
import { differences, scratch } from "./scratch.mjs";
/** @import { Context, Of, Stages, Step } from "./engine.mjs" */

/** Whether each row of A sums to 0, up to rounding, as the rows of a centring matrix do.
 * @param {Readonly<Float64Array>} A @param {number} d the number of columns */
function levels(A, d) {
  for (let r = 0; r < A.length; r += d) {
    let sum = 0;
    let size = 0;
    for (let j = r; j < r + d; j++) {
      sum += A[j];
      size += Math.abs(A[j]);
    }
    if (!(Math.abs(sum) <= d * Number.EPSILON * size)) return false;
  }
  return true;
}

/**
 * @typedef {{starts: Int32Array, columns: Int32Array, numbers: Float64Array, twins: Uint8Array, level:
 * boolean, used: Int32Array, picks: boolean}} Sparse a matrix in compressed rows (CSR): starts, columns,
 * numbers. twins: 1 for a row that is computed together with the next row, because both have nonzero entries
 * in the same columns; otherwise 0. level: whether all rows sum to 0. used: the columns that have nonzero
 * entries, if all rows sum to 0; otherwise empty. picks: whether the only nonzero entry of each row is a 1,
 * so that the row picks a coordinate @type
 * {WeakMap<Readonly<Float64Array>, Sparse>}
 */
const sparser = new WeakMap();

/**
 * A matrix with d columns in compressed rows; cached for each array A.
 * @param {Readonly<Float64Array>} A @param {number} d @returns {Sparse}
 */
function sparse(A, d) {
  const before = sparser.get(A);
  if (before) return before;
  let count = 0;
  for (let i = 0; i < A.length; i++) if (A[i] !== 0) count++;
  const starts = new Int32Array(A.length / d + 1);
  const columns = new Int32Array(count);
  const numbers = new Float64Array(count);
  count = 0;
  for (let r = 0; r < starts.length - 1; r++) {
    for (let j = 0; j < d; j++)
      if (A[r * d + j] !== 0) {
        columns[count] = j;
        numbers[count++] = A[r * d + j];
      }
    starts[r + 1] = count;
  }
  const level = levels(A, d);
  const used = Int32Array.from(level ? new Set(columns) : []);
  const picks = starts.every((start, r) => start === r) && numbers.every((a) => a === 1);
  const found = { starts, columns, numbers, twins: paired(starts, columns), level, used, picks };
  sparser.set(A, found);
  return found;
}

/**
 * The array `twins` of `Sparse`. It has 1 for the first row of each pair, and 0 for all other rows. A pair is
 * two consecutive rows that have nonzero entries in the same columns, in two columns or more. No row is in
 * two pairs. @param {Int32Array} starts as in `Sparse` @param {Int32Array} columns as in `Sparse`
 */
function paired(starts, columns) {
  const out = new Uint8Array(starts.length - 1);
  for (let r = 0; r + 2 < starts.length; r++) {
    const first = starts[r];
    const count = starts[r + 1] - first;
    let same = count > 1 && starts[r + 2] - starts[r + 1] === count;
    for (let k = first; same && k < first + count; k++) same = columns[k] === columns[k + count];
    if (same) out[r++] = 1;
  }
  return out;
}

const MIN_SPARSE_POINTS = 4; // for fewer points, compressing the matrix takes longer than it saves

/** @typedef {{at: Float64Array, from: number, stride: number}} Place where the results are written: those of
 *   point i into the array `at`, beginning at the index from + i·stride */

/**
 * The points A·x + b for n points x; b = null counts as 0. If all rows of A sum to 0 (centring), the function
 * begins by subtracting each point's first coordinate from all coordinates of the point. So a point with
 * equal coordinates is mapped exactly to b; otherwise rounding errors would move it off b in an arbitrary
 * direction. Four points, and two rows with nonzero entries in the same columns, are computed in one loop, so
 * that the processor need not wait for one addition before the next.
 *
 * @param {Float64Array} x @param {number} n @param {Readonly<Float64Array>} A
 *   @param {Readonly<Float64Array> | null} b @param {Place} [place] where to write the result; by default a
 *   scratch array
 */
export function affine(x, n, A, b, place) {
  const d = x.length / n || 1;
  const m = A.length / d;
  const y = place?.at ?? scratch(n * m, x);
  const stride = place?.stride ?? m;
  const before = place?.from ?? 0;
  if (n < MIN_SPARSE_POINTS && !sparser.has(A)) return dense(x, n, A, b, y, stride, before);
  const { starts, columns, numbers, twins, level, used, picks } = sparse(A, d);
  if (picks && !b) {
    for (let i = 0, at = 0, to = before; i < n; i++, at += d, to += stride)
      for (let r = 0; r < m; r++) y[to + r] = x[at + columns[r]];
    return y;
  }
  const from = level ? lowered(x, n, d, used) : x;
  const last = n - 1;
  for (let i = 0; i < n; i += 4) {
    // if fewer than four points are left, the last one is computed several times
    const p = i;
    const q = Math.min(i + 1, last);
    const s = Math.min(i + 2, last);
    const t = Math.min(i + 3, last);
    const pd = p * d;
    const qd = q * d;
    const sd = s * d;
    const td = t * d;
    const pm = before + p * stride;
    const qm = before + q * stride;
    const sm = before + s * stride;
    const tm = before + t * stride;
    for (let r = 0; r < m; r++) {
      const end = starts[r + 1];
      let yp = b ? b[r] : 0;
      let yq = yp;
      let ys = yp;
      let yt = yp;
      if (twins[r]) {
        const next = end - starts[r];
        let zp = b ? b[r + 1] : 0;
        let zq = zp;
        let zs = zp;
        let zt = zp;
        for (let k = starts[r]; k < end; k++) {
          const a = numbers[k];
          const c = numbers[k + next];
          const j = columns[k];
          const xp = from[pd + j];
          const xq = from[qd + j];
          const xs = from[sd + j];
          const xt = from[td + j];
          yp += a * xp;
          yq += a * xq;
          ys += a * xs;
          yt += a * xt;
          zp += c * xp;
          zq += c * xq;
          zs += c * xs;
          zt += c * xt;
        }
        y[pm + r] = yp;
        y[qm + r] = yq;
        y[sm + r] = ys;
        y[tm + r] = yt;
        r++;
        y[pm + r] = zp;
        y[qm + r] = zq;
        y[sm + r] = zs;
        y[tm + r] = zt;
        continue;
      }
      for (let k = starts[r]; k < end; k++) {
        const a = numbers[k];
        const j = columns[k];
        yp += a * from[pd + j];
        yq += a * from[qd + j];
        ys += a * from[sd + j];
        yt += a * from[td + j];
      }
      y[pm + r] = yp;
      y[qm + r] = yq;
      y[sm + r] = ys;
      y[tm + r] = yt;
    }
  }
  return y;
}

/**
 * Subtract the first coordinate of each of n points from some coordinates of the same point. The other
 * coordinates of the result are arbitrary. The result is a scratch array. @param {Float64Array} x the points
 * @param {number} n @param {number} d the number of coordinates of a point
 * @param {Int32Array} columns the indices of the coordinates to compute
 */
function lowered(x, n, d, columns) {
  const low = differences(x.length);
  for (let i = 0, at = 0; i < n; i++, at += d) {
    for (let k = 0; k < columns.length; k++) low[at + columns[k]] = x[at + columns[k]] - x[at];
  }
  return low;
}

/** Write the points A·x + b into y for a few points x, and return y. A is not compressed; b = null counts as
 * 0. The result for point i begins at index before + i·stride of y. @param {Float64Array} x the points, one
 * after the other @param {number} n their number @param {Readonly<Float64Array>} A
 * @param {Readonly<Float64Array> | null} b @param {Float64Array} y @param {number} stride
 * @param {number} before */
function dense(x, n, A, b, y, stride, before) {
  const d = x.length / n || 1;
  const m = A.length / d;
  const level = levels(A, d);
  for (let i = 0; i < n; i++) {
    const from = level ? x[i * d] : 0;
    const to = before + i * stride;
    for (let r = 0; r < m; r++) y[to + r] = b ? b[r] : 0;
    for (let j = 0; j < d; j++) {
      // many points, such as one-hot vectors, have mostly zeros
      const off = x[i * d + j] - from;
      if (off !== 0) for (let r = 0; r < m; r++) y[to + r] += A[r * d + j] * off;
    }
  }
  return y;
}

/** @type {WeakMap<Float64Array, Float64Array>} transposed points: results of `matrix` */
const across = new WeakMap();

/** The points of another cloud at a stage (null: the last stage) as a matrix, row by row. The points are
 * the rows of the matrix; if transposed, its columns. @param {Of} of @param {Stages} all the stages of all
 * clouds @returns {Readonly<Float64Array>} */
function matrix({ of, stage, transposed, shape }, all) {
  const points = /** @type {Float64Array} */ (all[of].at(stage ?? -1));
  const before = across.get(points);
  if (!transposed) return points;
  if (before) return before;
  const [d, rows] = shape;
  const out = new Float64Array(points.length);
  for (let i = 0; i < rows; i++) for (let j = 0; j < d; j++) out[j * rows + i] = points[i * d + j];
  across.set(points, out);
  return out;
}

/** The arrays A and b of an affine step at these parameters; b is null if the step has none.
 * @param {Extract<Step, {kind: "affine"}>} step @param {Pick<Context, "params" | "all">} context
 * @returns {[Readonly<Float64Array>, Readonly<Float64Array> | null]} */
export const numbersOf = ({ A, b }, { params, all }) => [
  "of" in A ? matrix(A, all) : value(A, params),
  b && value(b, params),
];
