// @ts-check
/** Show the overviews of a recipe: a few lines beside the figure, and a table with a row for each value of a
 * choice, such as for each norm of a model. */

import { copied, h, saveData, scrolling, tableRow } from "../dom.mjs";
/** @import { Overview } from "../engine/recipe.d.ts" */
/** @import { Player } from "./player.mjs" */

/** Show the lines of overviews in their part of the page, each as a paragraph. Does nothing if `part` is
 * null. @param {HTMLElement | null} part @param {Overview[]} overviews */
export function lines(part, overviews) {
  part?.replaceChildren(...overviews.flatMap((each) => each.lines).map((line) => h("p", {}, line)));
}

/** The number with which the text of a table cell begins; Infinity if it does not begin with a number.
 * @param {string} cell */
const valueOf = (cell) => {
  const value = parseFloat(cell.replaceAll(",", "").replace("−", "-"));
  return Number.isNaN(value) ? Infinity : value;
};

/** For each player, its present tables. A table is kept, in the order into which the reader has sorted it, as
 * long as its overview does not change. @type {WeakMap<object, {key: string, element: HTMLElement, show: ()
 * => void}[]>} */
const known = new WeakMap();

/** The elements with the tables of a player's overviews, updated to the player's state.
 * @param {Overview[]} overviews @param {Player} player */
export function tables(overviews, player) {
  const found = overviews.map((overview, i) => {
    const key = JSON.stringify(overview);
    const before = known.get(player)?.[i];
    return before?.key === key ? before : { key, ...made(overview, player) };
  });
  known.set(player, found);
  for (const { show } of found) show();
  return found.map(({ element }) => element);
}

/** Make the table of an overview, with buttons that copy and save the table, and a function `show` that
 * updates it to the player's state. @param {Overview} overview @param {Player} player */
function made(overview, player) {
  const { title, csv, file } = overview;
  const { table, show, text } = sortable(overview, player);
  const said = h("span", { role: "status" });
  const copy = async () => {
    said.textContent = (await copied(text())) ? "Copied." : "This browser does not allow copying.";
  };
  const save = () => saveData(new Blob([csv], { type: "text/csv" }), file);
  const element = h(
    "section",
    { className: "overview-table" },
    h(
      "div",
      { className: "files" },
      h("span", {}, title),
      h("button", { type: "button", onclick: copy }, "Copy"),
      h("button", { type: "button", onclick: save }, "Save as CSV"),
      said,
    ),
    scrolling(title, table),
  );
  return { element, show };
}

/** Create a `table` in which a click on a column's head sorts the rows; a function `show` that updates it to
 * the player's state; and a function `text` that returns its cells as text, separated by tabs and line ends.
 * If the overview belongs to a choice, a click on a row, or Enter on its first cell, sets the choice to the
 * row's number: 1 for the first row of the overview, before sorting. @param {Overview} overview
 * @param {Player} player */
function sortable({ columns, rows, abouts, choice }, player) {
  const all = rows.map((cells, k) => ({ cells, value: k + 1 }));
  const body = h("tbody");
  const show = () =>
    body.replaceChildren(
      ...all.map(({ cells: [first, ...rest], value }) =>
        choice
          ? tableRow(h("button", { type: "button", id: `row-${choice}-${value}` }, first), rest, {
              className: String(value) === String(player.choices[choice]) ? "current" : "",
              onclick: () => player.choose({ [choice]: String(value) }),
            })
          : tableRow(first, rest),
      ),
    );
  const heads = columns.map((name, c) =>
    h(
      "th",
      { scope: "col", title: abouts[c], "aria-sort": c ? "none" : "ascending" },
      h("button", { type: "button", onclick: () => sort(c) }, name),
    ),
  );
  const sort = (/** @type {number} */ c) => {
    const order = sortRows(all, c, heads[c].ariaSort);
    heads.forEach((head) => head.setAttribute("aria-sort", "none"));
    heads[c].setAttribute("aria-sort", order);
    show();
  };
  const text = () =>
    [columns, ...all.map(({ cells }) => cells)]
      .map((cells) => cells.map((cell) => cell.replaceAll("\t", " ")).join("\t"))
      .join("\n");
  return { table: h("table", {}, h("thead", {}, h("tr", {}, ...heads)), body), show, text };
}

/** Sort the rows of a table, in place, after a click on the head of column c: by the numbers in this column,
 * or by its words if no cell begins with a number. Column 0 stands for the original order of the rows. If the
 * rows are sorted by column c already, their order is reversed. Otherwise a column of numbers is sorted in
 * descending order, a column of words or column 0 in ascending order. Returns the new order, "ascending" or
 * "descending". @param {{cells: string[], value: number}[]} rows value: the row's number in the original
 * order @param {number} c @param {string | null} before the order of column c before the click: "ascending",
 * "descending" or, if the rows are sorted by another column, "none" */
export function sortRows(rows, c, before) {
  const of = (/** @type {typeof rows[number]} */ row) => (c ? valueOf(row.cells[c]) : row.value);
  const words = rows.every((row) => of(row) === Infinity);
  const falls = before === "ascending" || (before === "none" && c > 0 && !words);
  rows.sort(
    (a, b) =>
      (words ? a.cells[c].localeCompare(b.cells[c]) * (falls ? -1 : 1) : compared(of(a), of(b), falls)) ||
      a.value - b.value,
  );
  return falls ? "descending" : "ascending";
}

/** Compare two numbers for sorting; Infinity, which stands for no number, comes last in both orders. @param
 * {number} a @param {number} b @param {boolean} falls whether the order is descending */
const compared = (a, b, falls) =>
  a === b ? 0 : a === Infinity ? 1 : b === Infinity ? -1 : falls ? b - a : a - b;
