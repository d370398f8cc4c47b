package ferro.launcher.analyze;

import ferro.control.failure.WaitGraph;
import ferro.launcher.analyze.RankRecording.RecordedOperation;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;

/**
 * Which rank waits for which: from every rank that is in a call to the ranks that have not made this call, or, if all have
 * made it, to the ranks that it needs something from; from a rank that waits for a message to the other rank. A rank at the end of all chains keeps the others waiting.
 */
final class WaitChain {
    /** Ranks record a failure of their group after the end of the call that has seen it, or before. */
    private static final long SLACK_NANOS = 10_000_000;

    private final Merge merge;
    private final long at;
    private final Map<Integer, WaitingRank> waiting = new TreeMap<>();
    private final Map<Integer, BitSet> awaited = new LinkedHashMap<>();
    private final WaitGraph graph = new WaitGraph(rank -> awaited.getOrDefault(rank, new BitSet()));

    /** A rank that is in a call. */
    record WaitingRank(int rank, SharedGroup group, RecordedOperation operation) {}

    WaitChain(Merge merge) {
        this(merge, Long.MAX_VALUE);
    }

    /** Looks at the ranks as they were at some time of the wall clock, in nanoseconds since 1970. */
    WaitChain(Merge merge, long at) {
        this.merge = merge;
        this.at = at;
        for (SharedGroup group : merge.groups()) {
            for (int rank : group.members()) {
                unfinished(group, rank).ifPresent(found -> waiting.merge(rank, found, WaitChain::later));
            }
        }
        waiting.forEach((rank, one) -> awaited.put(rank, awaited(one)));
        addMessages();
    }

    /**
     * Adds ranks that wait for a message and are in no collective. A rank may also have asked for a message in advance and do
     * something else. If the messages leave no rank at the end of all chains, only the collectives count.
     */
    private void addMessages() {
        Map<Integer, WaitingRank> messages = new TreeMap<>();
        merge.recordings()
                .forEach((rank, recording) -> recording.operations().stream()
                        .filter(operation ->
                                !waiting.containsKey(rank) && isMessage(operation) && isUnfinished(rank, operation))
                        .max(Comparator.comparingLong(RecordedOperation::begun))
                        .flatMap(operation ->
                                group(rank, operation).map(group -> new WaitingRank(rank, group, operation)))
                        .ifPresent(found -> messages.put(rank, found)));
        messages.forEach((rank, one) -> awaited.put(rank, awaited(one)));
        // a message that has timed out was waited for
        if (at == Long.MAX_VALUE && end().isEmpty() && !waiting.isEmpty()) {
            awaited.keySet().removeAll(messages.keySet());
        } else {
            waiting.putAll(messages);
        }
    }

    private static boolean isMessage(RecordedOperation operation) {
        return !operation.ordered() && !operation.progress().waitingFor().isEmpty();
    }

    private boolean isUnfinished(int rank, RecordedOperation operation) {
        return operation.unfinished()
                && isBegun(rank, operation)
                && (at == Long.MAX_VALUE
                        || operation.ended() == 0
                        || merge.at(rank, operation.ended()) >= at - SLACK_NANOS);
    }

    private boolean isBegun(int rank, RecordedOperation operation) {
        return merge.at(rank, operation.begun()) <= at;
    }

    private Optional<SharedGroup> group(int rank, RecordedOperation operation) {
        return merge.groups().stream()
                .filter(group -> group.members().contains(rank)
                        && group.nameOn(rank).equals(operation.call().group()))
                .findFirst();
    }

    private Optional<WaitingRank> unfinished(SharedGroup group, int rank) {
        // of several queued calls the first is the one that waits
        Optional<RecordedOperation> last = last(group, rank).filter(one -> isUnfinished(rank, one));
        while (last.isPresent()) {
            Optional<RecordedOperation> before =
                    group.before(rank, last.get().call().sequence()).filter(one -> isUnfinished(rank, one));
            if (before.isEmpty()) {
                break;
            }
            last = before;
        }
        return last.map(operation -> new WaitingRank(rank, group, operation));
    }

    /** Returns the last call that a rank had begun. */
    private Optional<RecordedOperation> last(SharedGroup group, int rank) {
        Optional<RecordedOperation> last = group.last(rank);
        while (last.isPresent() && !isBegun(rank, last.get())) {
            last = group.before(rank, last.get().call().sequence());
        }
        return last;
    }

    /** Returns the call begun last: a rank in two calls at once waits in that one, as in a nested call. */
    private static WaitingRank later(WaitingRank one, WaitingRank other) {
        return one.operation().begun() > other.operation().begun() ? one : other;
    }

    private BitSet awaited(WaitingRank one) {
        boolean ordered = one.operation().ordered();
        SortedSet<Integer> behind = behind(one.group(), one.operation().call().sequence());
        BitSet needed = new BitSet();
        if (ordered && !behind.isEmpty()) {
            behind.forEach(needed::set);
            return needed;
        }
        one.operation().progress().waitingFor().forEach(needed::set);
        needed.clear(one.rank());
        return needed;
    }

    private SortedSet<Integer> behind(SharedGroup group, long sequence) {
        SortedSet<Integer> behind = new TreeSet<>(group.members());
        behind.removeIf(rank -> last(group, rank)
                .filter(last -> last.call().sequence() >= sequence)
                .isPresent());
        return behind;
    }

    /** Returns the rank that has waited longest. */
    Optional<WaitingRank> longest() {
        return waiting.values().stream()
                .min(Comparator.comparingLong(
                        one -> merge.at(one.rank(), one.operation().begun())));
    }

    /** Returns the ranks that others wait for and that wait for no rank; empty if there are none. */
    SortedSet<Integer> end() {
        BitSet all = new BitSet();
        awaited.values().forEach(all::or);
        return ranks(graph.ends(all));
    }

    /** Returns ranks that wait for each other; empty if there are none. */
    SortedSet<Integer> circle() {
        BitSet all = new BitSet();
        awaited.keySet().forEach(all::set);
        return ranks(graph.cycles(all));
    }

    private static SortedSet<Integer> ranks(BitSet set) {
        return set.stream().boxed().collect(Collectors.toCollection(TreeSet::new));
    }

    /** Returns which rank waits for which and in which call, with one line for all ranks that do the same. */
    List<String> story() {
        Map<String, SortedSet<Integer>> same = new LinkedHashMap<>();
        waiting.forEach((rank, one) -> {
            if (!awaited.get(rank).isEmpty()) {
                String call = one.operation().call().name() + " for " + PlainTexts.ranks(ranks(awaited.get(rank)));
                same.computeIfAbsent(call, key -> new TreeSet<>()).add(rank);
            }
        });
        List<String> lines = new ArrayList<>();
        same.forEach((call, ranks) ->
                lines.add(PlainTexts.ranks(ranks) + (ranks.size() == 1 ? " waits in " : " wait in ") + call));
        return lines;
    }
}
