// @ts-check
/** Geometry for marks and readouts; mirrors geometry/ (arrows, ellipsoid, plane, distributions). Pure. */

import { dot } from "./vectors.mjs";

/** @typedef {{length: number, width: number, least: number, steep: number}} Head the shape of arrow heads.
 * length: how far a head reaches back from the tip; width: the distance of its barbs from the line, as a
 * share of the length; least: segments of a line up to this share of the length give no direction; steep: see
 * `sides` */

/** Add an arrow head at the end of each piece of a line; the pieces are separated by NaN. If `arrow` is 0,
 * returns the line unchanged. @param {Float32Array} points k coordinates for each @param {number} k
 * @param {Head | 0} arrow */
export function withHeads(points, k, arrow) {
  if (!arrow) return points;
  /** @type {number[]} */ const out = [];
  for (let i = 0, from = 0, n = points.length / k; i <= n; i++) {
    if (i < n && points[i * k] === points[i * k]) continue;
    const piece = points.subarray(from * k, i * k);
    out.push(...piece, ...head(piece, k, arrow));
    if (i < n) out.push(...points.subarray(i * k, (i + 1) * k));
    from = i + 1;
  }
  return Float32Array.from(out);
}

/** The points that continue a piece of a line, so that it ends in an arrow head. The last point of the piece
 * is the tip. It is followed by barb, tip, barb; in space also by tip, barb, tip, barb.
 * @param {Float32Array} piece k coordinates for each of its points @param {number} k @param {Head} arrow the
 * shape of the head @returns {number[]} k coordinates for each point; empty for an empty piece */
function head(piece, k, { length, width, least, steep }) {
  const n = piece.length / k;
  const tip = Array.from(piece.subarray(piece.length - k));
  let whole = 0;
  let size = 0;
  let back = tip.map(() => 0);
  for (let i = 1; i < n; i++) {
    const leg = tip.map((_, j) => piece[i * k + j] - piece[(i - 1) * k + j]);
    const long = Math.hypot(...leg);
    whole += long;
    if (long > least * length) back = leg.map((x) => x / long);
  }
  if (back.some(Boolean)) back = back.map((x) => (size = Math.min(length, whole / 2)) * x);
  const barbs = sides(back, size || 1, steep).map((side) => tip.map((x, j) => x - back[j] + width * side[j]));
  return n ? barbs.flatMap((barb) => [...barb, ...tip]).slice(0, -k) : [];
}

/** Vectors that are orthogonal to the vector `back` and have its length. In the plane: two opposite vectors.
 * In space: two pairs of opposite vectors; the pairs are orthogonal to each other. The first pair is also
 * orthogonal to the z-axis or, if `back` is nearly parallel to this axis, to the x-axis.
 * @param {number[]} back @param {number} size the length of `back` @param {number} steep `back` is nearly
 * parallel to the z-axis if its |z| is larger than steep·size */
function sides(back, size, steep) {
  const both = (/** @type {number[]} */ v) => [v, v.map((x) => -x)];
  if (back.length === 2) return both([-back[1], back[0]]);
  const across = cross(back, Math.abs(back[2]) > steep * size ? [1, 0, 0] : [0, 0, 1]);
  const long = Math.hypot(...across) || 1;
  const first = across.map((x) => (x * size) / long);
  return [...both(first), ...both(cross(back, first).map((x) => x / size))];
}

/** The semi-axes of an ellipsoid as vectors, the longest first, by one-sided Jacobi rotations: pairs of
 * vectors are rotated until all are orthogonal. @param {ArrayLike<number>} points n points: the centre of the
 * ellipsoid, then the images of orthonormal radii of the sphere that was mapped to it @param {number} n
 * @returns {number[][]} */
