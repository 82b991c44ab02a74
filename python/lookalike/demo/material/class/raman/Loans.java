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

    /** Finds the loans that never ended. */
    static Map<String, Integer> notReturned(List<Event> events) {
        Map<String, Integer> open = new TreeMap<>();
        for (Event event : events) {
            String key = event.member() + ": " + event.title();
            if (event.action().equals("out")) {
                open.put(key, event.day());
            } else {
                open.remove(key);
            }
        }
        return open;
    }

    /** Adds up the fines of every member, in cents. */
    static Map<String, Integer> fines(List<Event> events) {
        Map<String, Integer> total = new TreeMap<>();
        int lastDay = events.get(events.size() - 1).day();
        for (int i = 0; i < events.size(); i++) {
            Event start = events.get(i);
            if (!start.action().equals("out")) {
                continue;
            }
            int end = lastDay;
            for (int j = i + 1; j < events.size(); j++) {
                Event other = events.get(j);
                if (other.title().equals(start.title()) && other.member().equals(start.member())) {
                    end = other.day();
                    break;
                }
            }
            int late = end - start.day() - DAYS_FREE;
            if (late > 0) {
                total.merge(start.member(), late * CENTS_PER_DAY, Integer::sum);
            }
        }
        return total;
    }

    /** Picks the best titles one after the other. */
    static List<String> best(List<Event> events, int count) {
        Map<String, Integer> times = new HashMap<>();
        for (Event event : events) {
            if (event.action().equals("out")) {
                times.put(event.title(), times.getOrDefault(event.title(), 0) + 1);
            }
        }
        List<String> result = new ArrayList<>();
        while (result.size() < count && !times.isEmpty()) {
            String top = null;
            for (String title : times.keySet()) {
                if (top == null || times.get(title) > times.get(top)) {
                    top = title;
                }
            }
            result.add(top);
            times.remove(top);
        }
        return result;
    }

    public static void main(String[] args) throws IOException {
        if (args.length != 1) {
            System.err.println("usage: java Loans FILE");
            System.exit(2);
        }
        List<Event> events = readEvents(Path.of(args[0]));
        for (Map.Entry<String, Integer> entry : notReturned(events).entrySet()) {
            System.out.println(entry.getKey() + ", since day " + entry.getValue());
        }
        for (Map.Entry<String, Integer> entry : fines(events).entrySet()) {
            int cents = entry.getValue();
            System.out.printf("%s has to pay %d.%02d%n", entry.getKey(), cents / 100, cents % 100);
        }
        System.out.println("Most borrowed: " + String.join(", ", best(events, 3)));
    }
}
