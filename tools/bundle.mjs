// Bundle the JavaScript modules of assets/ with esbuild, so that a page loads about ten files in place of a
// hundred. `node tools/bundle.mjs [FOLDER]` replaces node_modules/.modules, or FOLDER, by the result.
import { createHash } from "node:crypto";
import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const ASSETS = fileURLToPath(new URL("../assets/", import.meta.url));
const FOLDER = process.argv[2] ?? fileURLToPath(new URL("../node_modules/.modules/", import.meta.url));
// The modules that pages load by their addresses, also by dynamic imports. Their names have no hash, so that
// a page that is older than the bundle still finds them.
const ENTRIES = [
  "guest/dash_figure",
  "guest/kernel",
  "page/attend",
  "page/load_dash",
  "page/embed",
  "page/home",
  "page/reader",
  "page/recordings",
  "page/search",
  "page/story",
  "player/training",
];

rmSync(FOLDER, { recursive: true, force: true });
await build({
  entryPoints: ENTRIES.map((name) => `${ASSETS}${name}.mjs`),
  outbase: ASSETS,
  outdir: FOLDER,
  outExtension: { ".js": ".mjs" },
  bundle: true,
  splitting: true,
  minify: true,
  format: "esm",
});

// The server computes this hash of the modules, too: it uses the bundle only while they are unchanged
// (components/pages/modules.py).
const files = /** @type {string[]} */ (readdirSync(ASSETS, { recursive: true }));
const hash = createHash("sha256");
for (const name of files.map((file) => file.replaceAll("\\", "/")).sort()) {
  if (!name.endsWith(".mjs")) continue;
  const data = readFileSync(ASSETS + name);
  hash.update(`${name} ${data.length}\n`).update(data);
}
writeFileSync(join(FOLDER, "sources"), hash.digest("hex"));
