package ferro.launcher.output;

import ferro.recorder.ProgramFrames;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * A stack trace in short form, for the report and the screen. The short form has the exception and its causes, the
 * frames of the program, and the first frame of ferro. Other frames of ferro, of the JDK and of JUnit are only counted.
 * The log of the rank contains the complete trace. With {@code FERRO_FULL_TRACES=1}, the screen shows complete traces.
 */
public final class TraceShortener {
    private static final Pattern FRAME = Pattern.compile("(\\s*)at (?:[^\\s(]*/)?([^(/]+)\\(.*");

    private static final Pattern OF_JUNIT = Pattern.compile("org\\.junit\\..*");

    private final List<String> shown = new ArrayList<>();
    private String indent = "";
    private int ofFerro;
    private int ofTheJdk;
    private int ofJunit;
    private boolean ferroShown;

    TraceShortener() {}

    /** Returns the short form of a trace that the JVM has printed. */
    public static List<String> of(List<String> trace) {
        TraceShortener folded = new TraceShortener();
        trace.forEach(folded::add);
        folded.count();
        return folded.shown;
    }

    /** Returns the lines to show when the given line follows the earlier lines; none if the line is left out. */
    List<String> next(String line) {
        shown.clear();
        add(line);
        return List.copyOf(shown);
    }

    /** Returns the lines to show at the end of a trace: a line with the number of frames that were left out last. */
    List<String> last() {
        shown.clear();
        count();
        return List.copyOf(shown);
    }

    private void add(String line) {
        Matcher frame = FRAME.matcher(line);
        if (!frame.matches()) {
            count();
            // the line is a message or the next cause
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
