import { helper } from './helper.js';
import React from 'react';

export function api(a, b) { return used(a) + helper(b); }
export const other = (n) => n * 2;
export default class Widget extends React.Component {
  render() { return this.draw(1, 2, 3, 4); }
  draw(...args) { return args.map((arg) => arg * 2).filter((arg) => arg > 2 && arg < 6); }
}

function used(n) { return n + 1; }
function unused(n) { return n - 1; } // dead
