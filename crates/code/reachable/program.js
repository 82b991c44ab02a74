'use strict';
const fs = require('fs');
const { join } = require('path');

function main(args) {
  const stack = new Stack();
  stack.push(args.length);
  const total = [1, 2, 3].map(twice).filter((n) => isEven(n)).reduce(add, 0);
  console.log(total, `${formatted(total)}`, stack.toString(), later);
  args.forEach(function (arg) { console.log(inCallback(arg)); });
  window[args[0] || 'namedInString']();
  return { total, handler };
}

function twice(n) { return n * 2; }
const add = (a, b) => a + b;
const isEven = function (n) { return n === 0 || isOdd(n - 1); };
function isOdd(n) { return n !== 0 && isEven(n - 1); }
function formatted(n) { return n.toFixed(2); }
function inCallback(arg) { return arg; }
function namedInString() { return 1; }
function handler() { return 2; }

function gcd(a, b) { return b === 0 ? a : gcd(b, a % b); } // dead
function* dead() { yield* deadToo(); } // dead
function* deadToo() { yield* dead(); } // dead

const later = {
  method() { return inObject(); },
  other: () => inObject(),
};
function inObject() { return 3; }

class Base { size() { return 0; } } // mixed

class Stack extends Base {
  items = [];
  constructor() { super(); this.reset(); }
  reset() { this.items = []; }
  push(item) { this.items.push(item); }
  get top() { return this.items[0]; } // dead
  toString() { return this.items.join(); }
  [Symbol.iterator]() { return this.items.values(); }
  peek() { return this.items[1]; } // dead
}

class Unused {
  constructor() { this.start(); } // dead
  start() { return 1; } // dead
}

main(process.argv.slice(2));
