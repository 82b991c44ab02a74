import * as React from 'react';

/** A clock that can be paused, with a reducer and a context. */
export enum Tick { Start = 'start', Pause = 'pause', Reset = 'reset', Second = 'second' }

interface State {
  readonly running: boolean;
  readonly seconds: number;
  laps: ReadonlyArray<number>;
}

const initial: State = { running: false, seconds: 0, laps: [] };

function reduce(state: State, action: { kind: Tick }): State {
  switch (action.kind) {
    case Tick.Start:
      return { ...state, running: true };
    case Tick.Pause:
      return { ...state, running: false, laps: state.laps.concat(state.seconds) };
    case Tick.Second:
      return state.running ? { ...state, seconds: state.seconds + 1 } : state;
    default:
      return initial;
  }
}

const Clock = React.createContext<[State, React.Dispatch<{ kind: Tick }>] | null>(null);

export class Boundary extends React.Component<React.PropsWithChildren, { error?: Error }> {
  state = { error: undefined as Error | undefined };

  static getDerivedStateFromError(error: Error) {
    return { error };
  }

  override render(): React.ReactNode {
    if (this.state.error) return <pre role="alert">{String(this.state.error)}</pre>;
    return this.props.children;
  }
}

const pad = (value: number) => String(value).padStart(2, '0');

const Face: React.FC = () => {
  const shared = React.useContext(Clock);
  if (!shared) throw new Error('no clock');
  const [{ seconds, laps }, dispatch] = shared;
  return (
    <>
      <time dateTime={`PT${seconds}S`}>{pad(Math.trunc(seconds / 60))}:{pad(seconds % 60)}</time>
      {Object.values(Tick).map(kind => (
        <button key={kind} onClick={() => dispatch({ kind })} disabled={kind === Tick.Second}>{kind}</button>
      ))}
      <ol>{laps.map(lap => <li key={lap}>{pad(lap)}</li>)}</ol>
    </>
  );
};

export const App = () => {
  const store = React.useReducer(reduce, initial);
  React.useEffect(() => {
    const timer = window.setInterval(() => store[1]({ kind: Tick.Second }), 1e3);
    return () => clearInterval(timer);
  }, []);
  return <Clock.Provider value={store}><Boundary><Face /></Boundary></Clock.Provider>;
};
