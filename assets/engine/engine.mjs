// @ts-check
/**
 * The engine: a recipe and the parameters in, positions out. Pure: no DOM, no Plotly.
 *
 * It mirrors geometry/pipeline.py (steps, stages, positions between stages) and components/language/cloud.py
 * (display coordinates); marks.mjs says what is drawn of them. A test holds the two, and PyTorch, together.
 *
 * @typedef {{dtype: string, shape: number[], bdata: string}} Packed
 * @typedef {{base: Packed, terms?: Record<string, Packed>, tracks?: Record<string, {at: Packed, values:
 *   Packed}>}} Entries
 * @typedef {{kind: "affine", A: Entries | Of, b: Entries | null}
 *   | {kind: "normalize", radius: Entries, eps: Entries, groups: number[][] | null, convention: string}
 *   | {kind: "pointwise", function: string}
 *   | {kind: "product", groups: number[][]}
 *   | {kind: "softmax", temperature: Entries, causal: boolean}
 *   | {kind: "placed", names: string[][]}
 *   | {kind: "branches", pipelines: Step[][], join: "sum" | "concat"}} Step a branch is steps too
 * @typedef {{of: string, stage: number | null, transposed: boolean, shape: number[]}} Of the points of
 *   another cloud as a matrix
 * @typedef {Record<string, Float64Array[]>} Stages of each cloud
 * @typedef {{name: string, points: Packed, place: Step[], steps: Step[], pictures?: Packed | null, labels?:
 *   string[] | null}} Cloud
 * @typedef {import("./recipe.d.ts").Row} Row
 * @typedef {import("./recipe.d.ts").Parameter} Parameter
 * @typedef {import("./recipe.d.ts").Readout} Readout
 * @typedef {import("./recipe.d.ts").View & {figure: Figure, wide: boolean}} View
 * @typedef {{data: Trace[], layout: Record<string, unknown>}} Figure as Plotly takes it, colours as
 *   `var(--role)`
 * @typedef {Record<string, any>} Trace of Plotly: what it has depends on its type, and Plotly itself says
 *   what is wrong with it
 * @typedef {{name: string, kind: string, label: string, default: string | number, options: Record<string,
 *   string>, of?: string[], when?: [string, string[]] | null, min?: number, max?: number, folded?: boolean}}
 *   Choice
 * @typedef {{html: string, questions: string, tour: import("../player/tour.mjs").Stop[]}} Text
 * @typedef {Omit<import("./recipe.d.ts").Recipe, "views"> & {title: string, views: View[], choices: Choice[],
 *   chosen: Record<string, string | number>, text: Text | null}} Recipe
 * @typedef {Record<string, number>} Params
 * @typedef {(part: number) => number} Own the progress of a point, by its place in the row, from 0 (the
 *   first) to 1
 * @typedef {Record<string, Float64Array>} Progresses of each point of some clouds
 */

/** A cloud by its name. @param {Recipe} recipe @param {string} name */
export const cloudOf = (recipe, name) => /** @type {Cloud} */ (recipe.clouds.find((c) => c.name === name));

/** A parameter by its name. @param {Recipe} recipe @param {string} name */
export const parameterOf = (recipe, name) =>
  /** @type {Parameter} */ (recipe.parameters.find((p) => p.name === name));

/**
 * The parameter that runs by itself, if there is one.
 * @param {Recipe} recipe
 * @returns {Parameter | undefined}
 */
export const clockOf = (recipe) => recipe.parameters.find((p) => p.name === recipe.clock);

/** @type {WeakMap<Packed, Float64Array | Float32Array | Int32Array | Uint8Array>} */
const unpacked = new WeakMap();
const KINDS = { f2: Uint16Array, f4: Float32Array, f8: Float64Array, i4: Int32Array, u1: Uint8Array };

/** The numbers of a packed array (base64, little endian), decoded once. @param {Packed} packed */
export function unpack(packed) {
  let array = unpacked.get(packed);
  if (!array) {
    const text = atob(packed.bdata);
    const bytes = new Uint8Array(text.length);
    // Uint8Array.from takes fifteen times as long
    for (let i = 0; i < text.length; i++) bytes[i] = text.charCodeAt(i);
    const found = new KINDS[/** @type {keyof typeof KINDS} */ (packed.dtype)](bytes.buffer);
    array = found instanceof Uint16Array ? singles(found) : found;
    unpacked.set(packed, array);
  }
  return array;
}

/**
 * Finite numbers in half precision, exactly. Their sign, exponent and fraction stand where those of single
 * precision do, with an exponent that is 112 too small. @param {Uint16Array} halves
 */
function singles(halves) {
  const bits = Uint32Array.from(halves, (half) => ((half & 0x8000) << 16) | ((half & 0x7fff) << 13));
  return new Float32Array(bits.buffer).map((x) => x * 2 ** 112);
}

