// @ts-check
/**
 * Set WebGL uniforms only when they change.
 *
 * At each draw call Plotly traverses all uniforms of an object, building their names anew, and sets each;
 * that took a fifth of a frame. Names and types are known beforehand, and most values are the same for
 * consecutive objects and frames.
 *
 * @typedef {string | {[key: string]: Types}} Types of uniforms, by name, as Plotly has them
 * @typedef {{program: WebGLProgram, types: {uniforms: Types}, uniforms: unknown}} Shader Plotly's
 * @typedef {number | ArrayLike<number>} Value
 * @typedef {(given: any) => void} Setter
 */

import { guarded } from "./patches.mjs";

/** The WebGL name of a part of a uniform: b in a is `a.b`, 1 in a is `a[1]`. @param {string} name
 * @param {string} key */
const below = (name, key) => (!name ? key : /^\d+$/.test(key) ? `${name}[${key}]` : `${name}.${key}`);

/** The setter for uniforms of a type. @param {WebGLRenderingContext} gl @param {string} type
 * @returns {(place: WebGLUniformLocation, value: any) => void} */
function way(gl, type) {
  const own = Object.getPrototypeOf(gl);
  const size = type.at(-1);
  if (type.startsWith("mat"))
    return (place, value) => own[`uniformMatrix${size}fv`].call(gl, place, false, value);
  if (!/vec\d$/.test(type))
    return (place, value) => own[type === "float" ? "uniform1f" : "uniform1i"].call(gl, place, value);
  return (place, value) => own[`uniform${size}${type[0] === "v" ? "f" : "i"}v`].call(gl, place, value);
}

/** Compare a value with the cached one, and cache it. @param {number[]} kept @param {Value} value */
function known(kept, value) {
  if (typeof value !== "object") {
    if (kept[0] === value) return true;
    kept[0] = Number(value);
    return false;
  }
  let same = kept.length === value.length;
  for (let i = 0; i < value.length; i++) {
    same &&= kept[i] === value[i];
    kept[i] = value[i];
  }
  kept.length = value.length;
  return same;
}

/** Cache the uniforms of a context's shaders, also when others set them. @param {WebGLRenderingContext} gl
 * @returns {(shader: Shader | undefined) => void} replaces a shader's uniform setters by cached ones */
export function cacheUniforms(gl) {
  const native = Object.getPrototypeOf(gl);
  /** @type {WebGLProgram | null} */ let used = null;
  /** @type {WeakMap<WebGLProgram, {setters: Record<string, Setter>, kept: number[][]}>} */ const programs =
    new WeakMap();
  const mended = /** @type {WeakSet<Shader>} */ (new WeakSet());

  /** @param {WebGLProgram} program @param {string} name @param {string} type @returns {Setter} the setter,
   * the same for all shaders of a program */
  function setter(program, name, type) {
    const { setters, kept } = programs.get(program) ?? { setters: {}, kept: [] };
    programs.set(program, { setters, kept });
    const own = /** @type {number[]} */ ([]);
    const set = way(gl, type);
    /** @type {WebGLUniformLocation | null | undefined} */ let place;
    if (!setters[name]) kept.push(own);
    return (setters[name] ??= (value) => {
      if (known(own, value)) return;
      if (place === undefined) place = gl.getUniformLocation(program, name); // once the program is linked
      if (place) set(place, value);
    });
  }

  /** A tree of uniforms with a setter for each, and one that sets all. @param {WebGLProgram} program
   * @param {Types} types @param {string} name @returns {{set: Setter, tree: object}} */
  function tree(program, types, name) {
    if (typeof types === "string") return { set: setter(program, name, types), tree: {} };
    const parts = Object.keys(types).map((key) => ({ key, ...tree(program, types[key], below(name, key)) }));
    return {
      set: (values) => {
        for (const { key, set } of parts) if (values[key] !== undefined) set(values[key]);
      },
      tree: Object.defineProperties(
        {},
        Object.fromEntries(parts.map(({ key, set, tree }) => [key, { set, get: () => tree }])),
      ),
    };
  }

  gl.useProgram = (program) => native.useProgram.call(gl, (used = program));
  for (const name of Object.keys(native).filter((name) => /^uniform(\d|Matrix)/.test(name)))
    Object.assign(gl, {
      [name]: (/** @type {unknown[]} */ ...given) => {
        // set elsewhere, so the values that are cached for this program are no longer right
        for (const kept of (used && programs.get(used)?.kept) || []) kept.length = 0;
        native[name].apply(gl, given);
      },
    });

  return (shader) => {
    if (!shader?.program || mended.has(shader)) return;
    mended.add(shader);
    guarded("uniforms", () => {
      const { set, tree: all } = tree(shader.program, shader.types.uniforms, "");
      const own = { set, get: () => all, configurable: true, enumerable: true };
      Object.defineProperty(shader, "uniforms", own);
    });
  };
}
