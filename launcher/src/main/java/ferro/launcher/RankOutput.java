package ferro.launcher;

import java.util.List;
import java.util.Optional;
import java.util.regex.Pattern;

/**
 * What a rank has printed, as far as a failed job's end shows it.
 *
 * @param rank      which
 * @param pid       of its process
 * @param trace     of the exception that ended it, as it was printed; empty if there is none
 * @param lastLines on either stream
 */
record RankOutput(int rank, long pid, List<String> trace, List<String> lastLines) {
    private static final String MAIN = "Exception in thread \"main\" ";
    private static final Pattern START = Pattern.compile("Exception in thread \"[^\"]*\" ");
    /** How failures of a group are told, also where a program has wrapped them. */
    private static final Pattern FAILURE_OF_A_GROUP = Pattern.compile(
            "(" + START.pattern() + "|\\s*Caused by: |\\s*Suppressed: )ferro\\.Ferro\\w*Exception\\b.*");

    private static final String OF_FERRO = "ferro.FerroException: ";
    /** Which call of this rank was told: the others were told in other calls. */
    private static final Pattern OWN_CALL =
            Pattern.compile("^(\\w+: ).*? on group \"[^\"]*\" rank \\d+(?: seq \\d+)?: ");

    /** Returns what is left of it where there is not room for all. */
    RankOutput brief() {
        return new RankOutput(
                rank,
                pid,
                trace.subList(0, Math.min(1, trace.size())),
                lastLines.subList(Math.max(0, lastLines.size() - 1), lastLines.size()));
    }

    /** Returns class and message of the exception that ended it. */
    Optional<String> thrown() {
        return trace.isEmpty()
                ? Optional.empty()
                : Optional.of(START.matcher(trace.get(0)).replaceFirst(""));
    }

    /** Whether an exception ended its main thread that is none of a failed group. */
    boolean threwItsOwn() {
        return !trace.isEmpty()
                && trace.get(0).startsWith(MAIN)
                && trace.stream()
                        .noneMatch(line -> FAILURE_OF_A_GROUP.matcher(line).matches());
    }

    /** Returns what ended it in one line that is the same for all ranks that heard the same; empty if it printed no trace. */
    Optional<String> reason() {
        return thrown().map(text -> text.startsWith(OF_FERRO)
                ? OWN_CALL.matcher(text.substring(OF_FERRO.length())).replaceFirst("$1")
                : text);
    }
}
