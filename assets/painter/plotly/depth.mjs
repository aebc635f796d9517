// @ts-check
/**
 * Depth effects for the points of 3D figures, added to Plotly's marker shaders. Nearer points are larger, as
 * balls would be; points farther away than the middle of the axes fade into the background; and each circle
 * and square has a halo in the background's colour. The effects take no JavaScript per frame, because the
 * shaders draw them. They look the same whether the painter writes Plotly's buffers or calls Plotly's public
 * functions.
 *
 * components/drawing/depth.py has the values of the parameters (`Depth`), and draws the same effects in SVG.
 *
 * @typedef {Record<"fade" | "over" | "halo" | "rim" | "pale" | "lift" | "least" | "most", number>} Depth the
 *   parameters of the effects, as components/drawing/depth.py explains them
 * @typedef {{paper: number[], shape: number, still: boolean, size: number}} Look how the next object is
 *   drawn. paper: the RGB colour of the background (0 to 1); shape: one of SHAPES, or UNCHANGED; still:
 *   whether the object never fades into the background; size: a factor on the sizes of its points
 */

/** The numbers by which the shaders know the shapes of an object's points. Labels are drawn in front of
 * everything. All other shapes are drawn slightly in front of the surface on which they lie; circles and
 * squares also get a halo around their rim. `count` stands for the texts that count coinciding points, which
 * the shaders treat like rings. */
export const SHAPES = /** @type {const} */ ({ label: 0, circle: 1, square: 2, ring: 3, count: 3 });
export const UNCHANGED = -1; // the shape of points that are drawn without effects

const DECLARED = `
uniform vec4 deepLook; // shape, fade, halo, size
uniform vec3 deepPaper;
`;
const VARYING = `
varying vec2 deepPlace; // 1 on the rim
varying float deepRim, deepAway; // its pixels; how far, where the middle of the axes is 1
`;
const MAIN = "void main() {";

/** A number as a GLSL float literal. @param {number} x */
const float = (x) => (Number.isInteger(x) ? x.toFixed(1) : String(x));

/** The changes to Plotly's vertex shader of markers, as pairs of old and new text of the source. In that
 * shader `scale` is the number of canvas pixels per glyph unit. @param {Depth} depth */
const vertex = ({ lift, least, most, rim }) =>
  /** @type {[string, string][]} */ ([
    [MAIN, `${DECLARED}${VARYING}${MAIN}`],
    [
      "clipPosition /= clipPosition.w;",
      `vec4 deepMiddle = projection * (view * (model * vec4(0.5 * (clipBounds[0] + clipBounds[1]), 1.0)));
    deepAway = clipPosition.w / deepMiddle.w;
    vec2 deepGlyph = glyph;
    deepPlace = vec2(0.0);
    deepRim = 1.0;
    if (deepLook.x > 0.5) {
      scale *= deepLook.w / clamp(deepAway, ${float(least)}, ${float(most)});
      // along the viewing ray: in front of the surface
      vec4 deepLifted = projection * vec4(viewPosition.xyz * ${float(1 - lift)}, viewPosition.w);
      clipPosition.z = deepLifted.z / deepLifted.w * clipPosition.w;
      if (deepLook.x < 2.5) {
        deepRim = max(max(abs(glyph.x), abs(glyph.y)) * scale, 0.01);
        float deepGrown = 1.0 + min(deepLook.z * pixelRatio / deepRim, ${float(rim)});
        deepPlace = deepGrown * sign(glyph);
        deepGlyph = deepGrown * glyph;
      }
    } else if (deepLook.x > -0.5 && clipPosition.w > 0.0) { // behind the camera, w is negative
      clipPosition.z = -clipPosition.w;
    }
    clipPosition /= clipPosition.w;`,
    ],
    ["vec2(glyph.x, -glyph.y)", "vec2(deepGlyph.x, -deepGlyph.y)"],
  ]);

/** The changes to the second vertex shader that Plotly has for markers, as pairs of old and new text. This
 * shader gets no depth effects. But it is linked with the changed fragment shader, so it must declare the
 * `varying` variables that the fragment shader reads, and set them to constants. */