/**
 * @type {WeakMap<Entries, {names: string[], at: number[], found: Float64Array}>} what each array was last,
 *   and where
 */
const latest = new WeakMap();

/**
 * base + Σ p·term + Σ track(p): constants, entries affine in parameters, and entries that follow a track.
 * Where none of these has moved, the same array again.
 * @param {Entries} entries @param {Params} params @returns {Readonly<Float64Array>}
 */
export function value(entries, params) {
  const known = latest.get(entries);
  const names = known?.names ?? movers(entries);
  if (known && names.every((name, i) => params[name] === known.at[i])) return known.found;
  const found = evaluated(entries, params);
  latest.set(entries, { names, at: names.map((name) => params[name]), found });
  return found;
}

/** @param {Entries} entries @param {Params} params */
function evaluated(entries, params) {
  const out = new Float64Array(unpack(entries.base));
  for (const [name, term] of Object.entries(entries.terms ?? {})) {
    unpack(term).forEach((t, i) => {
      out[i] += params[name] * t;
    });
  }
  for (const [name, track] of Object.entries(entries.tracks ?? {})) {
    const at = unpack(track.at);
    const values = unpack(track.values);
    const p = params[name];
    let k = 0;
    while (k < at.length - 2 && p >= at[k + 1]) k++;
    const next = Math.min(k + 1, at.length - 1);
    const f = next === k ? 0 : Math.min(1, Math.max(0, (p - at[k]) / (at[next] - at[k])));
    for (let i = 0; i < out.length; i++) {
      out[i] += (1 - f) * values[k * out.length + i] + f * values[next * out.length + i];
    }
  }
  return out;
}

/**
 * erf of 0 ≤ a < 2: a power series of positive terms times a Gaussian, so nothing cancels.
 * @param {number} a
 */
function erfSeries(a) {
  let term = a;
  let sum = a;
  for (let n = 1, before = 0; sum !== before; n++) {
    before = sum;
    term *= (2 * a * a) / (2 * n + 1);
    sum += term;
  }
  return (2 / Math.sqrt(Math.PI)) * Math.exp(-a * a) * sum;
}

/**
 * erfc of a ≥ 2: Laplace's continued fraction, exact in the far tail too, where 1 − erf is 0.
 * @param {number} a
 */
function erfcFraction(a) {
  let fraction = 0;
  for (let k = 50; k > 0; k--) fraction = k / 2 / (a + fraction);
  return Math.exp(-a * a) / Math.sqrt(Math.PI) / (a + fraction);
}

/** @param {number} x */
function erf(x) {
  const a = Math.abs(x);
  return Math.sign(x) * (a < 2 ? erfSeries(a) : 1 - erfcFraction(a));
}

/** The complementary error function 1 − erf(x). @param {number} x */
const erfc = (x) => (x < 2 ? 1 - erf(x) : erfcFraction(x));

const FINE = 128;
const ONE = 20; // places from 0 to 1 where the hyperbolic tangent is known; from where it is 1
const TANH = Float64Array.from({ length: 2 * ONE * FINE + 1 }, (_, k) => Math.tanh(k / FINE - ONE));

/**
 * tanh(a + t) = (tanh a + tanh t)/(1 + tanh a · tanh t), a the nearest place: to some roundings, in a third
 * of the time of
 * `Math.tanh`. @param {number} x */
function tanh(x) {
  if (!(x > -ONE && x < ONE)) return Math.tanh(x);
  // Math.round takes longer than the rest
  const k = (FINE * x + ONE * FINE + 0.5) | 0;
  const t = x - (k / FINE - ONE);
  const square = t * t;
  const known = TANH[k];
  const rest = t * (1 - square * (1 / 3 - square * (2 / 15)));
  return (known + rest) / (1 + known * rest);
}

const LEAST = 1e-12; // what a logarithm takes for all that is smaller

/** @type {Record<string, (x: number) => number>} */
export const FUNCTIONS = {
  identity: (x) => x,
  abs: Math.abs,
  tanh,
  sigmoid: (x) => 1 / (1 + Math.exp(-x)),
  erf,
  sin: Math.sin,
  cos: Math.cos,
  arcsin: (x) => Math.asin(Math.max(-1, Math.min(1, x))),
  arctan: Math.atan,
  sqrt: (x) => (x <= 0 ? 0 : Math.sqrt(x)),
  log10: (x) => Math.log10(x > LEAST ? x : LEAST),
  relu: (x) => (x <= 0 ? 0 : x),
  entr: (x) => (x <= 0 ? 0 : -x * Math.log(x)),
  gelu: (x) => (x / 2) * erfc(-x / Math.SQRT2),
  gelu_tanh: (x) => (x / 2) * (1 + tanh(Math.sqrt(2 / Math.PI) * (x + 0.044715 * x * x * x))),
};

