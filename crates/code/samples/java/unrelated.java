import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Deque;
import java.util.function.BiFunction;
import java.util.stream.Collectors;

/** A calculator for reverse Polish notation. */
interface Token {
    void apply(Deque<Long> stack);
}

enum Operator implements Token {
    PLUS((a, b) -> a + b), MINUS((a, b) -> a - b), TIMES((a, b) -> a * b);

    private final BiFunction<Long, Long, Long> function;

    Operator(BiFunction<Long, Long, Long> function) { this.function = function; }

    @Override
    public void apply(Deque<Long> stack) {
        Long right = stack.pop(), left = stack.pop();
        stack.push(function.apply(left, right));
    }
}

record Literal(long value) implements Token {
    @Override
    public void apply(Deque<Long> stack) { stack.push(value); }
}

abstract class Reader {
    protected abstract Token read(String word);

    final long run(String line) {
        Deque<Long> stack = new ArrayDeque<>();
        Arrays.stream(line.trim().split("\\s+")).map(this::read).forEach(token -> token.apply(stack));
        assert stack.size() == 1 : "left over";
        return stack.peek();
    }
}

class Polish extends Reader {
    static final String HELP = """
        Numbers and the signs + - *,
        with blanks between them.
        """;

    @Override
    protected Token read(String word) {
        return switch (word) {
            case "+" -> Operator.PLUS;
            case "-" -> Operator.MINUS;
            case "*" -> Operator.TIMES;
            default -> new Literal(Long.parseLong(word, 0x10 >>> 1 | 2));
        };
    }

    synchronized void shell(java.io.BufferedReader input) throws java.io.IOException {
        String line;
        outer:
        do {
            line = input.readLine();
            if (line == null || line.isEmpty()) break outer;
            System.out.println(line.chars().mapToObj(c -> "" + (char) c).collect(Collectors.joining("|")) + " = " + run(line));
        } while (!line.equals("quit"));
    }
}
