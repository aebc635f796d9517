// The types of a recipe as it travels. Written by tools/browser_types.py from the dataclasses of
// components/language: edit those.

import type { Cloud, Entries, Packed } from "./engine.mjs";

/** The head of an arrow, as geometry/arrows.py says; 0: none. */
export type Arrow = { length: number; width: number; least: number; steep: number };

/** A display coordinate of a point: the affine function ⟨weights, point⟩ + offset, or a quotient of two. */
export interface Row {
  weights: number[] | Entries;
  stage: number | null;
  offset: number;
  over: Row | null;
}

/** For each point of a cloud, the largest attention weight that a query can give it. */
export interface LargestWeight {
  kind: "largestweight";
  stage: number | null;
}

/** The attention weight of each point: the softmax, over all points, of the scores that `row` gives. */
export interface SoftmaxWeight {
  kind: "softmaxweight";
  row: Row;
}

/** The angle between each current point and the line along (1, …, 1), in degrees from 0 to 90. */
export interface Angle {
  kind: "angle";
}

/** The colours of a mark's points: each point has a number, and a scale of the theme gives it a colour. */
export interface Color {
  scale: string;
  low: number;
  high: number;
  of: Packed | Row | LargestWeight | SoftmaxWeight | Angle;
  title: string;
}

/** A number that readers can change, usually with a slider. */
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

/** Zooms of a view's axes that follow a slider, or several together, so that points stay in view. */
export interface Wider {
  parameters: string[];
  log: boolean;
  stops: number[];
  zooms: number[][][];
}

/** A table beside the figure: numbers of the followed (selected) point of a cloud, a row for each stage. */
export interface Table {
  cloud: string;
  ideal: string;
  first: string;
  columns: string[];
}

/** A table of fixed words and numbers. abouts: an explanation for each row, which opens on a click. */
export interface Facts {
  title: string;
  columns: string[];
  rows: string[][];
  abouts: string[];
}

/** A few lines of text beside a figure, and a table that compares all values of one choice. */
export interface Overview {
  lines: string[];
  title: string;
  columns: string[];
  rows: string[][];
  abouts: string[];
  csv: string;
  file: string;
  choice: string;
}

/** A panel with axes, and the marks drawn in it. */
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
  beside: boolean;
  zooms: number[][];
  reaching: boolean;
  between: Record<string, number[]>;
  together: [string, string][];
  wider: Wider[];
}

/** Everything that the figure of a scene needs, as plain data, for one set of the scene's choices. */
export interface Recipe {
  stages: string[];
  parameters: Parameter[];
  clouds: Cloud[];
  views: View[];
  formula: string;
  table: Table | null;
  readouts: Readout[];
  facts: Facts | null;
  overviews: Overview[];
  progress: number;
  follow: number;
  clock: string;
}

/** A click on a point makes it the followed (selected) point. */
export interface Follow {
  kind: "follow";
}

/** A click on a point sets the scene's choice named `choice` to this point's entry in `numbers`. */
export interface Choose {
  kind: "choose";
  choice: string;
  numbers: Packed;
}

/** A click on a point follows (selects) it, and opens the scene that `links` gives for it. */
export interface Open {
  kind: "open";
  links: string[];
}

/** Dragging the cloud's first point sets three parameters to its coordinates, in a 2D view only two. */
export interface Drag {
  kind: "drag";
  x: string;
  y: string;
  z: string;
}

/** Dragging the cloud's first point, in a 2D view, sets the parameter `angle` to the point's direction. */
export interface Turn {
  kind: "turn";
  angle: string;
}

/** Dragging a point of the cloud, in a 2D view, sets two parameters to the new x and y of this point. */
export interface Carry {
  kind: "carry";
  names: string[][];
}

/** Dragging a point of a unit circle or sphere changes the point's path from the clock's time on. */
export interface Relocate {
  kind: "relocate";
  slots: string[][];
}

/** A click on a point plays the clock (see `Recipe.clock`) through values that belong to this point. */
export interface Replay {
  kind: "replay";
  spans: Packed;
  follow: Packed;
  progress: Packed;
}

