package ferro;

import java.io.Serializable;
import java.util.Objects;
import java.util.Optional;

/**
 * The end of the process of a dead rank, as the launcher of that rank reports the end. The report has the exit code or
 * signal, and the last line of output. Immutable.
 */
public final class RankEnd implements Serializable {
    /** The maximum length of the last line, in {@code char} values. */
    public static final int MAX_LINE_CHARS = 200;

    private static final long serialVersionUID = 2L;

    /** Process, exit code, signal and last line of this end. */
    private final End end;

    /**
     * The values of a rank's end.
     *
     * @param pid      process that the launcher started for the rank
     * @param host     host of the process
     * @param exitCode exit code; 128 + n if signal n ended the process
     * @param signal   name of the signal that ended the process, without SIG; empty if no signal ended the process
     * @param lastLine last line of output; empty if the report has no line
     */
    private record End(long pid, String host, int exitCode, String signal, String lastLine) implements Serializable {}

    private RankEnd(long pid, String host, int exitCode, String signal, String lastLine) {
        end = new End(pid, cleaned(host), exitCode, cleaned(signal), cleaned(lastLine));
    }

    /**
     * Creates the end of a process that no signal ended.
     *
     * @param pid      process that the launcher started for the rank
     * @param host     host of the process
     * @param exitCode exit code; 128 + n if signal n ended the process
     * @return end without a signal and without a last line
     * @throws NullPointerException if the host is null
     */
    public static RankEnd of(long pid, String host, int exitCode) {
        return new RankEnd(pid, Objects.requireNonNull(host, "host"), exitCode, "", "");
    }

    /**
     * Returns a copy of this end with the signal that ended the process.
     *
     * @param name signal without SIG, such as {@code KILL}; empty if no signal ended the process
     * @return end
     * @throws NullPointerException if the name is null
     */
    public RankEnd bySignal(String name) {
        return new RankEnd(end.pid, end.host, end.exitCode, Objects.requireNonNull(name, "name"), end.lastLine);
    }

    /**
     * Returns a copy of this end with the last line of output of the process. A line longer than {@link
     * #MAX_LINE_CHARS} is cut. In every text of an end, a question mark replaces each character that could change what
     * a terminal shows.
     *
     * @param line last line of output; empty if it is unknown
     * @return end
     * @throws NullPointerException if the line is null
     */
    public RankEnd afterLine(String line) {
        return new RankEnd(end.pid, end.host, end.exitCode, end.signal, Objects.requireNonNull(line, "line"));
    }

    private static String cleaned(String line) {
        StringBuilder clean = new StringBuilder();
        for (int at = 0; at < line.length(); ) {
            int point = line.codePointAt(at);
            at += Character.charCount(point);
            int shown = CallOptions.isPlain(point) ? point : '?';
            if (clean.length() + Character.charCount(shown) > MAX_LINE_CHARS) {
                break;
            }
            clean.appendCodePoint(shown);
        }
        return clean.toString();
    }

    /** {@return the process ID of the process that the launcher started for the rank} */
    public long pid() {
        return end.pid;
    }

    /** {@return the host of the process} */
    public String host() {
        return end.host;
    }

    /** {@return the exit code; 128 + n if signal n ended the process} */
    public int exitCode() {
        return end.exitCode;
    }

    /** {@return the signal that ended the process, without SIG; empty if no signal ended the process} */
    public Optional<String> signal() {
        return end.signal.isEmpty() ? Optional.empty() : Optional.of(end.signal);
    }

    /** {@return the last line of output, at most 200 characters; empty if it is unknown} */
    public Optional<String> lastLine() {
        return end.lastLine.isEmpty() ? Optional.empty() : Optional.of(end.lastLine);
    }

    /**
     * Returns one sentence about the end.
     *
     * @param rank rank of the process, in the numbers of the group that reports
     * @return for example {@code rank 2 (pid 17 on host b) was ended by signal KILL; its last line: step 3}
     */
    public String text(int rank) {
        String how =
                end.signal.isEmpty() ? "ended with exit code " + end.exitCode : "was ended by signal " + end.signal;
        String said = end.lastLine.isEmpty() ? "" : "; its last line: " + end.lastLine;
        return "rank " + rank + " (pid " + end.pid + " on host " + end.host + ") " + how + said;
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof RankEnd that && end.equals(that.end);
    }

    @Override
    public int hashCode() {
        return end.hashCode();
    }

    @Override
    public String toString() {
        // the text of the record begins with End
        return "Rank" + end;
    }
}
