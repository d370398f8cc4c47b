package ferro.launcher.output;

import java.util.ArrayList;
import java.util.List;

/** Finds an uncaught exception's trace among a Java program's lines, preferably the one that ended its main thread. */
final class Trace {
    /** Most lines that are kept; a box folds most of them. */
    private static final int LINES = 300;
    /** A message may have several lines before the first frame. */
    private static final int LONGEST_MESSAGE = 10;

    private static final String START = "Exception in thread \"";
    private static final String MAIN = START + "main\"";

    private final List<String> lines = new ArrayList<>();
    private boolean open;
    private boolean framed;

    void add(String line) {
        if (line.startsWith(MAIN) || line.startsWith(START) && lines.isEmpty()) {
            lines.clear();
            open = true;
            framed = false;
        } else {
            framed = framed || line.startsWith("\tat ");
            open = open && (belongs(line) || !framed && lines.size() < LONGEST_MESSAGE);
        }
        if (open && lines.size() < LINES) {
            lines.add(line);
        }
    }

    private static boolean belongs(String line) {
        return line.startsWith("\t")
                || line.startsWith(" ")
                || line.startsWith("Caused by: ")
                || line.startsWith("Suppressed: ");
    }

    List<String> lines() {
        return List.copyOf(lines);
    }
}
