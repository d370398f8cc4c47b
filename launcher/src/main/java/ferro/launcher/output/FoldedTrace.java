package ferro.launcher.output;

import ferro.recorder.ProgramFrames;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * A trace as the box and the screen show it: the exception and its causes, the program's own frames, and the first frame of
 * ferro. The other frames of ferro, of the JDK and of JUnit are counted. The whole trace is in the log of the rank, and on the
 * screen with {@code FERRO_FULL_TRACES=1}.
 */
public final class FoldedTrace {
    private static final Pattern FRAME = Pattern.compile("(\\s*)at (?:[^\\s(]*/)?([^(/]+)\\(.*");

    private static final Pattern OF_JUNIT = Pattern.compile("org\\.junit\\..*");

    private final List<String> shown = new ArrayList<>();
    private String indent = "";
    private int ofFerro;
    private int ofTheJdk;
    private int ofJunit;
    private boolean ferroShown;

    FoldedTrace() {}

    /** Folds the lines of a trace as the JVM prints it. */
    public static List<String> of(List<String> trace) {
        FoldedTrace folded = new FoldedTrace();
        trace.forEach(folded::add);
        folded.count();
        return folded.shown;
    }

    /** Returns what is shown when the given line follows the earlier ones: nothing if the line is folded. */
    List<String> next(String line) {
        shown.clear();
        add(line);
        return List.copyOf(shown);
    }

    /** Returns what is shown at the end: the number of frames that were folded last. */
    List<String> last() {
        shown.clear();
        count();
        return List.copyOf(shown);
    }

    private void add(String line) {
        Matcher frame = FRAME.matcher(line);
        if (!frame.matches()) {
            count();
            // a message, or the next cause
            ferroShown = false;
            shown.add(line);
        } else if (ProgramFrames.isOfFerro(frame.group(2)) && ferroShown) {
            indent = frame.group(1);
            ofFerro++;
        } else if (ProgramFrames.isOfTheJdk(frame.group(2))) {
            indent = frame.group(1);
            ofTheJdk++;
        } else if (OF_JUNIT.matcher(frame.group(2)).matches()) {
            indent = frame.group(1);
            ofJunit++;
        } else {
            count();
            ferroShown = ferroShown || ProgramFrames.isOfFerro(frame.group(2));
            shown.add(line);
        }
    }

    private void count() {
        String folded = Stream.of(of(ofFerro, "ferro"), of(ofTheJdk, "the JDK"), of(ofJunit, "JUnit"))
                .filter(text -> !text.isEmpty())
                .collect(Collectors.joining(", "));
        if (!folded.isEmpty()) {
            shown.add(indent + "... " + folded);
        }
        ofFerro = 0;
        ofTheJdk = 0;
        ofJunit = 0;
    }

    private static String of(int count, String whose) {
        return count == 0 ? "" : count + (count == 1 ? " frame of " : " frames of ") + whose;
    }
}
