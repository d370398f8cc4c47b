package ferro.launcher.output;

import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.UnaryOperator;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * The part of a rank's output that a failure report uses.
 *
 * @param rank      number of the rank
 * @param pid       id of the rank's process
 * @param trace     trace of the exception that ended the rank, as printed; empty if no exception ended the rank
 * @param lastLines last lines of the rank on both streams
 */
public record RankOutput(int rank, long pid, List<String> trace, List<String> lastLines) {
    private static final String MAIN = "Exception in thread \"main\" ";
    private static final Pattern START = Pattern.compile("Exception in thread \"[^\"]*\" ");
    /** Matches exceptions that report the failure of a group, even exceptions that a program has wrapped. */
    private static final Pattern FAILURE_OF_A_GROUP = Pattern.compile(
            "(" + START.pattern() + "|\\s*Caused by: |\\s*Suppressed: )ferro\\.Ferro\\w*Exception\\b.*");

    private static final String OF_FERRO = "ferro.FerroException: ";
    private static final Pattern CODE = Pattern.compile("[A-Z_]+(?=:)");
    /** Matches the group, rank and sequence of a call. A rank of a subgroup may have a second number. */
    private static final String CALL_LOCATION =
            " on group \".*?\" rank \\d+(?: \\(rank \\d+ of \".*?\"\\))?(?: seq \\d+)?";
    /** Matches an exception of ferro up to its call, and the rest of the text. */
    private static final Pattern UP_TO_CALL =
            Pattern.compile("^(.*\\bferro\\.FerroException: \\w+: .*?" + CALL_LOCATION + "): .*");

    /** Matches the call in which this rank received the failure. Other ranks received the failure in other calls. */
    private static final Pattern OWN_CALL = Pattern.compile("^(\\w+: ).*?" + CALL_LOCATION + ": ");

    /** Matches lines that ferro logs while a rank joins and works, and that do not explain the end of a rank. */
    private static final Pattern INFO_OF_FERRO = Pattern.compile("INFO ferro\\.[a-z.]+: ");

    /** Matches the failure of this rank to join a group of any name, with the ranks that are missing. */
    private static final String WAITED_IN_VAIN =
            "joining \".*\" as rank %d failed(?:, missing:| after \\d+ ms, waiting for"
                    + " ranks) \\[(\\d{1,9}(?:, \\d{1,9})*)] of \\d+(?:, which |: )";

    private static final String WARNING_ABOUT_A_RANK = "WARNING ferro.group: rank ";

    /** Returns whether a line is an INFO line of ferro. An INFO line does not explain the end of a rank. */
    static boolean isInfoOfFerro(String line) {
        return INFO_OF_FERRO.matcher(line).lookingAt();
    }

    /** Returns whether a line is a warning of ferro about the wait for a rank, or about a silent rank. */
    static boolean isWarningAboutARank(String line) {
        return line.startsWith(WARNING_ABOUT_A_RANK);
    }

    /** Shortens an exception of ferro to its code and its call. Returns other lines unchanged. */
    static String withoutText(String line) {
        return UP_TO_CALL.matcher(line).replaceFirst("$1");
    }

    /** Returns a shorter version of this output, for a report that has too little space. */
    public RankOutput brief() {
        List<String> last = lastLines.subList(Math.max(0, lastLines.size() - 1), lastLines.size());
        return new RankOutput(rank, pid, trace.subList(0, Math.min(1, trace.size())), last);
    }

    /**
     * Returns this output with changed lines.
     *
     * @param changed returns the new line for a line
     */
    public RankOutput withLines(UnaryOperator<String> changed) {
        List<String> last = lastLines.stream().map(changed).toList();
        return new RankOutput(rank, pid, trace.stream().map(changed).toList(), last);
    }

    /** Returns the class and the message of the exception that ended the rank. */
    public Optional<String> thrown() {
        return trace.stream()
                .limit(1)
                .map(line -> START.matcher(line).replaceFirst(""))
                // a rank that is killed while it prints leaves the start of the line
                .filter(text -> !text.isBlank())
                .findFirst();
    }

    /**
     * Returns the line that best explains how the rank ended: the exception that ended the rank, or else its last line
     * that is not blank and not from ferro's log. Returns empty if the rank printed no such line.
     */
    public String lastLine() {
        return thrown().orElseGet(() -> lastLines.stream()
                .filter(line -> !line.isBlank() && !isInfoOfFerro(line) && !isWarningAboutARank(line))
                .reduce("", (first, last) -> last));
    }

    /** Returns the ranks that were missing when this rank failed to join; empty if the rank failed in another way. */
    public Set<Integer> missing() {
        // an earlier line may report a failure that the program has survived
        List<String> end =
                trace.isEmpty() ? lastLines.subList(Math.max(0, lastLines.size() - 1), lastLines.size()) : trace;
        return end.stream()
                .map(Pattern.compile(WAITED_IN_VAIN.replace("%d", "" + rank))::matcher)
                .filter(Matcher::find)
                .flatMap(found -> Stream.of(found.group(1).split(", ")))
                .map(Integer::valueOf)
                .collect(Collectors.toSet());
    }

    /** Returns the code of ferro's exception that ended the rank. */
    public Optional<String> code() {
        return thrown().filter(text -> text.startsWith(OF_FERRO))
                .map(text -> CODE.matcher(text.substring(OF_FERRO.length())))
                .filter(Matcher::lookingAt)
                .map(Matcher::group);
    }

    /** Whether an exception ended the main thread and does not report the failure of a group. */
    public boolean threwItsOwn() {
        return !trace.isEmpty()
                && trace.get(0).startsWith(MAIN)
                && trace.stream()
                        .noneMatch(line -> FAILURE_OF_A_GROUP.matcher(line).matches());
    }

    /** Returns one line about why the rank ended, equal for ranks with the same failure; empty without a trace. */
    public Optional<String> reason() {
        return thrown().map(text -> text.startsWith(OF_FERRO)
                ? OWN_CALL.matcher(text.substring(OF_FERRO.length())).replaceFirst("$1")
                : text);
    }
}
