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
 * The output of a rank, as far as the end of a failed job shows it.
 *
 * @param rank      number of the rank
 * @param pid       of its process
 * @param trace     of the exception that ended it, as it was printed; empty if there is none
 * @param lastLines last lines on either stream
 */
public record RankOutput(int rank, long pid, List<String> trace, List<String> lastLines) {
    private static final String MAIN = "Exception in thread \"main\" ";
    private static final Pattern START = Pattern.compile("Exception in thread \"[^\"]*\" ");
    /** Matches exceptions that report the failure of a group, also if a program has wrapped them. */
    private static final Pattern FAILURE_OF_A_GROUP = Pattern.compile(
            "(" + START.pattern() + "|\\s*Caused by: |\\s*Suppressed: )ferro\\.Ferro\\w*Exception\\b.*");

    private static final String OF_FERRO = "ferro.FerroException: ";
    private static final Pattern CODE = Pattern.compile("[A-Z_]+(?=:)");
    /** Matches where a call was made: a rank of a subgroup may have a second number. */
    private static final String CALL_LOCATION =
            " on group \".*?\" rank \\d+(?: \\(rank \\d+ of \".*?\"\\))?(?: seq \\d+)?";
    /** Matches an exception of ferro up to its call, and the text behind it. */
    private static final Pattern UP_TO_CALL =
            Pattern.compile("^(.*\\bferro\\.FerroException: \\w+: .*?" + CALL_LOCATION + "): .*");

    /** Matches the call in which this rank was told of the failure: the others were told in other calls. */
    private static final Pattern OWN_CALL = Pattern.compile("^(\\w+: ).*?" + CALL_LOCATION + ": ");

    /** Matches what ferro logs while a rank joins and works, which says nothing about its end. */
    private static final Pattern INFO_OF_FERRO = Pattern.compile("INFO ferro\\.[a-z.]+: ");

    /** Matches the failure of this rank to join a group of any name, with the ranks that have not come. */
    private static final String WAITED_IN_VAIN =
            "joining \".*\" as rank %d failed(?:, missing:| after \\d+ ms, waiting for"
                    + " ranks) \\[(\\d{1,9}(?:, \\d{1,9})*)] of \\d+(?:, which |: )";

    private static final String WARNING_ABOUT_A_RANK = "WARNING ferro.group: rank ";

    /** Returns whether a line of the log of ferro says nothing about the end of its rank. */
    static boolean isInfoOfFerro(String line) {
        return INFO_OF_FERRO.matcher(line).lookingAt();
    }

    /** Returns whether a line of the log of ferro warns about the wait for a rank, or about its silence. */
    static boolean isWarningAboutARank(String line) {
        return line.startsWith(WARNING_ABOUT_A_RANK);
    }

    /** Returns an exception of ferro with its code and its call, without what has failed. Other lines stay. */
    static String withoutText(String line) {
        return UP_TO_CALL.matcher(line).replaceFirst("$1");
    }

    /** Returns a shorter version, for a report without room for all. */
    public RankOutput brief() {
        List<String> last = lastLines.subList(Math.max(0, lastLines.size() - 1), lastLines.size());
        return new RankOutput(rank, pid, trace.subList(0, Math.min(1, trace.size())), last);
    }

    /**
     * Returns this output with other lines.
     *
     * @param changed returns the new line of a line
     */
    public RankOutput withLines(UnaryOperator<String> changed) {
        List<String> last = lastLines.stream().map(changed).toList();
        return new RankOutput(rank, pid, trace.stream().map(changed).toList(), last);
    }

    /** Returns class and message of the exception that ended the rank. */
    public Optional<String> thrown() {
        return trace.stream()
                .limit(1)
                .map(line -> START.matcher(line).replaceFirst(""))
                // a rank that is killed while it prints leaves the start of the line
                .filter(text -> !text.isBlank())
                .findFirst();
    }

    /**
     * Returns the line that says most of how the rank ended: the exception that ended it, or else its last line with text
     * that is not of the log of ferro. Empty if it printed none.
     */
    public String lastLine() {
        return thrown().orElseGet(() -> lastLines.stream()
                .filter(line -> !line.isBlank() && !isInfoOfFerro(line) && !isWarningAboutARank(line))
                .reduce("", (first, last) -> last));
    }

    /** Returns the ranks that this rank reports as missing from its failure to join; none if it did not fail so. */
    public Set<Integer> missing() {
        // an earlier line may be of a failure that the program has survived
        List<String> end =
                trace.isEmpty() ? lastLines.subList(Math.max(0, lastLines.size() - 1), lastLines.size()) : trace;
        return end.stream()
                .map(Pattern.compile(WAITED_IN_VAIN.replace("%d", "" + rank))::matcher)
                .filter(Matcher::find)
                .flatMap(found -> Stream.of(found.group(1).split(", ")))
                .map(Integer::valueOf)
                .collect(Collectors.toSet());
    }

    /** Returns the code of the exception of ferro that ended the rank. */
    public Optional<String> code() {
        return thrown().filter(text -> text.startsWith(OF_FERRO))
                .map(text -> CODE.matcher(text.substring(OF_FERRO.length())))
                .filter(Matcher::lookingAt)
                .map(Matcher::group);
    }

    /** Whether an exception ended its main thread that does not report the failure of a group. */
    public boolean threwItsOwn() {
        return !trace.isEmpty()
                && trace.get(0).startsWith(MAIN)
                && trace.stream()
                        .noneMatch(line -> FAILURE_OF_A_GROUP.matcher(line).matches());
    }

    /** Returns in one line why it ended, the same for all ranks told the same failure; empty if it printed no trace. */
    public Optional<String> reason() {
        return thrown().map(text -> text.startsWith(OF_FERRO)
                ? OWN_CALL.matcher(text.substring(OF_FERRO.length())).replaceFirst("$1")
                : text);
    }
}
