// The types of a recipe as it travels. Written by tools/browser_types.py from the dataclasses of
// components/language: edit those.

import type { Cloud, Entries, Packed } from "./engine.mjs";

/** The head of an arrow, as geometry/arrows.py says; 0: none. */
export type Arrow = { length: number; width: number; least: number; steep: number };

/** A display coordinate: ⟨weights, point⟩ + offset, of the current points or of a fixed stage. */
export interface Row {
  weights: number[] | Entries;
  stage: number | null;
  offset: number;
  over: Row | null;
}

/** The largest attention weight that any query can give each point, as a key among the cloud's points. */
export interface LargestWeight {
  kind: "largestweight";
  stage: number | null;
}

/** The softmax over the cloud's points of the scores that a row gives. */
export interface SoftmaxWeight {
  kind: "softmaxweight";
  row: Row;
}

/** The current angle of each point to the line along 1, from 0 to 90 degrees; 90 at the origin. */
export interface Angle {
  kind: "angle";
}

/** A number for each point, fixed or live, painted through a named scale of the theme. */
export interface Color {
  scale: string;
  low: number;
  high: number;
  of: Packed | Row | LargestWeight | SoftmaxWeight | Angle;
  title: string;
}

/** A number that a slider moves. `scale="log"`: the slider is linear in log10 of the value. */
export interface Parameter {
  name: string;
  label: string;
  value: number;
  min: number;
  max: number;
  step: number;
  scale: string;
  group: string;
  about: string;
  symbol: string;
  quiet: boolean;
  folded: boolean;
  vector: boolean;
}

/** How a parameter zooms the axes of a view: at each of its increasing `stops`, linear between them. */
export interface Wider {
  parameter: string;
  log: boolean;
  stops: number[];
  zooms: number[][][];
}

/** Numbers of the followed point at every stage. */
export interface Table {
  cloud: string;
  ideal: string;
  first: string;
  columns: string[];
}

/** A table of words and numbers that do not change. abouts: an explanation of each row, opened by */
export interface Facts {
  title: string;
  columns: string[];
  rows: string[][];
  abouts: string[];
}

/** A panel of marks with axes. */
export interface View {
  name: string;
  title: string;
  layers: Mark[];
  ranges: [number, number][];
  dims: number;
  axes: string[];
  equal: boolean;
  strip: boolean;
  rows: number;
  camera: number[];
  edge: string;
  zooms: number[][];
  reaching: boolean;
  between: Record<string, number[]>;
  wider: Wider[];
}

/** One scene for one set of choices, as plain data. */
export interface Recipe {
  stages: string[];
  parameters: Parameter[];
  clouds: Cloud[];
  views: View[];
  formula: string;
  table: Table | null;
  readouts: Readout[];
  facts: Facts | null;
  progress: number;
  follow: number;
  clock: string;
}

/** A click follows the point. */
export interface Follow {
  kind: "follow";
}

/** A click sets a choice to the whole number that each point of the cloud has. */
export interface Choose {
  kind: "choose";
  choice: string;
  numbers: Packed;
}

/** A click follows the point, and opens a scene for it. */
export interface Open {
  kind: "open";
  links: string[];
}

/** Dragging the first point, in a 2D view, sets two parameters to its x and y. */
export interface Drag {
  kind: "drag";
  x: string;
  y: string;
}

/** Dragging the first point, in a 2D view, sets a parameter to its angle around the origin, in degrees. */
export interface Turn {
  kind: "turn";
  angle: string;
}

/** Dragging any point, in a 2D view, sets its own two parameters to its x and y. */
export interface Carry {
  kind: "carry";
  names: string[][];
}

/** A click sets the clock to the beginning of the point's span, and plays it to its end. */
export interface Replay {
  kind: "replay";
  spans: Packed;
  follow: Packed;
  progress: Packed;
}

/** The point with the largest current value of a row; the first of several. */
export interface Highest {
  kind: "highest";
  row: Row;
}

/** The vertices of the convex hull of the current points. */
export interface OnHull {
  kind: "onhull";
}

/** The points that are not vertices of the convex hull. */
export interface Inside {
  kind: "inside";
}

/** The points that, as keys, get a higher score than every other from some query. */
export interface Selectable {
  kind: "selectable";
}

/** The points that no query selects: convex combinations of the others, and copies, in any dimension. */
export interface Unselectable {
  kind: "unselectable";
}

/** The points of one fate after max(x, 0): "apart" (no other point of their sphere has their image), */
export interface Gated {
  kind: "gated";
  fate: string;
  before: number;
  basis: Packed;
  of: string;
}

export type Measure = Row | LargestWeight | SoftmaxWeight | Angle;

export type Hand = Follow | Choose | Open | Drag | Turn | Carry | Replay;

export type Only = number[] | "followed" | Highest | null | OnHull | Inside | Selectable | Unselectable | Gated;

/** Any mark. All have the fields of `Mark`; `mark` says which others it has. */
export interface Mark {
  mark: "Points" | "Line" | "Trail" | "Way" | "SemiAxes" | "Rim" | "Hull" | "Mesh" | "Sheet" | "HullFaces" | "Disc" | "Labels" | "Histogram" | "Profile" | "Threshold" | "Field" | "Cells" | "Average" | "BestQuery" | "Support" | "SupportDisc" | "WeightCurve" | "WeightLimit" | "WeightNow";
  draws: "points" | "line" | "mesh" | "labels" | "field" | "cells";
  cloud: string;
  role: string;
  rows: Row[];
  title: string;
  opacity: number;
  fade: number[] | null;
  hint: string;
  only: number[] | "followed" | Highest | null | OnHull | Inside | Selectable | Unselectable | Gated;
  size: number;
  glyph: string;
  color: Color | null;
  hand: Hand | null;
  dash: string;
  order: Packed | null;
  arrow: Arrow | 0;
  parameter: string;
  stops: Packed;
  whole: boolean;
  radius: number;
  corners: number;
  triangles: Packed;
  grid: [number, number];
  count: number;
  span: [number, number];
  bins: number;
  classes: Packed;
  columns: number;
  reach: number;
  query: Row | null;
  pattern: number[];
}

/** Any readout. `kind` says which of these fields it has. */
export interface Readout {
  kind: "residual" | "number" | "mean" | "largest" | "count" | "lengths" | "accuracy" | "letters" | "fate" | "zeros" | "patterns" | "ranks" | "pieces";
  label: string;
  a: string;
  b: string;
  coordinates: number | null;
  cloud: string;
  row: Row | LargestWeight | SoftmaxWeight | Angle;
  index: number | "followed";
  unit: string;
  digits: number | null;
  only: OnHull | Inside | Selectable | Unselectable | Gated | Highest;
  stage: number | null;
  classes: Packed;
  threshold: number | null;
  keys: string;
  before: number;
  basis: Packed;
  radius: number;
}
