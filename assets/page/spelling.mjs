// @ts-check
/** Correct a misspelt word: find the nearest word of a vocabulary, by edit distance. Pure. */

const MIN_LENGTH = 4; // shorter words are near to too many others
const LONG_WORD = 7; // a word of at least this many characters may have two errors, a shorter one only one

/** The number of errors that turn one word into the other: a letter inserted, left out or replaced, or two
 * neighbouring letters exchanged (optimal string alignment distance). @param {string} a @param {string} b */
function errors(a, b) {
  const counts = Array.from({ length: a.length + 1 }, (_, i) => [i]);
  for (let j = 1; j <= b.length; j++) counts[0][j] = j;
  for (let i = 1; i <= a.length; i++)
    for (let j = 1; j <= b.length; j++) {
      const replaced = counts[i - 1][j - 1] + Number(a[i - 1] !== b[j - 1]);
      counts[i][j] = Math.min(counts[i - 1][j] + 1, counts[i][j - 1] + 1, replaced);
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1])
        counts[i][j] = Math.min(counts[i][j], counts[i - 2][j - 2] + 1);
    }
  return counts[a.length][b.length];
}

/** The word of a vocabulary that differs from `word` by the fewest errors, and of several such words the most
 * frequent one. At most one error is allowed, or two if `word` has at least LONG_WORD letters; if no word is
 * that near, the result is undefined. Words with fewer than MIN_LENGTH letters are neither corrected nor
 * found. @param {string} word @param {Map<string, number>} vocabulary for each word how often it occurs
 * @returns {string | undefined} */
export function nearestWord(word, vocabulary) {
  const allowed = word.length < LONG_WORD ? 1 : 2;
  const near = [...vocabulary]
    .filter(([other]) => Math.min(word.length, other.length) >= MIN_LENGTH)
    .filter(([other]) => Math.abs(other.length - word.length) <= allowed)
    .map(([other, count]) => ({ other, count, far: errors(word, other) }))
    .filter(({ far }) => far <= allowed);
  return near.sort((a, b) => a.far - b.far || b.count - a.count)[0]?.other;
}
