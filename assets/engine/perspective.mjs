// @ts-check
/** Central projection of a 3D view, as in geometry/perspective.py, and the zoom of a view's axes. Pure. */

const HALF_SIGHT_TANGENT = Math.tan(Math.PI / 8); // half of what Plotly's camera sees at distance 1
const MIN_EYE_DISTANCE = 1e-3; // points nearer to the eye than this, or behind it, count as this near

/** The dot product of two vectors in space. @param {number[]} a @param {number[]} b */
const dot = (a, b) => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];

/** @type {number[]} as wide as ranges, and in their middle */ export const IDENTITY_ZOOM = [1];

/** @typedef {{parameter: string, log: boolean, stops: number[], zooms: number[][][]}} Wider how a parameter
 * changes the axes at each of its stops, by stage */
/** @typedef {{ranges: unknown[], zooms: number[][], wider: Wider[]}} View */

/** A parameter's effect on the axes at a stage: linear between its stops, constant beyond them.
 * @param {Wider} wider @param {number} stage @param {number} value */
function pushed({ log, stops, zooms }, stage, value) {
  const k = Math.max(
    0,
    Math.min(
      stops.findLastIndex((stop) => stop <= value),
      stops.length - 2,
    ),
  );
  const within = Math.max(stops[0], Math.min(value, stops[stops.length - 1]));
  const [low, high, here] = [stops[k], stops[k + 1], within].map((x) => (log ? Math.log(x) : x));
  const there = zooms[k + 1][stage];
  return zooms[k][stage].map((x, i) => x + ((here - low) / (high - low)) * (there[i] - x));
}

/**
 * @type {WeakMap<View, {params: Record<string, number>, rows: number[][]}>} of each stage, with the
 *   parameters that were asked for last
 */
const latest = new WeakMap();

/** The zoom of a view's axes at one stage. @param {View} view @param {number} stage
 * @param {Record<string, number>} params */
function rowOf(view, stage, params) {
  let known = latest.get(view);
  if (known?.params !== params) latest.set(view, (known = { params, rows: [] }));
  return (known.rows[stage] ??= combined(view, stage, params));
}

/**
 * The zoom at a stage: that of the stage, combined with those of all parameters.
 * @param {View} view @param {number} stage @param {Record<string, number>} params
 */
function combined({ ranges, zooms, wider }, stage, params) {
  const [times, ...by] = zooms[stage] ?? IDENTITY_ZOOM;
  const more = wider.map((each) => pushed(each, stage, params[each.parameter]));
  return [
    times * (more.length ? Math.max(...more.map((each) => each[0])) : 1),
    ...ranges.map((_, r) => more.reduce((sum, each) => sum + each[r + 1], by[r] ?? 0)),
  ];
}

/** The zoom of a view: the factor by which its axes are wider than their ranges, and the shift of their
 * middle. The factor is the stage's times the largest of the parameters' factors; shifts add up. Between
 * stages axes widen in the first half and narrow in the second, so that moving points stay in view.
 * @param {View} view @param {number} progress @param {Record<string, number>} params @returns {number[]} */
export function zoomOf(view, progress, params) {
  const stages = view.zooms.length || view.wider[0]?.zooms[0].length;
  if (!stages) return IDENTITY_ZOOM;
  const k = Math.min(Math.floor(progress), stages - 1);
  const past = progress - k;
  const here = rowOf(view, k, params);
  const next = rowOf(view, Math.min(k + 1, stages - 1), params);
  const times = next[0] > here[0] ? Math.min(2 * past, 1) : Math.max(2 * past - 1, 0);
  return here.map((x, i) => x + (i ? past : times) * (next[i] - x));
}

/** Ranges widened by a factor, and shifted. @param {[number, number][]} ranges @param {number[]} zooms
 * @returns {[number, number][]} */
export const widened = (ranges, [times, ...by]) =>
  times === 1 && !by.some(Boolean)
    ? ranges
    : ranges.map(([low, high], r) => {
        const middle = (low + high) / 2 + (by[r] ?? 0);
        const half = (times * (high - low)) / 2;
        return [middle - half, middle + half];
      });

