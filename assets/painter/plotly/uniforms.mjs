// @ts-check
/**
 * Skip WebGL uniform calls whose values have not changed.
 *
 * At each draw call Plotly visits all uniforms of an object, builds their names anew, and sets every one;
 * this took a fifth of a frame's time. The names and types of a shader's uniforms never change, and most of
 * their values are the same for consecutive objects and frames. So names, types and values are cached here.
 *
 * @typedef {string | {[key: string]: Types}} Types the GLSL type of a uniform, or of each of its parts by
 *   name, as Plotly stores them
 * @typedef {{program: WebGLProgram, types: {uniforms: Types}, uniforms: unknown}} Shader a shader object of
 *   Plotly (gl-shader)
 * @typedef {number | ArrayLike<number>} Value of a uniform
 * @typedef {(given: any) => void} Setter a function that sets a uniform, or several, to given values
 */

import { guarded } from "./patches.mjs";

/** The WebGL name of a part of a uniform that is a struct or an array. Part `b` of the uniform `a` is `a.b`;
 * part `1` is `a[1]`. @param {string} name the uniform's name; "" for the root @param {string} key the part's
 * key */
const below = (name, key) => (!name ? key : /^\d+$/.test(key) ? `${name}[${key}]` : `${name}.${key}`);

/** The function that sets uniforms of a GLSL type, such as "vec3", by WebGL's `uniform…` method for this
 * type. @param {WebGLRenderingContext} gl @param {string} type @returns {(place: WebGLUniformLocation, value:
 * any) => void} */
function uniformMethod(gl, type) {
  const own = Object.getPrototypeOf(gl);
  const size = type.at(-1);
  if (type.startsWith("mat"))
    return (place, value) => own[`uniformMatrix${size}fv`].call(gl, place, false, value);
  if (!/vec\d$/.test(type))
    return (place, value) => own[type === "float" ? "uniform1f" : "uniform1i"].call(gl, place, value);
  return (place, value) => own[`uniform${size}${type[0] === "v" ? "f" : "i"}v`].call(gl, place, value);
}

/** Store a value in the cache `kept`, and return whether `kept` held an equal value before. @param {number[]}
 * kept the cached value, overwritten @param {Value} value */
function unchanged(kept, value) {
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

/** Wrap the functions of a WebGL context that set uniforms, so that cached values are forgotten when other
 * code sets a uniform. Returns a function that patches a shader of Plotly: from then on, setting the shader's
 * `uniforms` calls WebGL only for values that have changed.
 * @param {WebGLRenderingContext} gl @returns {(shader: Shader | undefined) => void} */
export function cacheUniforms(gl) {
  /**
   * @type {WeakMap<WebGLProgram, {setters: Record<string, Setter>, kept: number[][]}>} for each program the
   *   setters of its uniforms, and their cached values
   */
  const programs = new WeakMap();
  const mended = /** @type {WeakSet<Shader>} */ (new WeakSet());

  /** The caching setter of one uniform; all shader objects with the same program share it.
   * @param {WebGLProgram} program @param {string} name the uniform's WebGL name @param {string} type its GLSL
   * type @returns {Setter} */
  function setter(program, name, type) {
    const { setters, kept } = programs.get(program) ?? { setters: {}, kept: [] };
    programs.set(program, { setters, kept });
    const own = /** @type {number[]} */ ([]);
    const set = uniformMethod(gl, type);
    /** @type {WebGLUniformLocation | null | undefined} */ let place;
    if (!setters[name]) kept.push(own);
    return (setters[name] ??= (value) => {
      if (unchanged(own, value)) return;
      if (place === undefined) place = gl.getUniformLocation(program, name); // once the program is linked
      if (place) set(place, value);
    });
  }

  /** Create setters for all parts of the uniform `name`, and return them in two forms. `set` sets all parts
   * at once; a part that is missing in the given value stays as it is. `tree` is an object like Plotly's
   * `shader.uniforms`: assigning a value to one of its properties sets the uniform of that name. @param
   * {WebGLProgram} program @param {Types} types the GLSL types of the parts @param {string} name the parent's
   * name; "" for the root @returns {{set: Setter, tree: object}} */
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

  /** @type {WebGLProgram | null} the program in use */ let used = null;
  const { useProgram } = gl;
  gl.useProgram = (program) => useProgram.call(gl, (used = program));
  // not called by the setters, which use WebGL's own methods
  wrapUniformMethods(gl, (set, ...given) => {
    for (const kept of (used && programs.get(used)?.kept) || []) kept.length = 0;
    set(...given);
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

/** Replace each `uniform…` method of a WebGL context, such as `uniform1f`, by the function `wrapped`. The
 * arguments of `wrapped` are the replaced method, then those of the call. @param {WebGLRenderingContext} gl
 * @param {(set: (place: any, ...values: unknown[]) => void, place: any, ...values: unknown[]) => void}
 * wrapped */
export function wrapUniformMethods(gl, wrapped) {
  const names = Object.keys(Object.getPrototypeOf(gl)).filter((name) => /^uniform(\d|Matrix)/.test(name));
  for (const name of names) {
    const set = /** @type {Function} */ (gl[/** @type {"uniform1f"} */ (name)]).bind(gl);
    Object.assign(gl, { [name]: wrapped.bind(null, set) });
  }
}
