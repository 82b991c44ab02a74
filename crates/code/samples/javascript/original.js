// Grade book: collects scores and prints a report.
'use strict';

const fs = require('fs');

const LIMIT = 100;
const NAME = /^[a-z]+(-[a-z]+)*$/i;

class GradeBook {
  constructor(title) {
    this.title = title;
    this.scores = new Map();
    this.refused = 0;
  }

  add(name, score) {
    if (score < 0 || score > LIMIT || !NAME.test(name)) {
      this.refused += 1;
      return false;
    }
    if (!this.scores.has(name)) {
      this.scores.set(name, []);
    }
    this.scores.get(name).push(score);
    return true;
  }

  best() {
    let winner = null;
    for (const [name, list] of this.scores) {
      if (winner === null || mean(list) > mean(this.scores.get(winner))) {
        winner = name;
      }
    }
    return winner;
  }
}

/* The arithmetic mean. */
function mean(list) {
  let sum = 0;
  for (let i = 0; i < list.length; i++) {
    sum += list[i];
  }
  return list.length === 0 ? 0 : sum / list.length;
}

function median(list) {
  const sorted = [...list].sort((a, b) => a - b);
  const half = Math.floor(sorted.length / 2);
  if (sorted.length % 2 === 1) {
    return sorted[half];
  }
  return (sorted[half - 1] + sorted[half]) / 2;
}

function histogram(book, width = 10) {
  const bins = new Array(LIMIT / width + 1).fill(0);
  book.scores.forEach((list) => {
    bins[Math.floor(mean(list) / width)]++;
  });
  bins.forEach((count, bin) => {
    console.log(`${bin * width}`.padStart(3), '*'.repeat(count));
  });
}

async function read(path, book) {
  const text = await fs.promises.readFile(path, 'utf8');
  for (const line of text.split('\n')) {
    const [name, score] = line.split(',');
    try {
      book.add(name.trim(), parseFloat(score));
    } catch (error) {
      console.error('cannot read', line, error.message);
    }
  }
  return book;
}

read(process.argv[2], new GradeBook("algorithms")).then((book) => {
  histogram(book);
  console.log('best:', book.best(), 'refused:', book.refused);
  book.scores.forEach((list, name) => console.log(name, median(list)));
});