export function semiAxes(points, n) {
  const d = points.length / n;
  const axes = Array.from({ length: n - 1 }, (_, i) =>
    Array.from({ length: d }, (_, j) => points[(i + 1) * d + j] - points[j]),
  );
  for (let sweep = 0; sweep < 12; sweep++) {
    for (let p = 0; p < n - 2; p++) {
      for (let q = p + 1; q < n - 1; q++) {
        const a = axes[p];
        const b = axes[q];
        const angle = 0.5 * Math.atan2(2 * dot(a, b), dot(a, a) - dot(b, b));
        if (Math.abs(dot(a, b)) <= 1e-7 * Math.sqrt(dot(a, a) * dot(b, b))) continue;
        const c = Math.cos(angle);
        const s = Math.sin(angle);
        axes[p] = a.map((x, j) => c * x + s * b[j]);
        axes[q] = b.map((x, j) => c * x - s * a[j]);
      }
    }
  }
  return axes.sort((a, b) => dot(b, b) - dot(a, a));
}

/** The disc that the plane {x : b + ⟨w, x⟩ = 0} cuts from a ball around the origin: the coordinates of its
 * centre, then of a closed polygon along its edge. If the plane does not meet the ball, all of these are the
 * point of the ball that is nearest to the plane. @param {ArrayLike<number>} values the numbers that define
 * the plane: b + ⟨w, x⟩ at the origin and at the ends of the three unit vectors @param {number} radius of the
 * ball @param {number} corners of the polygon */
export function disc(values, radius, corners) {
  const { normal, away } = plane(values, radius);
  return facing(
    normal.map((x) => away * x),
    normal,
    Math.sqrt(radius ** 2 - away ** 2),
    corners,
  );
}

/** The line (2D) or disc (3D) with a given centre, orthogonal to a vector: the coordinates of its centre,
 * then of the line's two ends or of a closed polygon along the disc's edge. If the vector is 0, all points
 * are the centre. @param {number[]} middle the centre @param {number[]} vector @param {number} radius half
 * the length of the line, or the radius of the disc @param {number} corners of the polygon */
export function facing(middle, vector, radius, corners) {
  const size = Math.hypot(...vector) || 1;
  const normal = vector.map((x) => x / size);
  if (normal.length === 2) {
    const [x, y] = middle;
    const [a, b] = normal;
    return Float32Array.of(x, y, x + radius * b, y - radius * a, x - radius * b, y + radius * a);
  }
  const sizes = normal.map(Math.abs);
  const least = sizes.findIndex((x) => x <= Math.min(...sizes) + TIE_TOLERANCE);
  const across = cross(
    normal,
    [0, 1, 2].map((i) => (i === least ? 1 : 0)),
  );
  const long = Math.hypot(...across) || 1;
  const u = across.map((x) => x / long);
  const v = cross(normal, u);
  const out = new Float32Array(3 * (corners + 2));
  for (let i = 0; i < 3; i++) {
    out[i] = middle[i];
    for (let c = 0; c <= corners; c++) {
      const turn = (2 * Math.PI * c) / corners;
      out[3 * (c + 1) + i] = middle[i] + radius * (Math.cos(turn) * u[i] + Math.sin(turn) * v[i]);
    }
  }
  return out;
}

/** The unit normal of the plane {x : b + ⟨w, x⟩ = 0}, and the signed distance of the plane from the origin
 * along this normal (`away`), limited to ±radius. If w = 0 there is no plane: then the normal is the z-axis,
 * and the distance is the radius. @param {ArrayLike<number>} values as in `disc` @param {number} radius */
function plane(values, radius) {
  const [b, ...ends] = Array.from(values);
  const w = [0, 1, 2].map((i) => (ends[i] ?? b) - b);
  const size = Math.hypot(...w);
  const away = size > 0 ? Math.max(-radius, Math.min(radius, -b / size)) : radius;
  return { normal: size > 0 ? w.map((x) => x / size) : [0, 0, 1], away };
}

// largest cosine of the angle between the z-axis and the eye's direction along a plane; beyond it the eye
// moves horizontally along the plane
const MAX_STEEPNESS = 0.95;
// the shortest vector along the plane that counts as having a direction, as a share of the eye's distance
const MIN_SIDEWAYS_SHARE = 1e-3;
const TIE_TOLERANCE = 1e-6; // coordinates whose sizes differ less count as equally large, as in Python

