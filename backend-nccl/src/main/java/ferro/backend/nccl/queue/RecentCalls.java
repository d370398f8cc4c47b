package ferro.backend.nccl.queue;

import ferro.FerroException.Code;
import ferro.control.failure.Failure;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.StringJoiner;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * The last collectives of a rank. Ranks compare them only after NCCL has reported that the data of another rank does not
 * fit. Until then this class only keeps the description of each call, which refers to no tensor.
 *
 * <p>Any thread may use it.
 */
final class RecentCalls {
    /** A rank may be so many calls ahead of the rank that gets the error. */
    private static final int KEPT = 64;

    private final NcclWork.Title[] titles = new NcclWork.Title[KEPT];
    private long last;

    /** Adds the next collective. Sequence numbers begin with 1. */
    synchronized void add(NcclWork.Title title) {
        last++;
        titles[(int) (last % KEPT)] = title;
    }

    /**
     * Returns the sequence number of the first kept call, then the text of each call, one in a line. The texts have no labels,
     * because labels may differ between ranks.
     */
    synchronized byte[] encoded() {
        long first = Math.max(1, last - KEPT + 1);
        StringJoiner lines = new StringJoiner("\n").add(Long.toString(first));
        for (long sequence = first; sequence <= last; sequence++) {
            lines.add(titles[(int) (sequence % KEPT)].printWithoutLabel());
        }
        return lines.toString().getBytes(StandardCharsets.UTF_8);
    }

    /** Returns the text of each call by its sequence number. What is no encoded object has no calls. */
    private static Map<Long, String> decoded(byte[] encoded) {
        Map<Long, String> calls = new HashMap<>();
        String[] lines = new String(encoded, StandardCharsets.UTF_8).split("\n");
        if (!lines[0].matches("[0-9]{1,18}")) {
            return calls;
        }
        long first = Long.parseLong(lines[0]);
        for (int line = 1; line < lines.length; line++) {
            calls.put(first + line - 1, lines[line]);
        }
        return calls;
    }

    /**
     * Finds the first collective that ranks have made differently. A call that only one of the ranks has made, or no longer
     * keeps, is not compared.
     *
     * @param encoded   encoded calls of some ranks, by rank
     * @param identity  own rank, and the number of ranks; a call that more than half of them have made is the right one
     * @return the failure, which names a rank for each of the different calls; empty if no calls differ
     */
    static Optional<Failure> firstDifference(Map<Integer, byte[]> encoded, CommIdentity identity) {
        // by sequence number: ranks by text
        TreeMap<Long, TreeMap<String, List<Integer>>> made = new TreeMap<>();
        encoded.forEach((rank, bytes) -> decoded(bytes)
                .forEach((sequence, text) -> made.computeIfAbsent(sequence, none -> new TreeMap<>())
                        .computeIfAbsent(text, none -> new ArrayList<>())
                        .add(rank)));
        return made.entrySet().stream()
                .filter(call -> call.getValue().size() > 1)
                .findFirst()
                .map(call -> mismatch(call.getKey(), call.getValue(), identity));
    }

    private static Failure mismatch(long sequence, Map<String, List<Integer>> ranksByText, CommIdentity identity) {
        Map<Integer, String> textByRank = new TreeMap<>();
        for (Map.Entry<String, List<Integer>> one : ranksByText.entrySet()) {
            textByRank.put(Collections.min(one.getValue()), one.getKey());
        }
        StringJoiner calls = new StringJoiner(", ");
        textByRank.forEach((rank, text) -> calls.add("rank " + rank + " calls " + text));
        Set<Integer> culprits = new TreeSet<>();
        for (List<Integer> ranks : ranksByText.values()) {
            if (2 * ranks.size() <= identity.worldSize()) {
                culprits.addAll(ranks);
            }
        }
        String text = "ranks made different calls as seq " + sequence + ": " + calls
                + "; data does not fit since then at the latest, and results of any rank may be wrong";
        return identity.failure(Code.MISMATCH, culprits, text, null);
    }
}
