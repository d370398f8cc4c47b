package ferro.launcher.input;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * The ranks that wait for a debugger when they start ({@code --debug}). The JVM of a debugged rank listens on a free
 * port of loopback. The JVM chooses the port itself, so no other process can take the port first. The JVM prints the
 * port as a line of the rank. The launcher replaces this line by {@link #note}.
 *
 * @param ranks numbers of the ranks
 */
public record DebuggedRanks(Set<Integer> ranks) {
    public static final DebuggedRanks NONE = new DebuggedRanks(Set.of());

    private static final String OPTION = "--debug";
    private static final String AGENT = "-agentlib:jdwp=transport=dt_socket,server=y,suspend=y,address=127.0.0.1:0";
    /** The line that the JVM prints when it waits for a debugger: at its start, and after a debugger has detached. */
    private static final Pattern LISTENING =
            Pattern.compile("Listening for transport dt_socket at address: (?:\\S+:)?(\\d+)");

    private static final byte[] BEGIN = "Listening for transport ".getBytes(StandardCharsets.US_ASCII);

    /** Throws if the job does not have all of the debugged ranks. */
    void check(Placement placement) {
        for (int rank : new TreeSet<>(ranks)) {
            if (rank < 0 || rank >= placement.worldSize()) {
                throw new BadInputException(OPTION + " " + rank + ": need a rank from 0 to "
                        + (placement.worldSize() - 1) + ", as the job has " + placement.worldSize()
                        + (placement.worldSize() == 1 ? " rank" : " ranks"));
            }
        }
    }

    /** Returns the numbers of the debugged ranks in order, for example {@code 0, 2}; empty for no rank. */
    public String numbers() {
        return new TreeSet<>(ranks).stream().map(String::valueOf).collect(Collectors.joining(", "));
    }

    /** Whether any rank waits for a debugger. */
    public boolean areAny() {
        return !ranks.isEmpty();
    }

    /** Throws if any rank waits for a debugger. The launcher cannot add debugger options to a command after --. */
    public void refuse(String command) {
        if (areAny()) {
            throw new BadInputException(OPTION + " " + new TreeSet<>(ranks)
                    + " needs a Java program (Main.java, app.jar or"
                    + " a main class), found the command \"" + command + "\": start its debugger by hand, and set"
                    + " FERRO_DEBUG=true");
        }
    }

    /** Returns the command line of a rank. The first word of parameter {@code java} is the command of the JVM. */
    public List<String> commandLine(int rank, List<String> java) {
        if (!ranks.contains(rank)) {
            return java;
        }
        List<String> line = new ArrayList<>(java);
        line.add(1, AGENT);
        return line;
    }

    /** Whether a line may name a port, judged by its first bytes. Therefore most lines need not be decoded. */
    public static boolean mayName(byte[] line, int length) {
        return length > BEGIN.length && Arrays.equals(line, 0, BEGIN.length, BEGIN, 0, BEGIN.length);
    }

    /**
     * Returns the text that the launcher prints instead of a line of a rank; empty if the line does not name a port.
     *
     * @param again whether the rank has waited for a debugger before, so that the debugger has now detached and the
     *     rank runs
     */
    public Optional<String> note(int rank, String line, boolean again) {
        Matcher listening = LISTENING.matcher(line);
        return ranks.contains(rank) && listening.matches()
                ? Optional.of("rank " + rank + (again ? " goes on without a debugger" : " waits for a debugger")
                        + ": attach to localhost, port " + listening.group(1)
                        + " (in an IDE: Remote JVM Debug; or: jdb -attach localhost:" + listening.group(1) + ")")
                : Optional.empty();
    }
}
