// @ts-check
/** The factor by which a norm moves a point to a sphere, with the conventions by which norms add ε. Mirrors
 * geometry/sphere.py. */

/**
 * Two functions of s, the sum of the squares of n coordinates. `factor(s)` is the number R/r by which the
 * coordinates are multiplied to come to the sphere of radius R. Here r = √(s + inside) + outside; in the
 * convention "pytorch" inside = nε, in "bare" inside = ε, in "std" outside = ε√n, and the other number is 0.
 * If r is 0, the factor is R. `slope(s, factor)` is the derivative of the factor with respect to s. If
 * √(s + inside) is 0, the slope is 0 for ε > 0; for ε = 0 it is NaN, because the map has no derivative at the
 * zero vector.
 *
 * @param {number} n @param {number} radius R @param {number} eps ε @param {string} convention
 */
export function sphereFactor(n, radius, eps, convention) {
  const inside = convention === "std" ? 0 : (convention === "pytorch" ? n : 1) * eps;
  const outside = convention === "std" ? eps * Math.sqrt(n) : 0;
  return {
    factor: (/** @type {number} */ s) => radius / (Math.sqrt(s + inside) + outside || 1),
    slope: (/** @type {number} */ s, /** @type {number} */ factor) => {
      const root = Math.sqrt(s + inside);
      if (!root) return outside ? 0 : NaN;
      return -factor / (2 * root * (root + outside));
    },
  };
}
