// @ts-check
/** The perspective and the zoom of a view. The perspective of a 3D view is that of Plotly's camera (see
 * geometry/perspective.py). The zoom says how much the axes widen and shift at some stages and parameter
 * values. In 3D the axes' ranges form a cube of side 1 around the origin; a camera's `eye` and `center` are
 * in these units. Pure. */

import { dot } from "./vectors.mjs";

const HALF_SIGHT_TANGENT = Math.tan(Math.PI / 8); // of half the angle of view of Plotly's camera
const MIN_EYE_DISTANCE = 1e-3; // points nearer to the eye than this, or behind it, count as at this distance
// limits of a camera in a link, in units of the cube's side; the same in components/language/link.py
export const MAX_CAMERA_COORDINATE = 100; // the largest absolute value of a coordinate
export const MIN_CAMERA_DISTANCE = 1e-3; // between the eye and the point at which it looks
const ROUNDING_MARGIN = 1.0001; // Plotly's camera is not exactly where it has been put

/** The zoom that changes nothing. A zoom is a list of numbers: the factor by which all axes are wider than
 * their ranges, then for each axis the shift of its middle, in its own unit; missing shifts are 0.
 * @type {number[]} */
export const IDENTITY_ZOOM = [1];

/** @typedef {{parameters: string[], log: boolean, stops: number[], zooms: number[][][]}} Wider the zooms of a
 * view's axes that parameters cause. stops: some values of the product of the parameters; zooms: a zoom for
 * each stop and each stage; log: whether to interpolate in the logarithm of the product */
/** @typedef {{ranges: unknown[], zooms: number[][], wider: Wider[]}} View */

/** The zoom that some parameters cause at a stage. It depends on the product of the parameters. `stops` are
 * some values of this product, each with a zoom. Between two stops the zoom is interpolated linearly in the
 * product (in its logarithm if `log`); below the first stop and above the last it is constant.
 * @param {Wider} wider @param {number} stage @param {Record<string, number>} params */
