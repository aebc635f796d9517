// @ts-check
/**
 * Depth effects in 3D, added to Plotly's shaders, so that they cost no script and are the same on the fast
 * and the public path. Nearer points are larger, as balls are; points beyond the middle of the scene fade
 * into the background; and each has a halo in the background's colour.
 *
 * components/drawing/depth.py has the parameters, and draws the same in SVG.
 *
 * @typedef {Record<"fade" | "over" | "halo" | "rim" | "pale" | "lift" | "least" | "most",
 *   number>} Depth
 * @typedef {{paper: number[], shape: number, still: boolean}} Look of the paper, and of the object that is
 * drawn next
 */

/** How the points of an object are drawn: labels unchanged; others in front of the surface they lie on, some
 * with a rim, at which the halo begins. */
export const SHAPES = /** @type {const} */ ({ label: 0, circle: 1, square: 2, ring: 3, count: 3 });

const DECLARED = `
uniform vec3 deepLook; // shape, fade, halo
uniform vec3 deepPaper;
`;
const VARYING = `
varying vec2 deepPlace; // 1 on the rim
varying float deepRim, deepAway; // its pixels; how far, where the middle of the axes is 1
`;
const MAIN = "void main() {";

/** A number as a GLSL float literal. @param {number} x as GLSL writes it */
const float = (x) => (Number.isInteger(x) ? x.toFixed(1) : String(x));

/** The vertex shader of markers. `scale` is buffer pixels per glyph unit. @param {Depth} depth */
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
      scale /= clamp(deepAway, ${float(least)}, ${float(most)});
      // along the viewing ray: in front of the surface
      vec4 deepLifted = projection * vec4(viewPosition.xyz * ${float(1 - lift)}, viewPosition.w);
      clipPosition.z = deepLifted.z / deepLifted.w * clipPosition.w;
      if (deepLook.x < 2.5) {
        deepRim = max(max(abs(glyph.x), abs(glyph.y)) * scale, 0.01);
        float deepGrown = 1.0 + min(deepLook.z * pixelRatio / deepRim, ${float(rim)});
        deepPlace = deepGrown * sign(glyph);
        deepGlyph = deepGrown * glyph;
      }
    }
    clipPosition /= clipPosition.w;`,
    ],
    ["vec2(glyph.x, -glyph.y)", "vec2(deepGlyph.x, -deepGlyph.y)"],
  ]);

/** Plotly's other vertex shader of markers, which is linked with the same fragment shader. */
const OTHER = /** @type {[string, string][]} */ ([
  ["attribute vec2 glyph;", `attribute vec2 glyph;${VARYING}`],
  [
    MAIN,
    `${MAIN}
  deepPlace = vec2(0.0);
  deepRim = deepAway = 1.0;`,
  ],
]);

/** The fragment shader of markers. @param {Depth} depth */
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

/** A shader of Plotly's with depth effects, and its kind; unknown shaders are returned unchanged.
 * @param {string} source @param {Depth} depth
 * @returns {{kind: "vertex" | "other" | "fragment" | null, text: string}} */
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

/** Patch a context so that it draws with depth effects, with the settings in `look` at each draw call.
 * Markers need both of their shaders patched. @param {WebGLRenderingContext} gl @param {Depth} depth
 * @param {Look} look @returns {() => boolean} tells whether the shaders of markers were created and all were
 * as expected */
export function deepen(gl, depth, look) {
  const { shaderSource, useProgram, getUniformLocation } = gl;
  const { uniform3f, uniform3fv } = Object.getPrototypeOf(gl);
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
    if (locations[0])
      uniform3f.call(
        gl,
        locations[0],
        whole() ? look.shape : SHAPES.label,
        look.still ? 0 : depth.fade,
        depth.halo,
      );
    if (locations[1]) uniform3fv.call(gl, locations[1], look.paper);
  };
  return () => whole() && kinds.has("vertex");
}
