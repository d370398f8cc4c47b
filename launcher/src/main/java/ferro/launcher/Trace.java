package ferro.launcher;

import java.util.ArrayList;
import java.util.List;

/** The trace of an uncaught exception among the lines that a Java program prints; the one that ended its main thread, if any. */
final class Trace {
    private static final int LINES = 40;
    private static final String START = "Exception in thread \"";
    private static final String MAIN = START + "main\"";

    private final List<String> lines = new ArrayList<>();
    private boolean open;

    void add(String line) {
        if (line.startsWith(MAIN) || line.startsWith(START) && lines.isEmpty()) {
            lines.clear();
            open = true;
        } else {
            open = open && belongs(line);
        }
        if (open && lines.size() < LINES) {
            lines.add(line);
        }
    }

    private static boolean belongs(String line) {
        return line.startsWith("\t") || line.startsWith("Caused by: ") || line.startsWith("Suppressed: ");
    }

    List<String> lines() {
        return List.copyOf(lines);
    }
}