/** @typedef {{eye: number[], center: number[]}} Camera */

/** A camera's unit vectors forward, to the right and up. @param {Camera} camera */
function sight({ eye, center }) {
  const way = eye.map((e, i) => center[i] - e);
  const far = Math.hypot(...way);
  const forward = way.map((w) => w / far);
  const across = Math.hypot(forward[0], forward[1]);
  const right = across > 0 ? [forward[1] / across, -forward[0] / across, 0] : [1, 0, 0];
  const up = [right[1] * forward[2], -right[0] * forward[2], right[0] * forward[1] - right[1] * forward[0]];
  return { forward, right, up };
}

/** The pixels that a length of 1 takes at distance 1. @param {number} width @param {number} height */
const unitOf = (width, height) => Math.min(width, height) / 2 / HALF_SIGHT_TANGENT;

/** A point from the eye, in units of the cube's side. @param {ArrayLike<number>} point @param {number} first
 * the index of its first coordinate @param {[number, number][]} ranges @param {number[]} eye */
const fromEye = (point, first, ranges, eye) =>
  ranges.map(([low, high], r) => (point[first + r] - low) / (high - low) - 0.5 - eye[r]);

/** Where points of a 3D view are in a panel, in pixels from its top left; gaps stay.
 * @param {Float32Array} points interleaved @param {[number, number][]} ranges
 * @param {Camera} camera @param {number} width @param {number} height
 * @returns {Float32Array} x and y of each point */
export function flat(points, ranges, camera, width, height) {
  const { forward, right, up } = sight(camera);
  const unit = unitOf(width, height);
  const out = new Float32Array((points.length / 3) * 2);
  for (let i = 0; i < points.length / 3; i++) {
    const from = fromEye(points, 3 * i, ranges, camera.eye);
    const scale = unit / Math.max(dot(from, forward), MIN_EYE_DISTANCE);
    out[2 * i] = width / 2 + dot(from, right) * scale;
    out[2 * i + 1] = height / 2 - dot(from, up) * scale;
  }
  return out;
}

/** The point of a 3D view at a pixel, in the plane through `at` that faces the camera: the inverse of `flat`.
 * @param {number[]} pixel from the panel's top left @param {ArrayLike<number>} at
 * @param {[number, number][]} ranges @param {Camera} camera @param {number} width @param {number} height
 * @returns {number[]} */
export function lifted([left, top], at, ranges, camera, width, height) {
  const { forward, right, up } = sight(camera);
  const depth = Math.max(dot(fromEye(at, 0, ranges, camera.eye), forward), MIN_EYE_DISTANCE);
  const scale = unitOf(width, height) / depth;
  const [x, y] = [(left - width / 2) / scale, (height / 2 - top) / scale];
  return ranges.map(([low, high], r) => {
    const place = camera.eye[r] + depth * forward[r] + x * right[r] + y * up[r];
    return low + (high - low) * (place + 0.5);
  });
}

/** Where the eye of a camera is, in the coordinates of the points. @param {[number, number][]} ranges
 * @param {Camera} camera */
export const eyeOf = (ranges, { eye }) => ranges.map(([low, high], r) => low + (eye[r] + 0.5) * (high - low));

/** The direction, from the centre of a sphere of radius 1, of its point under a pixel; beside the sphere, of
 * the nearest point. The inverse of `flat` on the near side. @param {number[]} pixel @param {number[]} centre
 * @param {[number, number][]} ranges @param {Camera} camera @param {number} width @param {number} height */
export function onSphere(pixel, centre, ranges, camera, width, height) {
  const eye = eyeOf(ranges, camera);
  const from = eye.map((e, r) => e - centre[r]);
  const ray = lifted(pixel, centre, ranges, camera, width, height).map((x, r) => x - eye[r]);
  const [a, b, c] = [dot(ray, ray), dot(ray, from), dot(from, from) - 1];
  const s = (-b - Math.sqrt(Math.max(b * b - a * c, 0))) / a;
  const there = from.map((f, r) => f + s * ray[r]);
  const far = Math.hypot(...there);
  return there.map((t) => t / far);
}
