interface Shape { area(): number; }

abstract class Named {
  abstract label(): string;
  protected describe(): string { return this.label() + this.suffix(); }
  private suffix(): string { return "!"; }
  private unused(): number { return 1; } // dead
}

class Square extends Named implements Shape {
  constructor(private side: number) { super(); }
  area(): number { return this.side * this.side; }
  label(): string { return "square"; }
  text(): string { return this.describe(); }
}

function parse(value: string): number;
function parse(value: string, base?: number): number { return parseInt(value, base); }
function format(value: string): string; // dead
function format(value: string, base?: number): string { return value; } // dead

const shapes: Shape[] = [new Square(parse("3")), new Square(4)];
for (const shape of shapes) {
  console.log(shape.area(), (shape as Square).text());
}
