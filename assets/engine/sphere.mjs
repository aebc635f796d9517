// @ts-check
/** The map of points to a sphere, with the conventions by which norms add ε. Mirrors geometry/sphere.py. */

/**
 * Two functions of s, the sum of the squares of n coordinates. `factor` is the number R/r by which the
 * coordinates are multiplied to come to the sphere of radius R. Here r = √(s + inside) + outside, and the
 * convention says where ε comes in. For the zero vector and ε = 0 the factor is R. `slope` is the derivative
 * of the factor with respect to s, given s and the factor. Where √(s + inside) is 0 it is 0, because then the
 * derivative of the map is the factor; but if ε is 0, too, the map has no derivative there, and it is NaN.
 *
 * @param {number} n @param {number} radius @param {number} eps @param {string} convention
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
