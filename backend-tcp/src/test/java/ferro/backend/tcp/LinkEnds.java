package ferro.backend.tcp;

import static org.junit.jupiter.api.Assertions.assertEquals;

import ferro.backend.tcp.mesh.ConnectionPurpose;
import ferro.backend.tcp.net.Hello;
import ferro.backend.tcp.net.TcpProxy.End;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.logging.Handler;
import java.util.logging.Level;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import java.util.logging.SimpleFormatter;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Compares the ends that a proxy makes with what both ranks of each link log about them. Listens to the log of TCP links while it is
 * open.
 */
final class LinkEnds extends Handler implements AutoCloseable {
    private static final Pattern MADE_ANEW = Pattern.compile(
            "the collective connection of rank (\\d+) to rank (\\d+) of .* was reconnected \\(epoch (\\d+)\\): (.*)");

    private final Logger logger = Logger.getLogger("ferro.tcp");
    private final Level before = logger.getLevel();
    private final List<Ended> ends = new ArrayList<>();
    private final Map<Side, Seen> seen = new ConcurrentHashMap<>();
    private final Queue<String> twice = new ConcurrentLinkedQueue<>();

    /** How a rank saw that a connection of one of its links had ended. */
    private enum Seen {
        /** The end of the stream, looked for before a write. */
        END_BEFORE_A_WRITE("the old connection ended \\(closed by the other side, after \\d+ bytes from that side\\)"),
        /** The end of the stream, found by a read. */
        END_IN_A_READ("the old connection ended, or its key reached its limit"),
        RESET("the old connection ended \\(.*[Cc]onnection reset.*\\)"),
        /** The other rank saw the end first. */
        REPLACED_BY_THE_PEER("rank \\d+ replaced the old connection"),
        UNEXPLAINED(".*");

        private final Pattern text;

        Seen(String text) {
            this.text = Pattern.compile(text);
        }

        static Seen of(String text) {
            for (Seen each : values()) {
                if (each.text.matcher(text).matches()) {
                    return each;
                }
            }
            throw new AssertionError("a text of several lines: " + text);
        }
    }

    /** One end by the proxy: the connection of an epoch between two ranks. */
    private record Ended(int lower, int higher, int epoch, End how) {
        Side atLower() {
            return new Side(lower, higher, epoch + 1);
        }

        Side atHigher() {
            return new Side(higher, lower, epoch + 1);
        }
    }

    /** What one rank logs: its link to a peer goes on in this epoch. */
    private record Side(int rank, int peer, int epoch) {}

    LinkEnds() {
        logger.setLevel(Level.FINE);
        logger.addHandler(this);
    }

    /** Notes which connections a proxy ended; returns how many of them were links, and no doorbells. */
    int add(List<Hello> ended, End how) {
        int links = 0;
        for (Hello each : ended) {
            if (each.channel().lane() == ConnectionPurpose.COLLECTIVE.ordinal()) {
                ends.add(new Ended(
                        each.member().rank(), each.member().to(), each.channel().epoch(), how));
                links++;
            }
        }
        return links;
    }

    /** Returns whether both ranks of every link that was ended have logged that it goes on. */
    boolean areAllReported() {
        return ends.stream().allMatch(end -> seen.containsKey(end.atLower()) && seen.containsKey(end.atHigher()));
    }

    /** Asserts that both ranks saw each end once, in a way that fits it, and that no link was made anew without an end. */
    void assertEachIsExplained() {
        List<String> wrong = new ArrayList<>(twice);
        for (Ended end : ends) {
            Seen lower = seen.get(end.atLower());
            Seen higher = seen.get(end.atHigher());
            if (!fits(lower, end.how) || !fits(higher, end.how) || lower == higher && isOfPeer(lower)) {
                wrong.add(end + " was seen as " + lower + " and " + higher);
            }
        }
        assertEquals(List.of(), wrong, "unexplained ends");
        assertEquals(2 * ends.size(), seen.size(), () -> "links made anew: " + seen + ", ended: " + ends);
    }

    private static boolean isOfPeer(Seen how) {
        return how == Seen.REPLACED_BY_THE_PEER;
    }

    private static boolean fits(Seen how, End end) {
        if (how == null || how == Seen.UNEXPLAINED) {
            return false;
        }
        return end == End.RESET || how != Seen.RESET;
    }

    @Override
    public void publish(LogRecord said) {
        Matcher line = MADE_ANEW.matcher(new SimpleFormatter().formatMessage(said));
        if (line.matches()) {
            Side side = new Side(number(line, 1), number(line, 2), number(line, 3));
            if (seen.put(side, Seen.of(line.group(4))) != null) {
                twice.add(side + " was made anew twice");
            }
        }
    }

    private static int number(Matcher line, int group) {
        return Integer.parseInt(line.group(group));
    }

    @Override
    public void flush() {
        // nothing is kept back
    }

    @Override
    public void close() {
        logger.removeHandler(this);
        logger.setLevel(before);
    }
}
