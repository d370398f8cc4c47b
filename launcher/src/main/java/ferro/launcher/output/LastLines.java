package ferro.launcher.output;

import com.google.common.collect.EvictingQueue;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.regex.Pattern;

/** The last lines that a rank printed on both streams, in the order of their arrival. */
public final class LastLines {
    static final int LINES = 20;
    private static final int LONGEST_LINE = 1_200;

    /** Escape sequences by which a program colours lines, moves the cursor, or sets the title of the window. */
    private static final Pattern ESCAPES =
            Pattern.compile("\\x1B(?:\\[[0-?]*[ -/]*[@-~]|\\][^\\x07\\x1B]*(?:\\x07|\\x1B\\\\))");

    /** Largest number of lines of a trace that are kept. A report leaves out most of these lines. */
    private static final int TRACE_LINES = 300;
    /** Largest number of lines of an exception's message before the first frame. */
    private static final int LONGEST_MESSAGE = 10;

    private static final String START = "Exception in thread \"";
    private static final String MAIN = START + "main\"";

    private final Queue<String> lines = EvictingQueue.create(LINES);
    /** The trace of an uncaught exception, preferably of the exception that ended the main thread. */
    private final List<String> trace = new ArrayList<>();

    private boolean open;
    private boolean framed;

    synchronized void add(byte[] bytes, int length) {
        String line = shown(new String(bytes, 0, Math.min(length, 4 * LONGEST_LINE), StandardCharsets.UTF_8));
        lines.add(line);
        addToTrace(line);
    }

    private void addToTrace(String line) {
        if (line.startsWith(MAIN) || line.startsWith(START) && trace.isEmpty()) {
            trace.clear();
            open = true;
            framed = false;
        } else {
            framed = framed || line.startsWith("\tat ");
            open = open && (belongs(line) || !framed && trace.size() < LONGEST_MESSAGE);
        }
        if (open && trace.size() < TRACE_LINES) {
            trace.add(line);
        }
    }

    private static boolean belongs(String line) {
        return line.startsWith("\t")
                || line.startsWith(" ")
                || line.startsWith("Caused by: ")
                || line.startsWith("Suppressed: ");
    }

    /** Returns the trace of the exception that ended the program, cut after 300 lines. */
    public synchronized List<String> trace() {
        return List.copyOf(trace);
    }

    /** Returns the last lines, oldest first. */
    public synchronized List<String> lines() {
        return new ArrayList<>(lines);
    }

    /**
     * Removes escape sequences that could move the cursor or colour later text. The text comes from another program,
     * and the launcher prints the text among its own lines.
     */
    private static String shown(String text) {
        String plain = ESCAPES.matcher(text).replaceAll("");
        StringBuilder clean = new StringBuilder();
        plain.codePoints()
                .limit(LONGEST_LINE)
                .map(point -> point == '\t' || !Character.isISOControl(point) ? point : '?')
                .forEach(clean::appendCodePoint);
        return plain.codePointCount(0, plain.length()) > LONGEST_LINE ? clean + " ..." : clean.toString();
    }
}
