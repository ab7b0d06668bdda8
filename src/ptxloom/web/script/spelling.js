// Near misses: which known words a mistyped one was probably meant to be. See ptxloom.isa.spelling.

const LONGEST = 64;

export function nearMisses(word, known, limit) {
  if (word.length > LONGEST) return [];
  const reach = Math.max(1, Math.floor(word.length / 3));
  const ranked = [];
  known.forEach((other, place) => {
    if (Math.abs(word.length - other.length) > reach) return;
    const distance = edits(word, other);
    if (distance <= reach && distance < word.length) ranked.push([distance, -alike(word, other), place, other]);
  });
  ranked.sort((a, b) => a[0] - b[0] || a[1] - b[1] || a[2] - b[2]);
  return ranked.slice(0, limit).map((row) => row[3]);
}

// How many insertions, deletions, replacements and swaps of neighbours lead from one word to the other.
function edits(first, second) {
  let before = [];
  let above = Array.from({ length: second.length + 1 }, (_, place) => place);
  for (let i = 1; i <= first.length; i += 1) {
    const row = [i];
    for (let j = 1; j <= second.length; j += 1) {
      let cost = Math.min(above[j] + 1, row[j - 1] + 1, above[j - 1] + (first[i - 1] !== second[j - 1]));
      const swapped = i > 1 && j > 1 && first[i - 1] === second[j - 2] && first[i - 2] === second[j - 1];
      if (swapped) cost = Math.min(cost, before[j - 2] + 1);
      row.push(cost);
    }
    before = above;
    above = row;
  }
  return above[second.length];
}

function alike(word, other) {
  let count = 0;
  while (count < Math.min(word.length, other.length) && word[count] === other[count]) count += 1;
  return count;
}
