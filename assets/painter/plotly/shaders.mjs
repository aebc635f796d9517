// @ts-check
/**
 * Compile shaders lazily, when something is first drawn with them.
 *
 * Plotly creates six programs for each cloud of markers, draws with one of them, and links each up to three
 * times: once just to query the names of its uniforms. After each, the page waits for an answer of the
 * graphics process. With this patch nothing is compiled, linked or queried before a program is used; until
 * then its uniforms are those that its source declares. A declared uniform that the compiler removes has no
 * location, and setting it does nothing. A program whose source cannot be parsed is linked at once.
 *
 * @typedef {{name: string, type: number, size: number}} Declared a uniform, as WebGL tells it
 * @typedef {{program: WebGLProgram, name: string, found?: WebGLUniformLocation | null}} Place of a uniform of
 * a program not yet linked
 */

import { guarded } from "./patches.mjs";
import { uniforms as uniformsOf } from "./uniforms.mjs";

const DECLARATION = /^\s*(uniform|attribute)\s+(?:(?:low|medium|high)p\s+)?(\w+)\s+([^;]+);/gm;

/** The WebGL constant of a GLSL type: vec3 is FLOAT_VEC3, sampler2D SAMPLER_2D. @param {string} type */
const constant = (type) =>
  type
    .replace(/^(vec|mat)/, "float_$1")
    .replace(/^sampler/, "sampler_")
    .toUpperCase();

/** The uniforms or attributes that a shader's source declares. @param {string} source
 * @param {"uniform" | "attribute"} kind @returns {{name: string, type: string, size: number}[]} */
export function declared(source, kind) {
  return [...source.replace(/\/\/.*|\/\*[\s\S]*?\*\//g, "").matchAll(DECLARATION)]
    .filter((found) => found[1] === kind)
    .flatMap(([, , type, names]) =>
      names.split(",").map((each) => {
        const [, name, size] = /** @type {RegExpMatchArray} */ (
          each.trim().match(/^(\w+)(?:\s*\[\s*(\d+)\s*\])?$/)
        );
        return { name: size ? `${name}[0]` : name, type, size: Number(size ?? 1) };
      }),
    );
}

/** Make a context compile and link a program only when it is first used. @param {WebGLRenderingContext} gl
 * @returns {(shader: import("./uniforms.mjs").Shader | undefined) => void} makes one of Plotly's shaders set
 * its uniforms where they change */
export function lazily(gl) {
  const native = /** @type {WebGLRenderingContext} */ (Object.getPrototypeOf(gl));
  const sources = /** @type {WeakMap<WebGLShader, string>} */ (new WeakMap());
  const raw = /** @type {WeakSet<WebGLShader>} */ (new WeakSet());
  const shaders = /** @type {WeakMap<WebGLProgram, WebGLShader[]>} */ (new WeakMap());
  const waiting = /** @type {WeakMap<WebGLProgram, Declared[]>} with their uniforms */ (new WeakMap());
  const alive = /** @type {WeakSet<object>} */ (new WeakSet());
  const attributes = /** @type {WeakMap<WebGLProgram, number>} */ (new WeakMap());
  const { mend, forget } = uniformsOf(gl);
  const setters = Object.keys(native).filter((name) => /^uniform(\d|Matrix)/.test(name));
  /** @type {WebGLProgram | null} */ let used = null;
  const made = /** @template {WebGLShader | WebGLProgram | null} T @param {T} object */ (object) => {
    if (object) alive.add(object);
    return object;
  };

  /** The program, linked. @param {WebGLProgram} program */
  function linked(program) {
    if (!waiting.delete(program)) return program;
    for (const shader of shaders.get(program) ?? [])
      if (raw.delete(shader)) native.compileShader.call(gl, shader);
    native.linkProgram.call(gl, program);
    if (!native.getProgramParameter.call(gl, program, gl.LINK_STATUS))
      throw new Error(`A shader was refused: ${native.getProgramInfoLog.call(gl, program)}`);
    return program;
  }
  /** @param {WebGLProgram} program @returns {Declared[]} */
  const uniforms = (program) => {
    const all = (shaders.get(program) ?? []).flatMap((shader) =>
      declared(sources.get(shader) ?? "", "uniform"),
    );
    return [
      ...new Map(
        all.map(({ name, type, size }) => [
          name,
          { name, size, type: Number(gl[/** @type {"FLOAT"} */ (constant(type))]) },
        ]),
      ).values(),
    ];
  };
  /** @param {WebGLUniformLocation | Place | null} place */
  const found = (place) => {
    if (!place || !("program" in place)) return place;
    if (place.found === undefined)
      place.found = native.getUniformLocation.call(gl, linked(place.program), place.name);
    return place.found;
  };

  Object.assign(
    gl,
    /** @type {Partial<WebGLRenderingContext>} */ ({
      createShader: (type) => made(native.createShader.call(gl, type)),
      createProgram: () => made(native.createProgram.call(gl)),
      isShader: (shader) => Boolean(shader && alive.has(shader)),
      isProgram: (program) => Boolean(program && alive.has(program)),
      shaderSource: (shader, text) => {
        sources.set(shader, text);
        native.shaderSource.call(gl, shader, text);
      },
      compileShader: (shader) => {
        raw.add(shader);
      },
      getShaderParameter: (shader, name) =>
        (raw.has(shader) && name === gl.COMPILE_STATUS) || native.getShaderParameter.call(gl, shader, name),
      attachShader: (program, shader) => {
        shaders.set(program, [...(shaders.get(program) ?? []), shader]);
        native.attachShader.call(gl, program, shader);
      },
      linkProgram: (program) => {
        const told = guarded("shaders", () => uniforms(program));
        waiting.set(program, told ?? []);
        if (!told) linked(program);
      },
      getProgramParameter: (program, name) => {
        const told = waiting.get(program);
        if (told && name === gl.LINK_STATUS) return true;
        if (told && name === gl.ACTIVE_UNIFORMS) return told.length;
        const counts = name === gl.ACTIVE_ATTRIBUTES;
        const known = counts ? attributes.get(program) : undefined; // asked at each drawing
        if (known !== undefined) return known;
        const found = native.getProgramParameter.call(gl, linked(program), name);
        if (counts) attributes.set(program, found);
        return found;
      },
      getActiveUniform: (program, i) =>
        waiting.get(program)?.[i] ?? native.getActiveUniform.call(gl, program, i),
      getUniformLocation: (program, name) =>
        waiting.has(program)
          ? /** @type {Place} */ ({ program, name })
          : native.getUniformLocation.call(gl, program, name),
      useProgram: (program) => {
        native.useProgram.call(gl, (used = program && linked(program)));
      },
      deleteShader: (shader) => {
        if (shader) alive.delete(shader);
        native.deleteShader.call(gl, shader);
      },
      deleteProgram: (program) => {
        if (program) {
          alive.delete(program);
          waiting.delete(program);
        }
        native.deleteProgram.call(gl, program);
      },
      ...Object.fromEntries(
        setters.map((name) => {
          const set = /** @type {(place: WebGLUniformLocation | null, ...values: unknown[]) => void} */ (
            native[/** @type {"uniform1f"} */ (name)]
          );
          return [
            name,
            (
              /** @type {WebGLUniformLocation | Place | null} */ place,
              /** @type {unknown[]} */ ...values
            ) => {
              forget(used);
              set.call(gl, found(place), ...values);
            },
          ];
        }),
      ),
    }),
  );
  return mend;
}