/** The point with the largest current value of `row`; the first such point if several share this value. */
export interface Highest {
  kind: "highest";
  row: Row;
}

/** The points that attention can select: a query gives such a key a higher score than all other keys. */
export interface Selectable {
  kind: "selectable";
}

/** The points that attention cannot select: no query gives such a key a higher score than all other keys. */
export interface Unselectable {
  kind: "unselectable";
}

/** The points of a circle or sphere to which a layer max(Wx + b, 0) gives a certain fate. */
export interface Gated {
  kind: "gated";
  fate: string;
  before: number;
  basis: Packed;
  of: string;
}

export type Measure = Row | LargestWeight | SoftmaxWeight | Angle;

export type Hand = Follow | Choose | Open | Drag | Turn | Carry | Relocate | Replay;

export type Only = number[] | "followed" | Highest | null | Selectable | Unselectable | Gated;

/** The base class of all marks, which are ways to draw a point cloud. */
export interface MarkFields {
  cloud: string;
  role: string;
  rows: Row[];
  title: string;
  opacity: number;
  fade: number[] | null;
  hint: string;
}

/** A symbol (`glyph`) at each selected point of the cloud. */
export interface PointsMark extends MarkFields {
  hand: Follow | Choose | Open | Drag | Turn | Carry | Relocate | Replay | null;
  color: Color | null;
  only: number[] | "followed" | Highest | null | Selectable | Unselectable | Gated;
  size: number;
  glyph: string;
  mark: "Points";
  draws: "points";
}

/** A line through points of a cloud. */
export interface LineMark extends MarkFields {
  size: number;
  dash: string;
  hand: Choose | null;
  order: Packed | null;
  where: Row | null;
  arrow: Arrow | 0;
  mark: "Line";
  draws: "line";
  color: null;
  pattern: number[];
}

/** For each selected point, its path from stage 0 through the later stages to its current position. */
export interface TrailMark extends MarkFields {
  size: number;
  dash: string;
  only: number[] | "followed" | Highest | null;
  arrow: Arrow | 0;
  mark: "Trail";
  draws: "line";
  color: null;
  hand: null;
  pattern: number[];
}

/** For each selected point, its path as one parameter changes: a line through its positions at `stops`. */
export interface WayMark extends MarkFields {
  size: number;
  dash: string;
  only: number[] | "followed" | Highest | null;
  parameter: string;
  stops: Packed;
  whole: boolean;
  mark: "Way";
  draws: "line";
  color: null;
  hand: null;
  pattern: number[];
}

/** Lines for the principal axes of an ellipsoid, which is the image of a sphere under a linear map. */
export interface SemiAxesMark extends MarkFields {
  size: number;
  dash: string;
  mark: "SemiAxes";
  draws: "line";
  color: null;
  hand: null;
  pattern: number[];
}

/** The edge of a `Disc`: the circle in which a plane cuts the sphere of radius `radius` around the origin. */
export interface RimMark extends MarkFields {
  size: number;
  dash: string;
  radius: number;
  corners: number;
  mark: "Rim";
  draws: "line";
  color: null;
  hand: null;
  pattern: number[];
}

/** The outline of the convex hull of the cloud's current points; in space, all edges of its triangles. */
export interface HullMark extends MarkFields {
  size: number;
  dash: string;
  mark: "Hull";
  draws: "line";
  color: null;
  hand: null;
  pattern: number[];
}

/** A surface of triangles. triangles: (F, 3), the indices in the cloud of each triangle's corners. */
export interface MeshMark extends MarkFields {
  color: Color | null;
  triangles: Packed;
  mark: "Mesh";
  draws: "mesh";
  hand: null;
}

/** A surface through the points of a cloud, which form a grid of shape (rows, columns), given row by row. */
export interface SheetMark extends MarkFields {
  color: Color | null;
  grid: [number, number];
  mark: "Sheet";
  draws: "mesh";
  hand: null;
}

/** The faces of the convex hull of the cloud's current points in space, as triangles. */
export interface HullFacesMark extends MarkFields {
  count: number;
  mark: "HullFaces";
  draws: "mesh";
  color: null;
  hand: null;
}

