import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** Homework 4: the library's loans. Each line of the input reads day,member,title,action. */
public class Loans {
    static final int DAYS_FREE = 21;
    static final int CENTS_PER_DAY = 20;

    /** One line of the input. */
    record Event(int day, String member, String title, String action) {}

    /** Returns the events of a file. */
    static List<Event> readEvents(Path path) throws IOException {
        List<Event> events = new ArrayList<>();
        for (String line : Files.readAllLines(path)) {
            line = line.strip();
            if (line.isEmpty() || line.startsWith("#")) {
                continue;
            }
            String[] fields = line.split(",");
            if (fields.length != 4) {
                throw new IOException("expected 4 fields, found " + fields.length + ": " + line);
            }
            events.add(new Event(Integer.parseInt(fields[0]), fields[1], fields[2], fields[3]));
        }
        return events;
    }

    /** All books which are still away, with the day they left. */
    static Map<String, Integer> pending(List<Event> log) {
        Map<String, Integer> stillAway = new TreeMap<>();
        for (Event row : log) {
            String label = row.member() + " -> " + row.title();
            if (row.action().equals("out")) {
                stillAway.put(label, row.day());
            } else {
                stillAway.remove(label);
            }
        }
        return stillAway;
    }

    /** Calculates the penalty of each person. */
    static Map<String, Integer> computePenalties(List<Event> log) {
        Map<String, Integer> penalties = new TreeMap<>();
        int finalDay = log.get(log.size() - 1).day();
        for (int a = 0; a < log.size(); a++) {
            Event lent = log.get(a);
            if (!lent.action().equals("out")) {
                continue;
            }
            int until = finalDay;
            for (int b = a + 1; b < log.size(); b++) {
                Event next = log.get(b);
                if (next.title().equals(lent.title()) && next.member().equals(lent.member())) {
                    until = next.day();
                    break;
                }
            }
            int overdue = until - lent.day() - DAYS_FREE;
            if (overdue > 0) {
                penalties.merge(lent.member(), overdue * CENTS_PER_DAY, Integer::sum);
            }
        }
        return penalties;
    }

    /** The most popular titles, the leader first. */
    static List<String> popularTitles(List<Event> log, int limit) {
        Map<String, Integer> frequency = new HashMap<>();
        for (Event row : log) {
            if (row.action().equals("out")) {
                frequency.put(row.title(), frequency.getOrDefault(row.title(), 0) + 1);
            }
        }
        List<String> ranking = new ArrayList<>();
        while (ranking.size() < limit && !frequency.isEmpty()) {
            String leader = null;
            for (String candidate : frequency.keySet()) {
                if (leader == null || frequency.get(candidate) > frequency.get(leader)) {
                    leader = candidate;
                }
            }
            ranking.add(leader);
            frequency.remove(leader);
        }
        return ranking;
    }

    public static void main(String[] args) throws IOException {
        if (args.length != 1) {
            System.err.println("usage: java Loans FILE");
            System.exit(2);
        }
        List<Event> log = readEvents(Path.of(args[0]));
        for (Map.Entry<String, Integer> line : pending(log).entrySet()) {
            System.out.println(line.getKey() + ", day " + line.getValue());
        }
        for (Map.Entry<String, Integer> line : computePenalties(log).entrySet()) {
            int amount = line.getValue();
            System.out.printf("%s: penalty of %d.%02d%n", line.getKey(), amount / 100, amount % 100);
        }
        System.out.println("Top titles: " + String.join(" | ", popularTitles(log, 3)));
    }
}
