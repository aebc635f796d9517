// ESLint's configuration: the recommended rules, and for each part of assets/ the parts from which it may
// import.
import js from "@eslint/js";
import globals from "globals";

// The parts of assets/, lowest first. A part imports only from itself and from parts listed before it. The
// engine is pure: it uses neither `document` nor `window`.
const PARTS = [
  { name: "engine", files: ["assets/engine/**"], modules: ["**/engine/*"] },
  {
    name: "dom, browser, letters and globals",
    files: ["assets/*.mjs"],
    modules: ["dom", "browser", "letters", "globals"].map((name) => `**/${name}.mjs`),
  },
  ...["painter", "player", "page", "guest"].map((name) => ({
    name,
    files: [`assets/${name}/**`],
    modules: [`**/${name}/*`],
  })),
];

const floor = ({ name, files }, i) => ({
  files,
  rules: {
    "no-restricted-imports": [
      "error",
      {
        patterns: [
          {
            group: PARTS.slice(i + 1).flatMap(({ modules }) => modules),
            message: `${name} may import from ${PARTS.slice(0, i + 1)
              .map((part) => part.name)
              .join(", ")} only.`,
          },
        ],
      },
    ],
  },
});

export default [
  js.configs.recommended,
  { files: ["assets/**", "benchmarks/**", "normscape/*.js"], languageOptions: { globals: globals.browser } },
  { files: ["assets/**/*.js", "normscape/scene.js"], languageOptions: { sourceType: "script" } },
  {
    files: ["tools/*.mjs", "tests/**/*.mjs"],
    languageOptions: { globals: globals.node },
  },
  { rules: { "no-unused-vars": ["error", { ignoreRestSiblings: true, varsIgnorePattern: "^_$" }] } },
  {
    rules: {
      "one-var": ["error", { initialized: "never" }],
      "max-len": ["error", { code: 110, ignoreRegExpLiterals: true, ignoreTemplateLiterals: true }],
    },
  },
  ...PARTS.slice(0, -1).map(floor),
];