/** Two benches that a cloud goes to and fro on: no memory is asked for in a frame. */
const benches = [new Float64Array(0), new Float64Array(0)];

/**
 * A scratch array of so many numbers, on the bench that x is not on.
 * @param {number} length
 * @param {Float64Array} [x]
 */
function scratch(length, x) {
  const k = x?.buffer === benches[0].buffer ? 1 : 0;
  if (benches[k].length < length) benches[k] = new Float64Array(length);
  return benches[k].subarray(0, length);
}

/**
 * Whether each row of A sums to 0, up to the rounding of a sum of its entries.
 * @param {Readonly<Float64Array>} A
 * @param {number} d
 */
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
 * boolean, used: Int32Array, picks: boolean}} Sparse what of
 * each row of a matrix is not 0: where row r begins, which columns, and their numbers; whether the next row
 * has the same columns, two at a time; whether all rows sum to 0, and if so each column once; whether each
 * row takes one coordinate as it is
 * @type {WeakMap<Readonly<Float64Array>, Sparse>} */
const sparser = new WeakMap();

/** @param {Readonly<Float64Array>} A @param {number} d @returns {Sparse} */
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

/** @param {Int32Array} starts @param {Int32Array} columns */
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

const FEW = 4; // points, for which a matrix that has not been looked at closely is not worth it

/**
 * @typedef {{at: Float64Array, from: number, stride: number}} Place where what comes out is written: point by
 *   point, so far apart
 */

/**
 * A·x + b. Where all rows of A sum to 0 (centring), a constant vector goes to b exactly: rounding would give
 * it a
 * direction. Four points at once, and two rows that have the same columns: a sum waits for each of its terms,
 * several do not wait for one another.
 * @param {Float64Array} x @param {number} n @param {Readonly<Float64Array>} A @param {Readonly<Float64Array>
 *   | null} b
 * @param {Place} [place] without one on a bench */
