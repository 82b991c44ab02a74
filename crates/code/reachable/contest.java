import java.util.*;
import java.util.function.IntBinaryOperator;

public class Contest {
    static final int LIMIT = bound(7);
    static int[] memo = new int[100];

    static { memo[0] = fromInitialiser(1); }

    static int bound(int n) { return n * 2; }

    static int fromInitialiser(int n) { return n; }

    public static void main(String[] args) {
        Solver solver = new Solver(args.length);
        System.out.println(solver.solve(LIMIT) + even(4));
        IntBinaryOperator chosen = Contest::byReference;
        Runnable quiet = () -> inLambda();
        new Thread(new Worker()).start();
        Shape shape = args.length > 1 ? new Square() : new Circle();
        System.out.println(shape.area() + " " + chosen.applyAsInt(1, 2));
        PriorityQueue<Item> queue = new PriorityQueue<>();
        queue.add(new Item(3));
        Comparator<Item> order = new Comparator<Item>() {
            public int compare(Item a, Item b) { return fromAnonymous(a.value, b.value); }
        };
        int gcd = overloaded(3) + overloaded(3, 4);
        Color.RED.paint();
        try {
            Class.forName("Plugin").getDeclaredConstructor().newInstance();
        } catch (Exception problem) { }
        for (int each : new Range(3)) { quiet.run(); }
    }

    static boolean even(int n) { return n == 0 || odd(n - 1); }

    static boolean odd(int n) { return n != 0 && even(n - 1); }

    static int byReference(int a, int b) { return a + b; }

    static void inLambda() { }

    static int fromAnonymous(int a, int b) { return a - b; }

    static int overloaded(int a) { return a; }

    static int overloaded(int a, int b) { return a + b; }

    static int gcd(int a, int b) { // dead
        return b == 0 ? a : gcd(b, a % b); // dead
    } // dead

    static int dead(int n) { return n == 0 ? 0 : deadToo(n); } // dead

    static int deadToo(int n) { return dead(n - 1); } // dead

    enum Color {
        RED { void paint() { fromConstant(); } },
        BLUE { void paint() { } };

        abstract void paint();

        void fromConstant() { }

        void unusedOfEnum() { } // dead
    }

    static class Item implements Comparable<Item> {
        int value;
        Item(int value) { this.value = value; }
        public int compareTo(Item other) { return value - other.value; }
        public String toString() { return "item " + value; }
        int unused() { return value; } // dead
    }

    static class SegmentTree { // dead
        int[] sums = new int[64]; // dead
        SegmentTree(int n) { build(0, n); } // dead
        void build(int from, int to) { } // dead
        public String toString() { return "tree"; } // dead
        static class Node { int left, right; } // dead
    } // dead
}

class Solver {
    private final int size;

    Solver(int size) { this.size = size; prepare(); }

    private void prepare() { memo(size); }

    private void memo(int n) { }

    int solve(int n) { return new Inner().step(n); }

    class Inner {
        int step(int n) { return n + size; }
        int back(int n) { return n - size; } // dead
    }
}

class Worker implements Runnable {
    public void run() { work(); }
    void work() { }
    void rest() { } // dead
}

abstract class Shape {
    abstract double area();
    double perimeter() { return 0; } // dead
}

class Square extends Shape {
    double area() { return side() * side(); }
    double side() { return 2; }
    double perimeter() { return 8; } // dead
}

class Circle extends Shape {
    @Override double area() { return 3; }
}

class Triangle extends Shape { // dead
    double area() { return 1; } // dead
} // dead

class Plugin {
    Plugin() { loaded(); }
    void loaded() { }
}

class Range implements Iterable<Integer> {
    Range(int n) { }
    public Iterator<Integer> iterator() { return new ArrayList<Integer>().iterator(); }
}