/** The position to which the eye of a camera must move so that a plane is seen edge-on: a point of the plane,
 * as far from the origin as the eye is now, and in about the same direction. Null if the plane is at least as
 * far from the origin as the eye. Null also if the eye is on the plane's normal through the origin: then no
 * direction along the plane is nearest to that of the eye. @param {ArrayLike<number>} values the numbers that
 * define the plane, in the format of `disc` @param {number[]} eye the present position of the eye
 * @returns {number[] | null} */
export function edgeOn(values, eye) {
  const far = Math.hypot(...eye);
  const { normal, away } = plane(values, far);
  let flat = eye.map((x, i) => x - dot(normal, eye) * normal[i]);
  if (Math.abs(flat[2]) > MAX_STEEPNESS * Math.hypot(...flat)) {
    const level = [-normal[1], normal[0], 0];
    flat = level.map((x) => (dot(level, eye) < 0 ? -x : x));
  }
  const length = Math.hypot(...flat);
  const along = Math.sqrt(far ** 2 - away ** 2) / length;
  return length > MIN_SIDEWAYS_SHARE * far && Math.abs(away) < far
    ? flat.map((x, i) => away * normal[i] + along * x)
    : null;
}

/** The cross product of two vectors in space. @param {number[]} a @param {number[]} b */
const cross = (a, b) => [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];

/** The outline of a histogram with bins of equal width, as x and y of the corners of a stepped line; heights
 * are counts. Values outside the span count in the first or last bin. @param {Float32Array} values the
 * numbers to count @param {[number, number]} span the ends of the histogram @param {number} bins the number
 * of bins */
export function histogram(values, [low, high], bins) {
  const counts = new Array(bins).fill(0);
  const out = new Float32Array(4 * bins + 4);
  for (const v of values)
    counts[Math.max(0, Math.min(bins - 1, Math.floor(((v - low) / (high - low)) * bins)))]++;
  for (let e = 0; e <= bins; e++) {
    const edge = low + ((high - low) * e) / bins;
    out.set([edge, counts[e - 1] ?? 0, edge, counts[e] ?? 0], 4 * e);
  }
  return out;
}

/** The threshold that best separates the values of class 0 from those of class 1 (`threshold`), and the share
 * of values that it classifies correctly (`accuracy`). Either class may lie above the threshold. The
 * threshold is midway between neighbouring values; if it is best to put all values into one class, the
 * threshold is the largest value. @param {Float32Array} values
 * @param {ArrayLike<number>} classes 0 or 1 for each value */
export function bestThreshold(values, classes) {
  const order = Array.from(values, (_, i) => i).sort((i, j) => values[i] - values[j]);
  const n = order.length;
  const all = Array.from(classes).filter((c) => c === 1).length;
  let ones = 0;
  let best = { threshold: values[order[0]], accuracy: 0 };
  order.forEach((i, k) => {
    if (classes[i] === 1) ones++;
    const next = values[order[Math.min(k + 1, n - 1)]];
    if (k < n - 1 && !(next > values[i])) return;
    const right = all - ones + (k + 1 - ones);
    const accuracy = Math.max(right, n - right) / n;
    if (accuracy > best.accuracy) best = { threshold: (values[i] + next) / 2, accuracy };
  });
  return best;
}

/** The share of values that a threshold classifies correctly if larger values count as class 1. If the
 * threshold is null, the share that the best threshold reaches, whichever class lies above it.
 * @param {Float32Array} values @param {ArrayLike<number>} classes 0 or 1 for each value @param {number |
 * null} threshold */
export function accuracy(values, classes, threshold) {
  if (threshold === null) return bestThreshold(values, classes).accuracy;
  return (
    values.reduce((right, v, i) => right + Number(v > threshold === (classes[i] === 1)), 0) / values.length
  );
}
