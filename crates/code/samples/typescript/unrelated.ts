/* An observable store with undo, full of type machinery. */
export type Listener<S> = (next: Readonly<S>, previous: Readonly<S>) => void;
export type Patch<S> = { [K in keyof S]?: S[K] extends object ? Patch<S[K]> : S[K] };

declare global {
  interface Window {
    __store?: unknown;
  }
}

const enum Mode {
  Idle = 'idle',
  Batch = 'batch',
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export class Store<S extends object> implements Iterable<S> {
  static #count = 0;
  #past: S[] = [];
  #future: S[] = [];
  #listeners = new Set<Listener<S>>();
  private mode: Mode = Mode.Idle;

  public constructor(private state: S) {
    Store.#count++;
  }

  get value(): Readonly<S> {
    return this.state;
  }

  subscribe(listener: Listener<S>): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  update<P extends Patch<S>>(patch: P): asserts patch is P {
    const previous = this.state;
    this.#past.push(previous);
    this.#future.length = 0;
    this.state = merge(previous, patch) satisfies S;
    if (this.mode === Mode.Idle) for (const listener of this.#listeners) listener(this.state, previous);
  }

  undo(): this {
    const last = this.#past.pop();
    if (last === undefined) throw new RangeError('nothing to undo');
    this.#future.unshift(this.state);
    this.state = last;
    return this;
  }

  batch<R>(work: (store: this) => R): R {
    this.mode = Mode.Batch;
    try {
      return work(this);
    } finally {
      this.mode = Mode.Idle;
    }
  }

  *[Symbol.iterator](): Generator<S, void, undefined> {
    yield* this.#past;
    yield this.state;
  }
}

function merge<T extends object>(target: T, patch: Patch<T>): T {
  const copy = { ...target } as any;
  for (const key of Object.keys(patch) as (keyof T & string)[]) {
    const change = patch[key];
    copy[key] = isObject(change) && isObject(copy[key]) ? merge(copy[key], change as never) : change;
  }
  return copy;
}
