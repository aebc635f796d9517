// @ts-check
/** The map of points to a sphere, with its conventions for ε. It mirrors geometry/sphere.py. */

/**
 * The factor that takes n coordinates to the sphere of radius R, as a function of the sum s of their squares,
 * and its slope: R/r, with r = √(s + inside) + outside. For the zero vector without ε it is R.
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
      return root && -factor / (2 * root * (root + outside));
    },
  };
}