/** The disc in which a plane cuts the ball of radius `radius` around the origin. */
export interface DiscMark extends MarkFields {
  radius: number;
  corners: number;
  mark: "Disc";
  draws: "mesh";
  color: null;
  hand: null;
}

/** The cloud's labels (`Cloud.labels`), each written at its point. */
export interface LabelsMark extends MarkFields {
  mark: "Labels";
  draws: "labels";
  color: null;
  hand: null;
}

/** The histogram of one display coordinate of the points, with `bins` bins of equal width over `span`. */
export interface HistogramMark extends MarkFields {
  size: number;
  dash: string;
  only: number[] | "followed" | Highest | null;
  span: [number, number];
  bins: number;
  mark: "Histogram";
  draws: "line";
  color: null;
  hand: null;
  pattern: number[];
}

/** For each selected point, a line through (i, xᵢ): its coordinates against their indices 1, 2, …. */
export interface ProfileMark extends MarkFields {
  size: number;
  dash: string;
  only: number[] | "followed" | Highest | null;
  mark: "Profile";
  draws: "line";
  color: null;
  hand: null;
  pattern: number[];
}

/** A vertical line at the threshold that best separates two classes of points by a display coordinate. */
export interface ThresholdMark extends MarkFields {
  size: number;
  dash: string;
  span: [number, number];
  classes: Packed;
  mark: "Threshold";
  draws: "line";
  color: null;
  hand: null;
  pattern: number[];
}

/** Colours that fill a 2D view, interpolated between the points of a grid. */
export interface FieldMark extends MarkFields {
  color: Color;
  columns: number;
  mark: "Field";
  draws: "field";
  hand: null;
}

/** Coloured rectangles in a 2D view, one around each point of a regular grid. */
export interface CellsMark extends MarkFields {
  color: Color;
  columns: number;
  mark: "Cells";
  draws: "cells";
  hand: null;
}

/** Lines from the followed (selected) key to the other keys of which it is a weighted average. */
export interface AverageMark extends MarkFields {
  size: number;
  dash: string;
  span: [number, number];
  mark: "Average";
  draws: "line";
  color: null;
  hand: null;
  pattern: number[];
}

/** An arrow from the origin: the query that gives the followed key its largest attention weight. */
export interface BestQueryMark extends MarkFields {
  size: number;
  dash: string;
  reach: number;
  arrow: Arrow | 0;
  mark: "BestQuery";
  draws: "line";
  color: null;
  hand: null;
  pattern: number[];
}

/** The supporting line of a query: perpendicular to it, through the key with the highest score. */
export interface SupportMark extends MarkFields {
  size: number;
  dash: string;
  query: Row | null;
  radius: number;
  corners: number;
  mark: "Support";
  draws: "line";
  color: null;
  hand: null;
  pattern: number[];
}

/** A disc in the supporting plane of a query, in a 3D view; its rim is drawn by `Support`. */
export interface SupportDiscMark extends MarkFields {
  query: Row | null;
  radius: number;
  corners: number;
  mark: "SupportDisc";
  draws: "mesh";
  color: null;
  hand: null;
}

/** A curve: the softmax weight of the followed (selected) key against the length of a query, over `span`. */
export interface WeightCurveMark extends MarkFields {
  size: number;
  dash: string;
  query: Row | null;
  span: [number, number];
  corners: number;
  mark: "WeightCurve";
  draws: "line";
  color: null;
  hand: null;
  pattern: number[];
}

/** A horizontal line at the largest attention weight that a query can give the followed (selected) key. */
export interface WeightLimitMark extends MarkFields {
  size: number;
  dash: string;
  span: [number, number];
  mark: "WeightLimit";
  draws: "line";
  color: null;
  hand: null;
  pattern: number[];
}

/** A point on a `WeightCurve`: the followed (selected) key's weight for the query's current length. */
export interface WeightNowMark extends MarkFields {
  query: Row;
  size: number;
  glyph: string;
  mark: "WeightNow";
  draws: "points";
  color: null;
  hand: null;
}

