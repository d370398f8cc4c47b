package ferro.backend.tcp.rendezvous;

import ferro.spi.GroupSpec;
import ferro.spi.RankContext;
import ferro.spi.Settings;
import java.net.InetAddress;
import java.util.Arrays;
import java.util.List;
import java.util.OptionalInt;
import java.util.stream.Collectors;

/**
 * The machine of a rank, as the rank itself reports it when it joins; for messages.
 *
 * @param node   number of its node, -1 if it is not known
 * @param host   name that its kernel has for the machine; empty if it is unknown
 * @param used   interface over which its data comes in
 * @param faster faster interfaces that are up there
 */
public record PeerMachine(int node, String host, NetLink used, List<NetLink> faster) {
    public static final PeerMachine UNKNOWN = new PeerMachine(-1, "");

    private static final int MOST_HOST_CHARACTERS = 64;
    private static final int WORDS = 4;

    /** Cuts the name to one word, because it is part of lines with other words. */
    public PeerMachine {
        String word = host.replaceAll("[\\s\\p{Cc}\\p{Cf}\\p{Zl}\\p{Zp}]", "?");
        host = word.substring(0, Math.min(word.length(), MOST_HOST_CHARACTERS));
        faster = List.copyOf(faster);
    }

    /** Makes a machine with unknown interfaces. */
    public PeerMachine(int node, String host) {
        this(node, host, NetLink.UNKNOWN, List.of());
    }

    /** Returns the machine of this process, which listens on an address. */
    public static PeerMachine of(GroupSpec spec, RankContext context, InetAddress bound) {
        // between ranks of one machine interfaces do not matter, and finding them takes time
        NetLink used = bound.isLoopbackAddress() ? NetLink.UNKNOWN : NetLink.of(bound);
        int node = node(spec, context).orElse(-1);
        return new PeerMachine(node, context.processes().host(), used, used.faster(NetLink.SYSTEM));
    }

    /** Returns the number of the node; nodes are numbered only if all have equally many ranks, in the order of the ranks. */
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

    /** Returns one line of a card. */
    public String text() {
        String others = faster.stream().map(NetLink::word).collect(Collectors.joining(","));
        return String.join(" ", "" + node, host, used.word(), others);
    }

    /** Reads a line of a card; invalid parts count as unknown. */
    public static PeerMachine parsed(String line) {
        String[] words = line.split(" ", -1);
        try {
            return words.length < WORDS
                    ? UNKNOWN
                    : new PeerMachine(Integer.parseInt(words[0]), words[1], NetLink.parsed(words[2]), links(words[3]));
        } catch (NumberFormatException nonsense) {
            return UNKNOWN;
        }
    }

    private static List<NetLink> links(String words) {
        return words.isEmpty()
                ? List.of()
                : Arrays.stream(words.split(",")).map(NetLink::parsed).toList();
    }

    /** Returns whether both machines have the same name; false if a name is unknown. */
    public boolean isSameHost(PeerMachine other) {
        return !host.isEmpty() && host.equals(other.host);
    }

    /** Returns {@code node 1 (host b, 10.99.0.2)}, or the parts of it that are known. */
    public String at(String address) {
        if (node >= 0) {
            return "node " + node + " (" + (host.isEmpty() ? "" : "host " + host + ", ") + address + ")";
        }
        return host.isEmpty() ? address : "host " + host + " (" + address + ")";
    }
}
