// Print a JSON object with an entry for each font file in node_modules/.fonts, by its name without .woff2.
// mathematics: whether it has a table for mathematical typesetting. signs: a string of all its characters.
import { readFileSync, readdirSync } from "node:fs";
import fontverter from "fontverter";
import { Blob, Face } from "harfbuzzjs";

const HOME = new URL("../../node_modules/.fonts/", import.meta.url);
const out = {};
for (const name of readdirSync(HOME).filter((each) => each.endsWith(".woff2"))) {
  const face = new Face(new Blob(await fontverter.convert(readFileSync(new URL(name, HOME)), "sfnt")), 0);
  out[name.replace(".woff2", "")] = {
    mathematics: Boolean(face.referenceTable("MATH")),
    signs: String.fromCodePoint(...face.collectUnicodes()),
  };
}
console.log(JSON.stringify(out));