function pushed({ parameters, log, stops, zooms }, stage, params) {
  const value = parameters.reduce((product, name) => product * params[name], 1);
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
 * @type {WeakMap<View, {params: Record<string, number>, rows: number[][]}>} results of `rowOf`: for each view
 *   the zooms of its stages, at the last parameters
 */
const latest = new WeakMap();

/** The zoom of a view's axes at one stage and these parameters; cached while `params` is the same object.
 * @param {View} view @param {number} stage @param {Record<string, number>} params */
function rowOf(view, stage, params) {
  let known = latest.get(view);
  if (known?.params !== params) latest.set(view, (known = { params, rows: [] }));
  return (known.rows[stage] ??= combined(view, stage, params));
}

/**
 * Combine the zoom of a stage with the zooms that the entries of `wider` cause. The stage's own factor is
 * multiplied by the largest factor among these zooms. The shifts of the stage and of all these zooms are
 * added. @param {View} view @param {number} stage @param {Record<string, number>} params
 */
function combined({ ranges, zooms, wider }, stage, params) {
  const [times, ...by] = zooms[stage] ?? IDENTITY_ZOOM;
  const more = wider.map((each) => pushed(each, stage, params));
  return [
    times * (more.length ? Math.max(...more.map((each) => each[0])) : 1),
    ...ranges.map((_, r) => more.reduce((sum, each) => sum + each[r + 1], by[r] ?? 0)),
  ];
}

/** The zoom of a view's axes at a position between stages. Between two stages, axes that become wider do so
 * in the first half of the way, and axes that become narrower in the second half, so that moving points stay
 * in view; shifts are interpolated linearly. @param {View} view @param {number} progress the position, in
 * stages @param {Record<string, number>} params @returns {number[]} a zoom, in the format of IDENTITY_ZOOM */
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

/** The ranges of axes after a zoom: all become wider by its factor, and the middle of each is shifted.
 * @param {[number, number][]} ranges @param {number[]} zooms one zoom @returns {[number, number][]} */
export const widened = (ranges, [times, ...by]) =>
  times === 1 && !by.some(Boolean)
    ? ranges
    : ranges.map(([low, high], r) => {
        const middle = (low + high) / 2 + (by[r] ?? 0);
        const half = (times * (high - low)) / 2;
        return [middle - half, middle + half];
      });

/** @typedef {{eye: number[], center: number[]}} Camera */

/** The unit vectors that point forward, to the right and up, as seen by an upright camera: one in whose
 * picture the z-axis points up. A vertical camera has the x-axis on the right. @param {Camera} camera */
function sight({ eye, center }) {
  const way = eye.map((e, i) => center[i] - e);
  const far = Math.hypot(...way);
  const forward = way.map((w) => w / far);
  const across = Math.hypot(forward[0], forward[1]);
  const right = across > 0 ? [forward[1] / across, -forward[0] / across, 0] : [1, 0, 0];
  const up = [right[1] * forward[2], -right[0] * forward[2], right[0] * forward[1] - right[1] * forward[0]];
  return { forward, right, up };
}

/** The length in pixels of a line that is as long as a side of the cube in which the view's axes lie, and
 * whose distance from the camera is also one side of this cube. @param {number} width of the panel in pixels
 * @param {number} height of the panel in pixels */
const unitOf = (width, height) => Math.min(width, height) / 2 / HALF_SIGHT_TANGENT;

/** The vector from the eye to a point, in units of the cube's side. @param {ArrayLike<number>} point an array
 * that contains the point's coordinates @param {number} first the index of the x-coordinate in this array
 * @param {[number, number][]} ranges of the axes @param {number[]} eye in units of the cube's side */
const fromEye = (point, first, ranges, eye) =>
  ranges.map(([low, high], r) => (point[first + r] - low) / (high - low) - 0.5 - eye[r]);

/** Project points of a 3D view to its panel: return their positions in pixels from the panel's top left
 * corner. NaN stays NaN. @param {Float32Array} points x, y, z of each @param {[number, number][]} ranges
 * @param {Camera} camera @param {number} width @param {number} height @returns {Float32Array} x and y of each
 * point */
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

/** The inverse of `flat`: the point under a pixel. Of all points under the pixel, it is the one in the plane
 * that faces the camera and contains the point `at`. @param {number[]} pixel from the panel's top left
 * @param {ArrayLike<number>} at @param {[number, number][]} ranges @param {Camera} camera @param {number}
 * width @param {number} height @returns {number[]} */
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

/** Move a camera to `f` times its distance from the point at which it looks. If a link cannot express that
 * camera, the distance is changed to the nearest one that a link can express. @param {Camera} camera
 * @param {number} f @returns {Camera} */
export function approached({ eye, center }, f) {
  const way = eye.map((e, i) => e - center[i]);
  const least = (MIN_CAMERA_DISTANCE * ROUNDING_MARGIN) / Math.hypot(...way);
  const limits = way.map(
    (w, i) => (MAX_CAMERA_COORDINATE / ROUNDING_MARGIN - Math.sign(w) * center[i]) / Math.abs(w),
  );
  const times = Math.max(least, Math.min(f, ...limits));
  return { eye: way.map((w, i) => center[i] + times * w), center };
}

/** The position of a camera's eye in the coordinates of the axes. @param {[number, number][]} ranges
 * @param {Camera} camera */
export const eyeOf = (ranges, { eye }) => ranges.map(([low, high], r) => low + (eye[r] + 0.5) * (high - low));

/** The point of a sphere of radius 1 that lies under a pixel, on the side towards the camera, as a unit
 * vector from the sphere's centre. For a pixel outside the sphere's outline, returns the direction from the
 * centre to the nearest point of the ray through the pixel. Radius and centre are in the coordinates of the
 * axes. @param {number[]} pixel from the panel's top left @param {number[]} centre
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
