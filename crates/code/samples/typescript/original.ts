// Grade book with types.
import { readFileSync } from 'fs';

type Score = number;
type Grades = Map<string, Score[]>;

enum Outcome { Added, Refused = 2 }

interface Report {
  readonly title: string;
  best?: string;
  rows: Array<[string, Score]>;
}

const LIMIT: Score = 100;

export function mean(list: readonly Score[]): number {
  let sum = 0;
  for (const score of list) {
    sum += score;
  }
  return list.length === 0 ? 0 : sum / list.length;
}

/** The score in the middle. */
export function median(list: Score[]): number | undefined {
  const sorted = list.slice().sort((a: Score, b: Score) => a - b);
  const half = sorted.length >> 1;
  if (sorted.length % 2 !== 0) {
    return sorted[half];
  }
  return sorted.length ? (sorted[half - 1] + sorted[half]) / 2 : undefined;
}

export abstract class Book<T extends string> {
  protected grades: Map<T, Array<Score>> = new Map();

  constructor(private readonly title: string, public limit: Score = LIMIT) {}

  abstract describe(name: T): string;

  add(name: T, score: Score): Outcome {
    if (score < 0 || score > this.limit) {
      return Outcome.Refused;
    }
    const list = this.grades.get(name) ?? [];
    list.push(score);
    this.grades.set(name, list);
    return Outcome.Added;
  }

  report(): Report {
    const rows: Array<[string, Score]> = [];
    this.grades.forEach((list, name) => {
      rows.push([this.describe(name), mean(list)]);
    });
    rows.sort((a, b) => b[1] - a[1]);
    return { title: this.title, best: rows[0]?.[0], rows };
  }
}

// A line of the file: name, comma, score.
function parse<T extends string>(line: string, book: Book<T>): boolean {
  const parts = line.split(/\s*,\s*/);
  if (parts.length !== 2) {
    return false;
  }
  const score = Number(parts[1]);
  return book.add(parts[0] as T, score) === Outcome.Added;
}

function histogram(means: number[], width: number): void {
  const bins: Record<number, number> = {};
  for (const value of means) {
    const bin = Math.floor(value / width);
    bins[bin] = (bins[bin] || 0) + 1;
  }
  for (const bin in bins) {
    console.log(`${bin}: ${'*'.repeat(bins[bin])}`);
  }
}

class Plain extends Book<string> {
  describe(name: string): string {
    return name.toUpperCase();
  }
}

const book = new Plain('algorithms');
const lines = readFileSync(process.argv[2], 'utf8').split('\n');
const refused = lines.filter((line) => !parse(line, book)).length;
const report = book.report();
histogram(report.rows.map(([, value]) => value), 10);
console.log(report.best!, refused, median([1, 2, 3]));
