// @ts-check
/**
 * Compile the shaders of a 3D figure lazily: each program when something is first drawn with it.
 *
 * Plotly creates six programs for each set of markers, draws with one of them, and links each up to three
 * times, at first only to ask for the names of its uniforms. After each link the page waits for the graphics
 * process. With this patch a program is neither compiled nor linked before it is used. Until then its
 * uniforms are read from the declarations in its source, and Plotly gets a placeholder for the location of
 * each. A declared uniform that the compiler removes has no location, and setting it does nothing.
 *
 * @typedef {{name: string, type: number, size: number}} Uniform an active uniform, as WebGL describes it
 * @typedef {{program: WebGLProgram, name: string, location?: WebGLUniformLocation | null}} Placeholder stands
 *   for the location of a uniform, which is looked up once the program has been linked
 */

import { guarded } from "./patches.mjs";
import { wrapUniformMethods } from "./uniforms.mjs";

const DECLARATION = /^\s*uniform\s+(?:(?:low|medium|high)p\s+)?(\w+)\s+([^;]+);/gm;
const COMMENT = /\/\/.*|\/\*[\s\S]*?\*\//g;

/** The name of the WebGL constant for a GLSL type: FLOAT_VEC3 for vec3, SAMPLER_2D for sampler2D.
 * @param {string} type */
const constant = (type) =>
  type
    .replace(/^(vec|mat)/, "float_$1")
    .replace(/^sampler/, "sampler_")
    .toUpperCase();

/** Parse the uniforms that a shader's source declares: their names, GLSL types, and array sizes (1 if no
 * array). The array `x[2]` gets the name `x[0]` and the size 2. Throws for other forms, such as `x[N]`.
 * @param {string} source */
export function declared(source) {
  return [...source.replace(COMMENT, "").matchAll(DECLARATION)].flatMap(([, type, names]) =>
    names.split(",").map((each) => {
      const parts = each.trim().match(/^(\w+)(?:\s*\[\s*(\d+)\s*\])?$/);
      if (!parts) throw new Error(`an unknown declaration of a uniform: ${each}`);
      const [, name, size] = parts;
      return { name: size ? `${name}[0]` : name, type, size: Number(size ?? 1) };
    }),
  );
}

/** Patch a WebGL context so that a program is compiled and linked when it is first used. A program whose
 * declarations cannot be read is compiled at once. @param {WebGLRenderingContext} gl */
export function compileLazily(gl) {
  const native = /** @type {WebGLRenderingContext} */ (Object.getPrototypeOf(gl));
  /** @type {WeakSet<WebGLShader>} not yet compiled */ const raw = new WeakSet();
  /** @type {WeakMap<WebGLProgram, Uniform[]>} not yet linked, with their uniforms */ const waiting =
    new WeakMap();
  /** @type {WeakMap<WebGLProgram, number>} */ const attributeCounts = new WeakMap();
  const shadersOf = (/** @type {WebGLProgram} */ program) =>
    native.getAttachedShaders.call(gl, program) ?? [];

  /** Compile and link a program, unless this has been done; return it. Throws if linking fails. @param
   * {WebGLProgram} program */
  function linked(program) {
    if (!waiting.delete(program)) return program;
    for (const shader of shadersOf(program)) if (raw.delete(shader)) native.compileShader.call(gl, shader);
    native.linkProgram.call(gl, program);
    if (!native.getProgramParameter.call(gl, program, gl.LINK_STATUS))
      throw new Error(`a shader was refused: ${native.getProgramInfoLog.call(gl, program)}`);
    return program;
  }

  /** The uniforms that a program's shaders declare, each once. @param {WebGLProgram} program
   * @returns {Uniform[]} */
  function uniformsOf(program) {
    const sources = shadersOf(program).map((shader) => native.getShaderSource.call(gl, shader) ?? "");
    const all = sources.flatMap(declared);
    const each = all.map(({ name, type, size }) => {
      const code = gl[/** @type {"FLOAT"} */ (constant(type))];
      return /** @type {const} */ ([name, { name, type: code, size }]);
    });
    return [...new Map(each).values()];
  }

  /** WebGL's location of a uniform. A placeholder is replaced by the true location, for which its program is
   * compiled and linked if necessary; anything else is returned as it is. @param {WebGLUniformLocation |
   * Placeholder | null} place */
  function located(place) {
    if (!place || !("program" in place)) return place;
    if (place.location === undefined)
      place.location = native.getUniformLocation.call(gl, linked(place.program), place.name);
    return place.location;
  }

  /** @type {Partial<WebGLRenderingContext>} */ const methods = {
    // Plotly asks these of each shader and program that it uses again, never of one that it has deleted. The
    // graphics process would have to answer
    isShader: Boolean,
    isProgram: Boolean,
    compileShader: (shader) => {
      raw.add(shader);
    },
    getShaderParameter: (shader, name) =>
      (raw.has(shader) && name === gl.COMPILE_STATUS) || native.getShaderParameter.call(gl, shader, name),
    linkProgram: (program) => {
      waiting.set(program, []);
      const known = guarded("shaders", () => waiting.set(program, uniformsOf(program)));
      if (!known) linked(program);
    },
    getProgramParameter: (program, name) => {
      const uniforms = waiting.get(program);
      if (uniforms && name === gl.LINK_STATUS) return true;
      if (uniforms && name === gl.ACTIVE_UNIFORMS) return uniforms.length;
      const counts = name === gl.ACTIVE_ATTRIBUTES; // asked at each drawing
      const known = counts ? attributeCounts.get(program) : undefined;
      if (known !== undefined) return known;
      const value = native.getProgramParameter.call(gl, linked(program), name);
      if (counts) attributeCounts.set(program, value);
      return value;
    },
    getActiveUniform: (program, i) =>
      waiting.get(program)?.[i] ?? native.getActiveUniform.call(gl, program, i),
    getUniformLocation: (program, name) =>
      waiting.has(program)
        ? /** @type {Placeholder} */ ({ program, name })
        : native.getUniformLocation.call(gl, program, name),
    useProgram: (program) => native.useProgram.call(gl, program && linked(program)),
  };
  Object.assign(gl, methods);
  wrapUniformMethods(gl, (set, place, ...values) => set(located(place), ...values));
}
