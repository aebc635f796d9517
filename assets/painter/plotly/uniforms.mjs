// @ts-check
/**
 * Uniforms that are set where they change.
 *
 * At each drawing Plotly takes all uniforms of an object apart, into names that it puts together anew, and
 * sets each; that took a fifth of a frame. Their names and types are known beforehand, and between two
 * objects, and two frames, most are the same.
 *
 * @typedef {string | {[key: string]: Types}} Types of uniforms, by name, as Plotly has them
 * @typedef {{program: WebGLProgram, types: {uniforms: Types}, uniforms: unknown}} Shader Plotly's
 * @typedef {number | ArrayLike<number>} Value
 * @typedef {(given: any) => void} Setter
 */

import { guarded } from "./patches.mjs";

/** The names under which a tree of uniforms is known to WebGL, with their types: a in b is `b.a`, 1 in b is
 * `b[1]`. @param {Types} types @param {string} [name] @returns {[string, string][]} */
export function names(types, name = "") {
  if (typeof types === "string") return [[name, types]];
  return Object.keys(types).flatMap((key) => names(types[key], below(name, key)));
}

/** @param {string} name @param {string} key */
const below = (name, key) => (!name ? key : /^\d+$/.test(key) ? `${name}[${key}]` : `${name}.${key}`);

/** How a context sets a value of a type. @param {WebGLRenderingContext} gl @param {string} type
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

/** Whether a value is that which was kept, which it becomes. @param {number[]} kept @param {Value} value */
export function known(kept, value) {
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

/** The uniforms of a context's shaders. @param {WebGLRenderingContext} gl */
export function uniforms(gl) {
  /** @type {WeakMap<WebGLProgram, {setters: Record<string, Setter>, kept: number[][]}>} */ const programs =
    new WeakMap();
  const mended = /** @type {WeakSet<Shader>} */ (new WeakSet());

  /** @param {WebGLProgram} program */
  function of(program) {
    const found = programs.get(program) ?? { setters: {}, kept: [] };
    programs.set(program, found);
    return found;
  }

  /** @param {WebGLProgram} program @param {string} name @param {string} type @returns {Setter} the same for
   * all shaders of a program */
  function setter(program, name, type) {
    const { setters, kept } = of(program);
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

  /** A tree of uniforms, each of which can be set, and one that sets all. @param {WebGLProgram} program
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

  return {
    /** A shader sets its uniforms where they change. @param {Shader | undefined} shader */
    mend(shader) {
      if (!shader?.program || mended.has(shader)) return;
      mended.add(shader);
      guarded("uniforms", () => {
        const { set, tree: all } = tree(shader.program, shader.types.uniforms, "");
        Object.defineProperty(shader, "uniforms", {
          set,
          get: () => all,
          configurable: true,
          enumerable: true,
        });
      });
    },
    /** Somebody else has set a uniform of a program. @param {WebGLProgram | null} program */
    forget(program) {
      for (const kept of (program && programs.get(program)?.kept) || []) kept.length = 0;
    },
  };
}
