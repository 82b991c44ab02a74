import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

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

    public static void main(String[] args) throws IOException {
        if (args.length != 1) {
            System.err.println("usage: java Loans FILE");
            System.exit(2);
        }
        List<Event> events = readEvents(Path.of(args[0]));
        // Your code goes here.
    }
}
