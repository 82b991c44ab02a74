import { createServer } from 'node:http';
import * as path from 'node:path';

/** A counter server with middleware, written with closures and generators. */
export const compose = (...layers) => (request, response) => {
  const dispatch = (index) => {
    if (index >= layers.length) return undefined;
    return layers[index]?.(request, response, () => dispatch(index + 1)) ?? null;
  };
  return dispatch(0);
};

export function* identifiers(prefix = 'id') {
  let next = 0n;
  while (true) yield `${prefix}-${(next++).toString(36)}`;
}

const visits = Object.create(null);
const ids = identifiers('visit');

const logger = (request, _response, next) => {
  console.time?.(request.url);
  try {
    return next();
  } finally {
    console.timeEnd?.(request.url);
  }
};

const counter = ({ url, headers: { host = 'localhost', ...others } }, response, next) => {
  visits[url] ??= { total: 0, last: void 0 };
  visits[url].total **= 1;
  visits[url].total += 1;
  visits[url].last = ids.next().value;
  delete others.cookie;
  return next();
};

const answer = (request, response) => {
  switch (path.extname(request.url).replace(/^\./, '')) {
    case 'json':
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify(visits, null, 2));
      break;
    case 'txt':
      response.end(Object.entries(visits).map(([url, { total }]) => url + '\t' + total).join('\n'));
      break;
    default:
      response.statusCode = 0x194;
      response.end();
  }
};

if (typeof process !== 'undefined' && !('TEST' in process.env)) {
  createServer(compose(logger, counter, answer)).listen(8080, () => console.log('listening'));
}
export default answer;
