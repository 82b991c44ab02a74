// A form for grades, as components.
import React, { useEffect, useState } from 'react';

type Row = { name: string; score: number };
interface Props {
  title: string;
  limit?: number;
  onSave: (rows: Row[]) => void;
}

export function mean(rows: Row[]): number {
  let sum = 0;
  for (const row of rows) {
    sum += row.score;
  }
  return rows.length === 0 ? 0 : sum / rows.length;
}

const Bar = ({ width, colour }: { width: number; colour: string }) => {
  const style = { width: width + '%', background: colour };
  if (width < 0) {
    return null;
  }
  return <div className="bar" style={style}>&nbsp;</div>;
};

/* One line of the table. */
function Line({ row, onRemove }: { row: Row; onRemove: () => void }) {
  const [open, setOpen] = useState(false);
  const good = row.score >= 50;
  return (
    <tr className={good ? 'good' : 'bad'} onClick={() => setOpen(!open)}>
      <td>{row.name}</td>
      <td>{row.score.toFixed(1)}</td>
      {open && <td><button type="button" onClick={onRemove}>remove</button></td>}
    </tr>
  );
}

function sorted(rows: Row[], key: keyof Row): Row[] {
  const copy = [...rows];
  copy.sort((a, b) => {
    if (a[key] === b[key]) {
      return 0;
    }
    return a[key] < b[key] ? -1 : 1;
  });
  return copy;
}

export default function Grades({ title, limit = 100, onSave }: Props) {
  const [rows, setRows] = useState<Row[]>([]);
  const [key, setKey] = useState<keyof Row>('name');

  useEffect(() => {
    document.title = `${title}: ${rows.length}`;
  }, [rows, title]);

  const add = (name: string, score: number) => {
    if (score >= 0 && score <= limit) {
      setRows([...rows, { name, score }]);
    }
  };

  return (
    <section>
      <h1>{title}</h1>
      <Bar width={mean(rows)} colour="teal" />
      <table>
        {sorted(rows, key).map((row, i) => (
          <Line key={i} row={row} onRemove={() => setRows(rows.filter((other) => other !== row))} />
        ))}
      </table>
      <button onClick={() => setKey(key === 'name' ? 'score' : 'name')}>sort</button>
      <button onClick={() => { add('Ada', 93); onSave(rows); }}>save</button>
    </section>
  );
}