const OTHER = /** @type {[string, string][]} */ ([
  ["attribute vec2 glyph;", `attribute vec2 glyph;${VARYING}`],
  [
    MAIN,
    `${MAIN}
  deepPlace = vec2(0.0);
  deepRim = deepAway = 1.0;`,
  ],
]);

/** The changes to Plotly's fragment shader of markers, as pairs of old and new text of the source.
 * @param {Depth} depth */
const fragment = ({ over, rim, pale }) =>
  /** @type {[string, string][]} */ ([
    [MAIN, `${DECLARED}uniform float pixelRatio;${VARYING}${MAIN}`],
    [
      "gl_FragColor = interpColor * opacity;",
      `vec4 deepShown = interpColor;
  if (deepLook.x > 0.5) {
    deepShown.rgb = mix(deepShown.rgb, deepPaper, deepLook.y * clamp((deepAway - 1.0) / ${float(over)}, 0.0, 1.0));
    if (deepLook.x < 2.5) {
      float deepOut = ((deepLook.x < 1.5 ? length(deepPlace) : max(abs(deepPlace.x), abs(deepPlace.y))) - 1.0) * deepRim;
      // a disc cut from a square
      if (deepLook.x < 1.5 && deepOut > min(deepLook.z * pixelRatio, ${float(rim)} * deepRim)) discard;
      deepShown.rgb = mix(deepShown.rgb, deepPaper, ${float(pale)} * smoothstep(-0.5, 0.5, deepOut));
    }
  }
  gl_FragColor = deepShown * opacity;`,
    ],
  ]);

/** Add depth effects to the source text of one of Plotly's shaders. Returns the new `text`, and the `kind`
 * of the shader. Only Plotly's three marker shaders are changed; they are recognised by the strings that must
 * be replaced. Any other text is returned unchanged, with kind null. @param {string} source
 * @param {Depth} depth @returns {{kind: "vertex" | "other" | "fragment" | null, text: string}} */
export function deep(source, depth) {
  const known = /** @type {const} */ ([
    ["vertex", vertex(depth)],
    ["other", OTHER],
    ["fragment", fragment(depth)],
  ]);
  for (const [kind, changes] of known) {
    if (changes.every(([old]) => source.split(old).length === 2))
      return { kind, text: changes.reduce((text, [old, now]) => text.replace(old, now), source) };
  }
  return { kind: null, text: source };
}

/** Patch a WebGL context so that points are drawn with depth effects. From then on the context's
 * `shaderSource` adds the effects to the sources of Plotly's marker shaders, and its `useProgram` copies the
 * current values of `look` into uniforms; so set `look` before each object is drawn. If only one of the
 * vertex and fragment shaders could be changed, all points are drawn without effects.
 * @param {WebGLRenderingContext} gl the WebGL context @param {Depth} depth @param {Look} look @returns {() =>
 * boolean} a function that tells, once the figure is built, whether both marker shaders were found and
 * changed */
export function deepen(gl, depth, look) {
  const { shaderSource, useProgram, getUniformLocation } = gl;
  const { uniform4f, uniform3fv } = Object.getPrototypeOf(gl);
  const places = /** @type {WeakMap<WebGLProgram, (WebGLUniformLocation | null)[]>} */ (new WeakMap());
  const kinds = /** @type {Set<string | null>} */ (new Set());
  const whole = () => kinds.has("vertex") === kinds.has("fragment");
  gl.shaderSource = (shader, source) => {
    const { kind, text } = deep(source, depth);
    kinds.add(kind);
    shaderSource.call(gl, shader, text);
  };
  gl.useProgram = (program) => {
    useProgram.call(gl, program);
    if (!program) return;
    const locations =
      places.get(program) ??
      ["deepLook", "deepPaper"].map((name) => getUniformLocation.call(gl, program, name));
    places.set(program, locations);
    const [deepLook, deepPaper] = locations;
    if (!deepLook) return; // a program without depth effects
    const shape = whole() ? look.shape : UNCHANGED;
    uniform4f.call(gl, deepLook, shape, look.still ? 0 : depth.fade, depth.halo, look.size);
    uniform3fv.call(gl, deepPaper, look.paper);
  };
  return () => whole() && kinds.has("vertex");
}
