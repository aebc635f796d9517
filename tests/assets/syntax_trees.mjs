// Check that minifying has not changed scripts: read [[name, text, minified text], ...] as JSON from standard
// input, and print, as JSON, the names of the scripts whose two texts have different syntax trees.
import { readFileSync } from "node:fs";
import { isDeepStrictEqual } from "node:util";
import { parse } from "espree";

/** The syntax tree of a script as plain data, without the positions of its nodes in the text.
 * @param {string} text the script */
const tree = (text) =>
  JSON.parse(
    JSON.stringify(parse(text, { ecmaVersion: "latest", sourceType: "module" }), (key, value) =>
      ["start", "end", "range", "loc"].includes(key) ? undefined : value,
    ),
  );

const scripts = JSON.parse(readFileSync(0, "utf-8"));
const changed = scripts.filter(([, text, minified]) => !isDeepStrictEqual(tree(text), tree(minified)));
console.log(JSON.stringify(changed.map(([name]) => name)));
