// @ts-check
/** What Plotly knows of a figure that it has drawn, and no public function tells. @typedef {import("../../globals.mjs").Plotly} Plotly */

/** Width and height of the figure in pixels, as Plotly has drawn it last. @param {Plotly} gd @returns {{width?: number, height?: number}} */
export const size = ({ _fullLayout }) => ({ width: _fullLayout?.width, height: _fullLayout?.height });

/** Left, top, width and height of a plane's axes, in pixels of the element. @param {Plotly} gd @returns {number[]} */
export const axesBox = ({ _fullLayout: { xaxis, yaxis } }) => [xaxis._offset, yaxis._offset, xaxis._length, yaxis._length];

/** The scene of a 3D figure. @param {Plotly} gd @returns {Plotly} */
export const sceneOf = ({ _fullLayout }) => _fullLayout?.scene?._scene;

/** The camera of the layout, which a hand has not turned. @param {Plotly} gd @returns {Plotly} */
export const layoutCamera = ({ _fullLayout }) => _fullLayout.scene.camera;
