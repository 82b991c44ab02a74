import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;

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

    /** A copy of a book and the days on which it moved: out, back, out, back ... */
    record Track(String member, String title, int[] days) {
        boolean isAway() {
            return days.length % 2 == 1;
        }

        int cost(int today) {
            int sum = 0;
            for (int leg = 0; leg < days.length; leg += 2) {
                int until = leg + 1 < days.length ? days[leg + 1] : today;
                sum += Math.max(0, until - days[leg] - DAYS_FREE);
            }
            return sum * CENTS_PER_DAY;
        }

        int loans() {
            return (days.length + 1) / 2;
        }
    }

    static Stream<Track> tracks(List<Event> events) {
        Function<Event, List<String>> owner = e -> List.of(e.member(), e.title());
        return events.stream().collect(Collectors.groupingBy(owner)).entrySet().stream()
                .map(e -> new Track(e.getKey().get(0), e.getKey().get(1),
                        e.getValue().stream().mapToInt(Event::day).sorted().toArray()));
    }

    public static void main(String[] args) throws IOException {
        if (args.length != 1) {
            System.err.println("usage: java Loans FILE");
            System.exit(2);
        }
        List<Event> events = readEvents(Path.of(args[0]));
        int today = events.stream().mapToInt(Event::day).max().orElse(0);
        List<Track> tracks = tracks(events).toList();
        tracks.stream().filter(Track::isAway).map(t -> t.title() + " @ " + t.member()).sorted()
                .forEach(System.out::println);
        tracks.stream()
                .collect(Collectors.groupingBy(Track::member, Collectors.summingInt(t -> t.cost(today))))
                .forEach((who, sum) -> System.out.println(who + " " + sum / 100.0));
        tracks.stream()
                .collect(Collectors.groupingBy(Track::title, Collectors.summingInt(Track::loans)))
                .entrySet().stream()
                .sorted(Map.Entry.comparingByValue(Comparator.reverseOrder()))
                .limit(3)
                .forEach(System.out::println);
    }
}
