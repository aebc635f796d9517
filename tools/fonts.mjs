// Make the fonts for pages and link previews. Fonts from npm packages are reduced to the characters that we
// use, and written to node_modules/.fonts with their licences.
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import subset from "subset-font";

const HOME = new URL("../node_modules/", import.meta.url);
const SANS = "source-sans/WOFF2/VF/SourceSans3VF-";
const STIX = "@fontsource/stix-two-math/files/stix-two-math-latin-400-normal.woff2";
const LATIN = [
  [0x20, 0x7e],
  [0xa0, 0xff],
  [0x106, 0x107],
  [0x131],
  [0x141, 0x142],
  [0x2010, 0x203a],
  [0x20ac],
];
const GREEK = [[0x391, 0x3a9], [0x3b1, 0x3c9], [0x3d1], [0x3d5], [0x3f5]];
const SMALL = [[0x1d40], [0x1d43], [0x1d62], [0x2070, 0x209c]]; // superscripts and subscripts
const SIGNS = [
  [0x2113],
  [0x2190, 0x2199],
  [0x21a6],
  [0x21d2],
  [0x2202],
  [0x2207, 0x2208],
  [0x2211, 0x2212],
  [0x2215],
  [0x2217, 0x221a],
  [0x221e],
  [0x2223, 0x222b],
  [0x2248],
  [0x2260, 0x2265],
  [0x2295, 0x2299],
  [0x22a4, 0x22a5],
  [0x22c5],
  [0x22ef],
  [0x27c2],
  [0x27e8, 0x27e9],
  [0x2713],
];
const OF_FORMULAS = [
  [0x20, 0x7e],
  [0xa0],
  [0xac],
  [0xb0, 0xb4],
  [0xb7],
  [0xd7],
  [0xf7],
  [0x2016],
  [0x2026],
  [0x2032, 0x2034],
  [0x203e],
];
const INVISIBLE = [[0x2061, 0x2064]]; // invisible operators: multiplication, function application
const SLANTED = [[0x210e], [0x1d434, 0x1d467], [0x1d6e2, 0x1d71b]]; // italic letters of formulas
const BOLD = [[0x1d7ce, 0x1d7d7]]; // bold digits
// Characters of our texts that Source Sans lacks. They are in a font file of their own ("signs"): if this
// font face and "mathematics" shared a file, Chromium would use the characters of only one of them.
const LACKING = [
  [0x2034],
  [0x203e],
  [0x21a6],
  [0x2207, 0x2208],
  [0x2217, 0x2218],
  [0x2223, 0x2228],
  [0x2295, 0x2299],
  [0x22a4, 0x22a5],
  [0x22c5],
  [0x22ef],
  [0x27c2],
  ...BOLD,
];
const WEIGHTS = { variationAxes: { wght: { min: 400, max: 700 } } };
const FACES = {
  text: { source: `${SANS}Upright.ttf.woff2`, ranges: [...LATIN, ...GREEK, ...SMALL, ...SIGNS], ...WEIGHTS },
  italic: { source: `${SANS}Italic.ttf.woff2`, ranges: LATIN, variationAxes: { wght: 400 } },
  signs: { source: STIX, ranges: LACKING },
  mathematics: {
    source: STIX,
    ranges: [...OF_FORMULAS, ...GREEK, ...SMALL, ...SIGNS, ...INVISIBLE, ...SLANTED, ...BOLD],
    keepFeatures: [],
  },
};
// the fonts for link previews, which Python draws: of a single weight, and as TrueType instead of WOFF2
const PREVIEW = { text: { ...FACES.text, variationAxes: { wght: 600 } }, signs: FACES.signs };
// the options of subset-font for all fonts
const KEPT = {
  targetFormat: "woff2",
  noHinting: true,
  keepFeatures: ["kern", "liga", "ccmp", "tnum", "locl"],
  preserveNameIds: [13, 14],
};

// the characters in ranges of code points [first, last], or [only one], as a string
const letters = (/** @type {number[][]} */ ranges) =>
  String.fromCodePoint(
    ...ranges.flatMap(([first, last = first]) =>
      Array.from({ length: last - first + 1 }, (_, k) => first + k),
    ),
  );

mkdirSync(new URL(".fonts/", HOME), { recursive: true });
for (const [name, { source, ranges, ...own }] of Object.entries(FACES)) {
  const cut = await subset(readFileSync(new URL(source, HOME)), letters(ranges), { ...KEPT, ...own });
  writeFileSync(new URL(`.fonts/${name}.woff2`, HOME), cut);
}
for (const [name, { source, ranges, ...own }] of Object.entries(PREVIEW)) {
  const cut = await subset(readFileSync(new URL(source, HOME)), letters(ranges), {
    ...KEPT,
    ...own,
    targetFormat: "sfnt",
  });
  writeFileSync(new URL(`.fonts/preview-${name}.ttf`, HOME), cut);
}
copyFileSync(new URL("source-sans/LICENSE.md", HOME), new URL(".fonts/LICENSE-text.md", HOME));
copyFileSync(
  new URL("@fontsource/stix-two-math/LICENSE", HOME),
  new URL(".fonts/LICENSE-mathematics.md", HOME),
);
