package ferro.backend.tcp.store;

import ferro.spi.GroupSpec;
import ferro.spi.RankContext;
import ferro.spi.Settings;
import java.net.InetAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalInt;
import java.util.StringJoiner;

/**
 * Facts about the host of a rank, which the rank itself publishes when it joins. They are used in messages.
 *
 * @param node   number of the rank's node, -1 if unknown
 * @param host   host name according to the kernel; empty if unknown
 * @param used   interface that receives the rank's data
 * @param faster faster interfaces that are up on the rank's host
 */
public record PeerHost(int node, String host, InterfaceSpeed used, List<InterfaceSpeed> faster) {
    public static final PeerHost UNKNOWN = new PeerHost(-1, "");

    private static final int MOST_HOST_CHARACTERS = 64;
    private static final int WORDS = 4;

    /** Replaces spaces in the host name and limits its length, because the name is one word of a line of text. */
    public PeerHost {
        String word = word(host);
        host = word.substring(0, Math.min(word.length(), MOST_HOST_CHARACTERS));
        faster = List.copyOf(faster);
    }

    /** Returns a text with a question mark in place of each character that ends a word or line, or is invisible. */
    private static String word(String text) {
        StringBuilder word = new StringBuilder();
        for (int at = 0; at < text.length(); at = text.offsetByCodePoints(at, 1)) {
            int letter = text.codePointAt(at);
            boolean kept = switch (Character.getType(letter)) {
                case Character.CONTROL, Character.FORMAT, Character.LINE_SEPARATOR, Character.PARAGRAPH_SEPARATOR ->
                    false;
                default -> letter != ' ';
            };
            word.appendCodePoint(kept ? letter : '?');
        }
        return word.toString();
    }

    /** Creates the machine of a rank with unknown interfaces. */
    public PeerHost(int node, String host) {
        this(node, host, InterfaceSpeed.UNKNOWN, List.of());
    }

    /** Returns the machine of this process, which listens at an address. */
    public static PeerHost of(GroupSpec spec, RankContext context, InetAddress bound) {
        // a rank that listens on loopback has only peers on its host, so its interfaces do not matter, and the search
        // takes time
        InterfaceSpeed used = bound.isLoopbackAddress() ? InterfaceSpeed.UNKNOWN : InterfaceSpeed.of(bound);
        int node = node(spec, context).orElse(-1);
        return new PeerHost(node, context.processes().host(), used, used.faster(InterfaceSpeed.SYSTEM));
    }

    /**
     * Returns the number of this rank's node. Empty unless all nodes have the same number of ranks and the ranks are
     * numbered node by node.
     */
    private static OptionalInt node(GroupSpec spec, RankContext context) {
        int local = Settings.LOCAL_RANK.find(context).orElse(-1);
        int each = Settings.LOCAL_WORLD_SIZE.find(context).orElse(0);
        boolean numbered = each > 0
                && local >= 0
                && each < spec.worldSize()
                && spec.worldSize() % each == 0
                && Math.floorMod(spec.rank(), each) == local;
        return numbered ? OptionalInt.of(spec.rank() / each) : OptionalInt.empty();
    }

    /** Returns this machine as one line of a {@link Roster.RankEntry}. */
    public String text() {
        StringJoiner others = new StringJoiner(",");
        for (InterfaceSpeed link : faster) {
            others.add(link.word());
        }
        return String.join(" ", "" + node, host, used.word(), others.toString());
    }

    /**
     * Parses the line of a machine in a {@link Roster.RankEntry}. The result has unknown values for invalid parts of
     * the line.
     */
    public static PeerHost parsed(String line) {
        String[] words = line.split(" ", -1);
        try {
            return words.length < WORDS
                    ? UNKNOWN
                    : new PeerHost(
                            Integer.parseInt(words[0]), words[1], InterfaceSpeed.parsed(words[2]), links(words[3]));
        } catch (NumberFormatException nonsense) {
            return UNKNOWN;
        }
    }

    private static List<InterfaceSpeed> links(String words) {
        List<InterfaceSpeed> links = new ArrayList<>();
        for (String word : words.isEmpty() ? new String[0] : words.split(",")) {
            links.add(InterfaceSpeed.parsed(word));
        }
        return List.copyOf(links);
    }

    /** Returns whether this machine and the other machine have the same name; false if a name is unknown. */
    public boolean isSameHost(PeerHost other) {
        return !host.isEmpty() && host.equals(other.host);
    }

    /** Returns a text such as {@code node 1 (host b, 10.99.0.2)}. Parts that are unknown are left out. */
    public String at(String address) {
        if (node >= 0) {
            return "node " + node + " (" + (host.isEmpty() ? "" : "host " + host + ", ") + address + ")";
        }
        return host.isEmpty() ? address : "host " + host + " (" + address + ")";
    }
}