export type Mark =
  | PointsMark
  | LineMark
  | TrailMark
  | WayMark
  | SemiAxesMark
  | RimMark
  | HullMark
  | MeshMark
  | SheetMark
  | HullFacesMark
  | DiscMark
  | LabelsMark
  | HistogramMark
  | ProfileMark
  | ThresholdMark
  | FieldMark
  | CellsMark
  | AverageMark
  | BestQueryMark
  | SupportMark
  | SupportDiscMark
  | WeightCurveMark
  | WeightLimitMark
  | WeightNowMark;

/** The base class of readouts. */
export interface ReadoutFields {
  label: string;
}

/** The largest distance between a point of one cloud and the point with the same index in another cloud. */
export interface ResidualReadout extends ReadoutFields {
  a: string;
  b: string;
  coordinates: number | null;
  kind: "residual";
}

/** The value of a measure for one point of a cloud. */
export interface NumberReadout extends ReadoutFields {
  cloud: string;
  row: Row | LargestWeight | SoftmaxWeight | Angle;
  index: number | "followed";
  unit: string;
  digits: number | null;
  kind: "number";
}

/** The mean of a measure over a cloud's points. */
export interface MeanReadout extends ReadoutFields {
  cloud: string;
  row: Row | LargestWeight | SoftmaxWeight | Angle;
  unit: string;
  digits: number | null;
  kind: "mean";
}

/** The largest value of a measure among a cloud's points. */
export interface LargestReadout extends ReadoutFields {
  cloud: string;
  row: Row | LargestWeight | SoftmaxWeight | Angle;
  unit: string;
  digits: number | null;
  kind: "largest";
}

/** The number of selected points and the number of all points, such as "12 of 200". */
export interface CountReadout extends ReadoutFields {
  cloud: string;
  only: Selectable | Unselectable | Gated | Highest;
  stage: number | null;
  kind: "count";
}

/** The lengths of the semi-axes of an ellipsoid, which is the image of a sphere under a linear map. */
export interface LengthsReadout extends ReadoutFields {
  cloud: string;
  kind: "lengths";
}

/** The share of points that a threshold on the values of `row` classifies correctly, in per cent. */
export interface AccuracyReadout extends ReadoutFields {
  cloud: string;
  row: Row;
  classes: Packed;
  threshold: number | null;
  kind: "accuracy";
}

/** The labels of all points of a cloud, such as letters, as one text; those of selected points stand out. */
export interface LettersReadout extends ReadoutFields {
  cloud: string;
  only: Selectable | Unselectable | Gated | Highest;
  stage: number | null;
  kind: "letters";
}

/** Whether a query can select the followed (selected) point as a key, and the evidence. */
export interface FateReadout extends ReadoutFields {
  keys: string;
  kind: "fate";
}

/** How many coordinates of a point are exactly 0, on average over a cloud's points, such as "3.2 of 8". */
export interface ZerosReadout extends ReadoutFields {
  cloud: string;
  stage: number;
  kind: "zeros";
}

/** The number of different sign patterns that a cloud's points have at a stage, and their entropy in bits. */
export interface PatternsReadout extends ReadoutFields {
  cloud: string;
  stage: number;
  kind: "patterns";
}

/** For each rank r: the share of a cloud's points near which a layer max(Wx + b, 0) is linear of rank r. */
export interface RanksReadout extends ReadoutFields {
  cloud: string;
  before: number;
  basis: Packed;
  kind: "ranks";
}

/** The exact number of linear pieces of a layer max(Wx + b, 0) on a circle of radius `radius` around 0. */
export interface PiecesReadout extends ReadoutFields {
  cloud: string;
  before: number;
  basis: Packed;
  radius: number;
  kind: "pieces";
}

/** The number of sheets into which layers fold the unit circle, and its bound, such as "6, at most 8". */
export interface SheetsReadout extends ReadoutFields {
  cloud: string;
  kind: "sheets";
}

export type Readout =
  | ResidualReadout
  | NumberReadout
  | MeanReadout
  | LargestReadout
  | CountReadout
  | LengthsReadout
  | AccuracyReadout
  | LettersReadout
  | FateReadout
  | ZerosReadout
  | PatternsReadout
  | RanksReadout
  | PiecesReadout
  | SheetsReadout;
