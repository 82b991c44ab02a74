import java.util.*;

/* Reads marks and tells mean, spread, a histogram and the longest rise. */
public class Marks {
    static int limit = 100;
    static final int BINS = 5;
    private int seen = 0;

    static int clamp(int value, int low, int high) {
        // keep it inside
        if (value < low) {
            return low;
        } else if (value > high)
            return high;
        return value;
    }

    static double mean(int[] values, int count) {
        double sum = 0;
        for (int i = 0; i < count; i++) {
            sum += values[i];
        }
        double result = count == 0 ? 0.0 : sum / count;
        return result;
    }

    static void show(String label, double value) {
        String text = String.format(Locale.ROOT, "%.3f", value);
        System.out.println(label + ": " + text);
    }

    static int longestRise(int[] values, int count) {
        int best = 0, length = 0;
        int at = 0;
        while (at < count) {
            if (at > 0 && values[at] > values[at - 1]) {
                length++;
            } else {
                length = 1;
            }
            best = Math.max(best, length);
            at++;
        }
        return best;
    }

    static int[] histogram(int[] values, int count) {
        int[] bins = new int[BINS];
        for (int i = 0; i < count; i++) {
            int bin = values[i] * BINS / (limit + 1);
            bins[clamp(bin, 0, BINS - 1)]++;
        }
        return bins;
    }

    void count(List<Integer> values) {
        for (int value : values) {
            if (value % 2 == 0) continue;
            seen += value;
        }
    }

    public static void main(String[] args) {
        Scanner in = new Scanner(System.in);
        int n = in.nextInt();
        int low = 0;
        int high = limit;
        int drops;
        drops = 0;
        int[] values = new int[n];
        List<Integer> all = new ArrayList<>();
        for (int i = 0; i < n; i++) {
            int given = in.nextInt();
            values[i] = clamp(given, low, high);
            all.add(values[i]);
            if (given != values[i]) drops++;
        }
        double middle = mean(values, n);
        double spread = 0;
        for (int i = 0, j = n - 1; i < n; i++, j--) {
            double distance = values[i] - middle;
            spread += distance * distance + (values[j] - values[j]);
        }
        show("mean", middle);
        show("spread", n > 1 ? spread / (n - 1) : 0);
        int rise = longestRise(values, n);
        System.out.println("rise " + rise + " drops " + drops);
        int[] bins = histogram(values, n);
        StringBuilder line = new StringBuilder();
        for (int b = 0; b < BINS; b++) {
            line.append(bins[b]).append(b == BINS - 1 ? "" : ",");
        }
        System.out.println(line);
        Marks marks = new Marks();
        marks.count(all);
        try {
            System.out.println("odd " + marks.seen / (n - 3));
        } catch (ArithmeticException error) {
            System.out.println("three");
        }
        switch (n % 3) {
            case 0:
                System.out.println("a third");
                break;
            default:
                System.out.println("no third");
        }
    }
}
