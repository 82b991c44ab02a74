package school;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Grade book: collects scores and prints a report. */
public class GradeBook {
    private static final double LIMIT = 100.0;
    private final Map<String, List<Double>> scores = new HashMap<>();
    private int refused = 0;

    // Adds a score; counts what cannot be one.
    public boolean add(String name, double score) {
        if (score < 0 || score > LIMIT) {
            refused++;
            System.err.println("bad score for " + name + ": " + score);
            return false;
        }
        List<Double> list = scores.get(name);
        if (list == null) {
            list = new ArrayList<Double>();
            scores.put(name, list);
        }
        list.add(score);
        return true;
    }

    /** Mean of one student's scores; 0 if there are none. */
    public double mean(String name) {
        double sum = 0;
        int count = 0;
        for (double score : scores.getOrDefault(name, new ArrayList<>())) {
            sum += score;
            count++;
        }
        return count == 0 ? 0.0 : sum / count;
    }

    public int[] histogram() {
        int[] bins = new int[10];
        for (Map.Entry<String, List<Double>> entry : scores.entrySet()) {
            int bin = (int) (mean(entry.getKey()) / 10);
            if (bin >= bins.length) {
                bin = bins.length - 1;
            }
            bins[bin] += 1;
        }
        return bins;
    }

    private static String bar(int length, char sign) {
        StringBuilder builder = new StringBuilder();
        int i = 0;
        while (i < length) {
            builder.append(sign);
            i++;
        }
        return builder.toString();
    }

    /* The best student, or null when the book is empty. */
    public String best() {
        String winner = null;
        double top = -1;
        for (String name : scores.keySet()) {
            double mean = mean(name);
            if (mean > top || winner == null) {
                top = mean;
                winner = name;
            }
        }
        return winner;
    }

    public static void main(String[] args) throws Exception {
        GradeBook book = new GradeBook();
        book.add("Ada", 93.5);
        book.add("Grace", 71);
        book.add("Alan", -4);
        try {
            int[] bins = book.histogram();
            for (int i = 0; i < bins.length; i++) {
                System.out.printf("%3d %s%n", i * 10, bar(bins[i], '*'));
            }
        } catch (RuntimeException error) {
            error.printStackTrace();
        } finally {
            System.out.println("best: " + book.best());
        }
    }
}