function affine(x, n, A, b, place) {
  const d = x.length / n || 1;
  const m = A.length / d;
  const y = place?.at ?? scratch(n * m, x);
  const stride = place?.stride ?? m;
  const before = place?.from ?? 0;
  if (n < FEW && !sparser.has(A)) return dense(x, n, A, b, y, stride, before);
  const { starts, columns, numbers, twins, level, used, picks } = sparse(A, d);
  if (picks && !b) {
    for (let i = 0, at = 0, to = before; i < n; i++, at += d, to += stride)
      for (let r = 0; r < m; r++) y[to + r] = x[at + columns[r]];
    return y;
  }
  const from = level ? lowered(x, n, d, used) : x;
  const last = n - 1;
  for (let i = 0; i < n; i += 4) {
    // the last ones may be one point
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

/** Points less their first coordinate each, in some columns. */
let low = new Float64Array(0);

/** @param {Float64Array} x @param {number} n @param {number} d @param {Int32Array} columns */
function lowered(x, n, d, columns) {
  if (low.length < x.length) low = new Float64Array(x.length);
  for (let i = 0, at = 0; i < n; i++, at += d) {
    for (let k = 0; k < columns.length; k++) low[at + columns[k]] = x[at + columns[k]] - x[at];
  }
  return low;
}

/** The same of few points. @param {Float64Array} x @param {number} n @param {Readonly<Float64Array>} A
 * @param {Readonly<Float64Array> | null} b @param {Float64Array} y @param {number} stride @param {number}
 *   before
 */
function dense(x, n, A, b, y, stride, before) {
  const d = x.length / n || 1;
  const m = A.length / d;
  const level = levels(A, d);
  for (let i = 0; i < n; i++) {
    const from = level ? x[i * d] : 0;
    const to = before + i * stride;
    for (let r = 0; r < m; r++) y[to + r] = b ? b[r] : 0;
    for (let j = 0; j < d; j++) {
      // who asks for one coordinate of all the points of a cloud has zeros else
      const off = x[i * d + j] - from;
      if (off !== 0) for (let r = 0; r < m; r++) y[to + r] += A[r * d + j] * off;
    }
  }
  return y;
}

/**
 * Each group of coordinates to its sphere, in place: R·v / r(v); the zero vector stays where it is.
 * @param {Float64Array} x @param {number} n @param {number} radius @param {number} eps
 * @param {number[][] | null} groups @param {string} convention
 */
function normalize(x, n, radius, eps, groups, convention) {
  const d = x.length / n || 1;
  for (const group of groups ?? [null]) {
    const size = group ? group.length : d;
    const low = group ? group[0] : 0;
    const beside = convention === "std" ? eps * Math.sqrt(size) : 0;
    const under = convention === "std" ? 0 : (convention === "pytorch" ? size : 1) * eps;
    const row = !group || group.every((j, g) => j === low + g);
    for (let i = 0, at = low; i < n; i++, at += d) {
      let squares = 0;
      if (row) for (let j = at; j < at + size; j++) squares += x[j] * x[j];
      else
        for (let g = 0; g < size; g++) {
          const v = x[at - low + group[g]];
          squares += v * v;
        }
      const length = Math.sqrt(squares + under) + beside;
      const scale = length > 0 ? radius / length : 0;
      if (row) for (let j = at; j < at + size; j++) x[j] *= scale;
      else for (let g = 0; g < size; g++) x[at - low + group[g]] *= scale;
    }
  }
  return x;
}

/**
 * A function of each coordinate, in place. Those that networks use many times a frame are called by name, as
 * a call of what may be any
 * function takes longer than they do. @param {Float64Array} x @param {string} name */
function pointwise(x, name) {
  const f = FUNCTIONS[name];
  if (name === "tanh") for (let i = 0; i < x.length; i++) x[i] = tanh(x[i]);
  else if (name === "relu") for (let i = 0; i < x.length; i++) x[i] = x[i] <= 0 ? 0 : x[i];
  else for (let i = 0; i < x.length; i++) x[i] = f(x[i]);
  return x;
}

/**
 * The product of the coordinates of each group.
 * @param {Float64Array} x
 * @param {number} n
 * @param {number[][]} groups
 */
function product(x, n, groups) {
  const d = x.length / n || 1;
  const m = groups.length;
  const y = scratch(n * m, x);
  for (let g = 0; g < m; g++) {
    const [first, second, ...others] = groups[g];
    if (second === undefined) for (let i = 0; i < n; i++) y[i * m + g] = x[i * d + first];
    else for (let i = 0, at = 0, to = g; i < n; i++, at += d, to += m) y[to] = x[at + first] * x[at + second];
    for (const j of others) for (let i = 0; i < n; i++) y[i * m + g] *= x[i * d + j];
  }
  return y;
}

/**
 * Softmax over the coordinates, in place; temperature 0 is the argmax, which several may share. A causal
 * point sees as many
 * coordinates as there are points up to it. @param {Float64Array} x @param {number} n @param {number}
 * temperature
 * @param {boolean} causal @param {number} first the number of the first of these points */
function softmax(x, n, temperature, causal, first) {
  const d = x.length / n || 1;
  for (let i = 0, at = 0; i < n; i++, at += d) {
    const end = at + (causal ? Math.min(first + i + 1, d) : d);
    let largest = -Infinity;
    let sum = 0;
    for (let j = at; j < end; j++) if (x[j] > largest) largest = x[j];
    for (let j = at; j < end; j++)
      sum += x[j] = temperature ? Math.exp((x[j] - largest) / temperature) : Number(x[j] === largest);
    for (let j = at; j < end; j++) x[j] /= sum;
    for (let j = end; j < at + d; j++) x[j] = 0;
  }
  return x;
}

/** @type {WeakMap<Float64Array, Float64Array>} points as the columns of a matrix */
const across = new WeakMap();

/**
 * The points of another cloud as a matrix.
 * @param {Of} of
 * @param {Stages} all
 * @returns {Readonly<Float64Array>}
 */
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

/** Where branches come from, and where they are joined: three for each depth of branches within branches.
 * @type {Float64Array[]} */
const desks = [];

/** @param {number} k @param {number} length */
function desk(k, length) {
  if (!(desks[k]?.length >= length)) desks[k] = new Float64Array(length);
  return desks[k].subarray(0, length);
}

/**
 * x where no step changes it: what is on a bench is moved to a desk.
 * @param {Float64Array} x
 * @param {number} k
 */
function kept(x, k) {
  if (!benches.some(({ buffer }) => buffer === x.buffer)) return x;
  const out = desk(k, x.length);
  out.set(x);
  return out;
}

/** How many coordinates d become. @param {Step[]} steps @param {number} d @returns {number} */
const wide = (steps, d) =>
  steps.reduce((now, step) => {
    switch (step.kind) {
      case "affine":
        return "of" in step.A ? step.A.shape[0] : step.A.base.shape[0];
      case "product":
        return step.groups.length;
      case "placed":
        return step.names[0].length;
      case "branches":
        return step.join === "sum"
          ? wide(step.pipelines[0], now)
          : step.pipelines.reduce((sum, each) => sum + wide(each, now), 0);
      default:
        return now;
    }
  }, d);

/** @type {WeakMap<Step[][], {d: number, widths: number[]}>} of branches */
const measured = new WeakMap();

/** How many coordinates d become in each of the branches. @param {Step[][]} pipelines @param {number} d */
function widthsOf(pipelines, d) {
  const known = measured.get(pipelines);
  if (known?.d === d) return known.widths;
  const widths = pipelines.map((steps) => wide(steps, d));
  measured.set(pipelines, { d, widths });
  return widths;
}

/**
 * Each branch from the same x, added or side by side. @param {Float64Array} x @param {number} n @param
 * {Step[][]} pipelines
 * @param {string} join @param {Params} params @param {Stages} all @param {number} first @param {number} depth
 */
function branches(x, n, pipelines, join, params, all, first, depth) {
  const [only, ...others] = pipelines;
  if (!others.length && only.length) return branch(x, n, only, only.length, params, all, first, depth);
  const d = x.length / n || 1;
  const concat = join === "concat";
  const widths = widthsOf(pipelines, d);
  const start = kept(x, 3 * depth);
  // x may be what was joined before, at the same depth
  const m = concat ? widths.reduce((a, b) => a + b) : widths[0];
  const joined = 3 * depth + 1;
  const out = desk(joined + Number(desks[joined]?.buffer === start.buffer), n * m);
  for (let k = 0, from = 0; k < pipelines.length; k++) {
    // written where it belongs
    const steps = pipelines[k];
    const last = steps.at(-1);
    const straight = (!k || concat) && last?.kind === "affine" ? last : null;
    const y = branch(
      start,
      n,
      steps,
      straight ? steps.length - 1 : steps.length,
      params,
      all,
      first,
      depth + 1,
    );
    if (straight) affine(y, n, ...numbersOf(straight, params, all), { at: out, from, stride: m });
    else if (!k || concat) into(out, from, m, y, widths[k]);
    else for (let i = 0; i < y.length; i++) out[i] += y[i];
    if (concat) from += widths[k];
  }
  return out;
}

/**
 * x after so many steps, x itself unchanged. @param {Float64Array} x @param {number} n @param {Step[]} steps
 * @param {number} count
 * @param {Params} params @param {Stages} all @param {number} first @param {number} depth */
function branch(x, n, steps, count, params, all, first, depth) {
  let y = x;
  if (count && INSIDE.has(steps[0].kind)) {
    y = scratch(x.length, x);
    y.set(x);
  }
  for (let s = 0; s < count; s++) y = apply(y, n, steps[s], params, all, first, depth);
  return y;
}

/**
 * Rows of some length into the rows of m numbers, from one of these on. @param {Float64Array} out @param
 * {number} from
 * @param {number} m @param {Float64Array} y @param {number} length */
function into(out, from, m, y, length) {
  for (let at = 0; at < y.length; at += length, from += m)
    for (let j = 0; j < length; j++) out[from + j] = y[at + j];
}

/** A and b. @param {Extract<Step, {kind: "affine"}>} step @param {Params} params @param {Stages} all
 * @returns {[Readonly<Float64Array>, Readonly<Float64Array> | null]} */
const numbersOf = ({ A, b }, params, all) => [
  "of" in A ? matrix(A, all) : value(A, params),
  b && value(b, params),
];

/** The steps that change x itself. */
const INSIDE = new Set(["pointwise", "softmax", "normalize"]);

/**
 * x after a step: x itself, changed, or elsewhere. @param {Float64Array} x @param {number} n @param {Step}
 * step
 * @param {Params} params @param {Stages} all of the clouds that the step may see @param {number} first as in
 *   `softmax`
 * @param {number} [depth] of the branches that it is in @returns {Float64Array} */
function apply(x, n, step, params, all, first, depth = 0) {
  switch (step.kind) {
    case "affine":
      return affine(x, n, ...numbersOf(step, params, all));
    case "pointwise":
      return pointwise(x, step.function);
    case "product":
      return product(x, n, step.groups);
    case "softmax":
      return softmax(x, n, value(step.temperature, params)[0], step.causal, first);
    case "placed": {
      const m = step.names[0].length;
      const out = scratch(n * m, x);
      for (let i = 0; i < n * m; i++) out[i] = params[step.names[first + Math.floor(i / m)][i % m]];
      return out;
    }
    case "branches":
      return branches(x, n, step.pipelines, step.join, params, all, first, depth);
    default:
      return normalize(
        x,
        n,
        value(step.radius, params)[0],
        value(step.eps, params)[0],
        step.groups,
        step.convention,
      );
  }
}

/**
 * The names of the parameters that move an array.
 * @param {Partial<Entries> | null | undefined} entries
 * @returns {string[]}
 */
export const movers = (entries) => [
  ...Object.keys(entries?.terms ?? {}),
  ...Object.keys(entries?.tracks ?? {}),
];

/** All steps, those of branches too. @param {Step[]} steps @returns {Step[]} */
const every = (steps) =>
  steps.flatMap((step) => (step.kind === "branches" ? step.pipelines.flatMap(every) : [step]));

/** Whether a step is one at which a guide waits for the points. @param {Step} step */
function rests(step) {
  if (step.kind !== "affine" || step.b || "of" in step.A || movers(step.A).length) return false;
  const [m, d] = step.A.base.shape;
  return m === d && unpack(step.A.base).every((a, i) => a === (i % (d + 1) ? 0 : 1));
}

/**
 * The stages of one cloud, or of one point, or of n, in place of its own. A step that moves nothing gives the
 * same array again.
 * @param {Cloud} cloud @param {Params} params @param {Stages} all of the clouds that its steps see
 * @param {{at: Float64Array, index: number, n?: number}} [point] @param {Float64Array[]} [old] stages whose
 *   memory is free
 * @returns {Float64Array[]} */
export function cloudStages(cloud, params, all, point, old = []) {
  const n = point ? (point.n ?? 1) : cloud.points.shape[0];
  const start = point?.at ?? unpack(cloud.points);
  const first = point?.index ?? 0;
  /** @type {Float64Array} */ let x = scratch(start.length);
  x.set(start);
  for (const step of cloud.place) x = apply(x, n, step, params, all, first);
  const out = [copied(x, old[0])];
  for (const step of cloud.steps) {
    const last = out[out.length - 1];
    out.push(rests(step) ? last : stage(last, n, step, params, all, first, old[out.length]));
  }
  return out;
}

/**
 * An array of its own, as what is known of points goes by their array; in the memory of an old one that is as
 * long.
 * @param {number} length @param {Float64Array} [old] */
const fresh = (length, old) => (old?.length === length ? old.subarray() : new Float64Array(length));

/** @param {Float64Array} x @param {Float64Array} [old] */
function copied(x, old) {
  const out = fresh(x.length, old);
  out.set(x);
  return out;
}

/**
 * x after a step, in an array of its own. @param {Float64Array} x @param {number} n @param {Step} step @param
 * {Params} params
 * @param {Stages} all @param {number} first as in `softmax` @param {Float64Array} [old] whose memory is free
 *   @returns {Float64Array}
 */
function stage(x, n, step, params, all, first, old) {
  if (INSIDE.has(step.kind)) return apply(copied(x, old), n, step, params, all, first);
  if (step.kind !== "affine") return copied(apply(x, n, step, params, all, first), old);
  const [A, b] = numbersOf(step, params, all);
  const m = A.length / (x.length / n || 1);
  return affine(x, n, A, b, { at: fresh(n * m, old), from: 0, stride: m });
}

/**
 * @typedef {{names: string[], sources: string[], inputs: unknown[], stages: Float64Array[], before:
 * Float64Array[] | undefined}} Known what moves
 *   a cloud, where it is, and where it was a move before
 * @typedef {WeakMap<Cloud, Known>} Memory of somebody who moves a recipe: stages are good until their cloud
 *   has moved twice
 */

/**
 * The stages of a cloud, anew only if a parameter that moves it, or a cloud that it sees, has changed. @param
 * {Cloud} cloud
 * @param {Params} params @param {Stages} all of the clouds before it @param {Memory} memory */
function remembered(cloud, params, all, memory) {
  let known = memory.get(cloud);
  const steps = known ? [] : every([...cloud.place, ...cloud.steps]);
  const names =
    known?.names ??
    steps.flatMap((step) =>
      step.kind === "placed" ? step.names.flat() : Object.values(step).flatMap(movers),
    );
  const sources =
    known?.sources ?? steps.flatMap((step) => (step.kind === "affine" && "of" in step.A ? [step.A.of] : []));
  const inputs = [...names.map((name) => params[name]), ...sources.map((name) => all[name])];
  if (!known || !inputs.every((input, i) => input === known?.inputs[i])) {
    memory.set(
      cloud,
      (known = {
        names,
        sources,
        inputs,
        stages: cloudStages(cloud, params, all, undefined, known?.before),
        before: known?.stages,
      }),
    );
  }
  return known.stages;
}

/**
 * For each cloud, an array a stage. A cloud sees only those before it. @param {Recipe} recipe @param {Params}
 * params
 * @param {Memory} [memory] @returns {Stages} */
export function stages(recipe, params, memory = new WeakMap()) {
  /** @type {Stages} */ const all = {};
  for (const cloud of recipe.clouds) all[cloud.name] = remembered(cloud, params, all, memory);
  return all;
}

/**
 * Between two stages of n points each, on straight lines; of many progresses each point has its own. A cloud
 * that has fewer
 * steps than the recipe rests at its last stage.
 * @param {ArrayLike<number>[]} stages @param {number} n @param {number | ArrayLike<number>} progress @param
 *   {Float64Array} [old] whose memory is free @returns {ArrayLike<number>}
 */
export function between(stages, n, progress, old) {
  if (typeof progress !== "number") return scattered(stages, n, progress, old);
  const p = Math.min(progress, stages.length - 1);
  const k = Math.min(Math.floor(p), stages.length - 2);
  const f = p - k;
  if (f === 0 || k < 0) return stages[Math.max(k, 0)];
  if (f === 1) return stages[k + 1];
  if (stages[k] === stages[k + 1]) return stages[k];
  const a = stages[k];
  const b = stages[k + 1];
  const da = a.length / n || 1;
  const db = b.length / n || 1;
  const d = Math.max(da, db);
  const out = fresh(n * d, old);
  if (da === db) for (let i = 0; i < out.length; i++) out[i] = (1 - f) * a[i] + f * b[i];
  else
    for (let i = 0; i < n; i++) {
      for (let j = 0; j < d; j++) {
        out[i * d + j] = (j < da ? (1 - f) * a[i * da + j] : 0) + (j < db ? f * b[i * db + j] : 0);
      }
    }
  return out;
}

/**
 * The same with a progress of each point. @param {ArrayLike<number>[]} stages @param {number} n @param
 * {ArrayLike<number>} progress
 * @param {Float64Array} [old] */
function scattered(stages, n, progress, old) {
  const last = stages.length - 1;
  const widths = stages.map((points) => points.length / n || 1);
  const d = Math.max(...widths);
  const out = fresh(n * d, old);
  for (let i = 0; i < n; i++) {
    const p = Math.min(progress[i], last);
    const k = Math.min(Math.floor(p), Math.max(last - 1, 0));
    const f = p - k;
    const next = Math.min(k + 1, last);
    for (let j = 0; j < d; j++) {
      out[i * d + j] =
        (j < widths[k] ? (1 - f) * stages[k][i * widths[k] + j] : 0) +
        (j < widths[next] ? f * stages[next][i * widths[next] + j] : 0);
    }
  }
  return out;
}

/**
 * For each cloud, where its points are at a progress. @param {Recipe} recipe @param {Params} params @param
 * {number} progress
 * @param {Own | null} [own] the progress of each point of a loose cloud, by its place in the row
 * @returns {Record<string, Float64Array>} */
export function positions(recipe, params, progress, own = null) {
  return now(recipe, stages(recipe, params), progress, own && progresses(recipe, own));
}

/**
 * The same from stages that are known already. @param {Recipe} recipe @param {Stages} all @param {number}
 * progress
 * @param {Progresses | null} [each] @param {Places} [there] @returns {Record<string, Float64Array>} */
export function now(recipe, all, progress, each = null, there = new WeakMap()) {
  return Object.fromEntries(
    recipe.clouds.map((cloud) => {
      const stages = all[cloud.name];
      const own = each?.[cloud.name] ?? progress;
      const known = there.get(cloud);
      if (known?.stages === stages && known.progress === own) return [cloud.name, known.points];
      const points = /** @type {Float64Array} */ (between(stages, cloud.points.shape[0], own, known?.way));
      there.set(cloud, { stages, progress: own, points, way: stages.includes(points) ? known?.way : points });
      return [cloud.name, points];
    }),
  );
}

/**
 * @typedef {WeakMap<Cloud, {stages: Float64Array[], progress: number | Float64Array, points: Float64Array,
 * way: Float64Array | undefined}>} Places
 * where each cloud was last, and where it was when it was last on its way: good until it is on its way again
 */

/**
 * The progress of each point of the clouds that are loose: the first of a cloud has that of place 0, the last
 * that of 1.
 * @param {Recipe} recipe @param {Own} own @returns {Progresses} */
export const progresses = (recipe, own) =>
  Object.fromEntries(
    [...loose(recipe)].map((cloud) => {
      const n = cloudOf(recipe, cloud).points.shape[0];
      return [cloud, Float64Array.from({ length: n }, (_, i) => own(n > 1 ? i / (n - 1) : 0.5))];
    }),
  );

/** @type {WeakMap<Recipe["clouds"], Set<string>>} */
const freed = new WeakMap();
const FREE = ["Points", "Trail", "Labels"];

/**
 * The clouds whose points may go each in its own time: each is drawn by itself, nothing is made of all of
 * them together, no
 * other cloud sees them, and no line or surface goes the same way. @param {Recipe} recipe @returns
 * {Set<string>}
 */
export function loose({ clouds, views, readouts }) {
  const found = freed.get(clouds);
  if (found) return found;
  const marks = views.flatMap((view) => view.layers);
  const sources = new Set(
    clouds.flatMap(({ place, steps }) =>
      every([...place, ...steps]).flatMap((step) =>
        step.kind === "affine" && "of" in step.A ? [step.A.of] : [],
      ),
    ),
  );
  const whole = new Set([
    ...sources,
    ...readouts.flatMap(({ a, b, keys }) => [a, b, keys]),
    ...marks.flatMap(({ cloud, mark, only, color }) =>
      FREE.includes(mark) &&
      !(only && !Array.isArray(only) && typeof only === "object") &&
      !(color && "kind" in color.of)
        ? []
        : [cloud],
    ),
  ]);
  const guides = clouds.filter(
    ({ name }) =>
      marks.some(({ cloud, draws }) => cloud === name && ["line", "mesh"].includes(draws)) && whole.has(name),
  );
  const free = clouds.filter(
    (cloud) =>
      cloud.steps.length &&
      !whole.has(cloud.name) &&
      marks.some(({ cloud: name, mark }) => name === cloud.name && mark === "Points") &&
      !guides.some(({ steps }) => alike(steps, cloud.steps)),
  );
  const names = new Set(free.map(({ name }) => name));
  freed.set(clouds, names);
  return names;
}

/** Whether two pieces of a recipe say the same. @param {unknown} a @param {unknown} b @returns {boolean} */
function alike(a, b) {
  if (a === b || !a || !b || typeof a !== "object" || typeof b !== "object") return a === b;
  const names = Object.keys(a);
  return (
    names.length === Object.keys(b).length &&
    names.every((name) => alike(Reflect.get(a, name), Reflect.get(b, name)))
  );
}

/**
 * One display coordinate of n points: ⟨weights, point⟩ + offset, at the progress or at a fixed stage; over
 * another row, if any.
 * @param {Row} row @param {ArrayLike<number>[]} stagesOfCloud @param {ArrayLike<number>} now @param {number}
 *   n @param {Params} params
 * @param {Float32Array} out @param {number} offset @param {number} stride
 */
function coordinate(row, stagesOfCloud, now, n, params, out, offset, stride) {
  const points = row.stage === null ? now : stagesOfCloud[Math.min(row.stage, stagesOfCloud.length - 1)];
  const weights = Array.isArray(row.weights) ? row.weights : value(row.weights, params);
  const d = points.length / n || 1;
  const m = Math.min(d, weights.length);
  /** @type {number[]} */ const seen = [];
  for (let j = 0; j < m; j++) if (weights[j] !== 0) seen.push(j);
  if (seen.length === 1) {
    const weight = weights[seen[0]];
    const { offset: low } = row;
    for (let i = 0, at = seen[0], to = offset; i < n; i++, at += d, to += stride)
      out[to] = low + weight * points[at];
  } else
    for (let i = 0, at = 0, to = offset; i < n; i++, at += d, to += stride) {
      let sum = row.offset;
      for (let k = 0; k < seen.length; k++) sum += weights[seen[k]] * points[at + seen[k]];
      out[to] = sum;
    }
  if (!row.over) return;
  const by = new Float32Array(n);
  coordinate(row.over, stagesOfCloud, now, n, params, by, 0, 1);
  for (let i = 0; i < n; i++) out[offset + i * stride] /= by[i];
}

/**
 * All display coordinates of n points. @param {Row[]} rows @param {ArrayLike<number>[]} stagesOfCloud @param
 * {ArrayLike<number>} points
 * @param {number} n @param {Params} params */
export function project(rows, stagesOfCloud, points, n, params) {
  const out = new Float32Array(n * rows.length);
  rows.forEach((row, r) => coordinate(row, stagesOfCloud, points, n, params, out, r, rows.length));
  return out;
}

/** The parameters that move rows. @param {Row[]} rows @returns {string[]} */
export const rowMovers = (rows) =>
  rows.flatMap(({ weights, over }) => [
    ...(Array.isArray(weights) ? [] : movers(weights)),
    ...(over ? rowMovers([over]) : []),
  ]);

/**
 * Rows of `points` (k numbers each) in the order of `indices`; −1 is a gap. @param {ArrayLike<number>} points
 * @param {number} k
 * @param {ArrayLike<number>} indices */
export function gather(points, k, indices) {
  const out = new Float32Array(indices.length * k);
  for (let i = 0; i < indices.length; i++) {
    for (let r = 0; r < k; r++) out[i * k + r] = indices[i] < 0 ? NaN : points[indices[i] * k + r];
  }
  return out;
}

/** The largest distance between two clouds, point by point, in their first m coordinates (all of a's).
 * @param {ArrayLike<number>} a @param {ArrayLike<number>} b @param {number} n @param {number} [m] */
export function residual(a, b, n, m) {
  const da = a.length / n;
  const db = b.length / n;
  let largest = 0;
  for (let i = 0; i < n; i++) {
    let squares = 0;
    for (let j = 0; j < (m ?? da); j++) squares += (a[i * da + j] - b[i * db + j]) ** 2;
    largest = Math.max(largest, Math.sqrt(squares));
  }
  return largest;
}

/** The steps of one point as numbers. @param {ArrayLike<number>} x */
export function measures(x) {
  const d = x.length;
  const components = Array.from(x);
  const mean = components.reduce((s, v) => s + v, 0) / d;
  const norm = Math.hypot(...components);
  const std = Math.hypot(...components.map((v) => v - mean)) / Math.sqrt(d);
  const cosine = Math.max(-1, Math.min(1, (mean * Math.sqrt(d)) / norm));
  return { components, mean, std, norm, angle: norm > 0 ? (Math.acos(cosine) * 180) / Math.PI : NaN };
}
