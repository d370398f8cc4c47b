package ferro.launcher.analyze;

import ferro.launcher.analyze.RankRecording.RecordedOperation;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * Which rank waits for which: from every rank that is in a call to the ranks that have not made this call, or, if all have
 * made it, to the ranks that it needs something from. A rank at the end of all chains keeps the others waiting.
 */
final class WaitChain {
    private final Merge merge;
    private final Map<Integer, WaitingRank> waiting = new TreeMap<>();
    private final Map<Integer, SortedSet<Integer>> awaited = new LinkedHashMap<>();

    /** A rank that is in a call. */
    record WaitingRank(int rank, SharedGroup group, RecordedOperation operation) {}

    WaitChain(Merge merge) {
        this.merge = merge;
        for (SharedGroup group : merge.groups()) {
            for (int rank : group.members()) {
                unfinished(group, rank).ifPresent(found -> waiting.merge(rank, found, WaitChain::later));
            }
        }
        waiting.forEach((rank, one) -> awaited.put(rank, awaited(one)));
    }

    private static Optional<WaitingRank> unfinished(SharedGroup group, int rank) {
        // of several queued calls the first is the one that waits
        Optional<RecordedOperation> last = group.last(rank).filter(RecordedOperation::unfinished);
        while (last.isPresent()) {
            Optional<RecordedOperation> before =
                    group.before(rank, last.get().call().sequence()).filter(RecordedOperation::unfinished);
            if (before.isEmpty()) {
                break;
            }
            last = before;
        }
        return last.map(operation -> new WaitingRank(rank, group, operation));
    }

    /** Returns the call begun last: a rank in two calls at once waits in that one, as in a nested call. */
    private static WaitingRank later(WaitingRank one, WaitingRank other) {
        return one.operation().begun() > other.operation().begun() ? one : other;
    }

    private static SortedSet<Integer> awaited(WaitingRank one) {
        SortedSet<Integer> behind = one.group().behind(one.operation().call().sequence());
        if (!behind.isEmpty()) {
            return behind;
        }
        SortedSet<Integer> needed = new TreeSet<>(one.operation().progress().waitingFor());
        needed.remove(one.rank());
        return needed;
    }

    /** Returns the rank that has waited longest. */
    Optional<WaitingRank> longest() {
        return waiting.values().stream()
                .min(Comparator.comparingLong(
                        one -> merge.at(one.rank(), one.operation().begun())));
    }

    /** Returns the ranks that others wait for and that wait for no rank; empty if there are none. */
    SortedSet<Integer> end() {
        SortedSet<Integer> end = new TreeSet<>();
        awaited.values().forEach(end::addAll);
        end.removeIf(rank -> !awaited.getOrDefault(rank, new TreeSet<>()).isEmpty());
        return end;
    }

    /** Returns ranks that wait for one another; empty if there are none. */
    SortedSet<Integer> circle() {
        SortedSet<Integer> left = new TreeSet<>(awaited.keySet());
        boolean changed = true;
        while (changed) {
            SortedSet<Integer> others = left;
            changed = left.removeIf(rank -> awaited.get(rank).stream().noneMatch(others::contains)
                    || others.stream().noneMatch(other -> awaited.get(other).contains(rank)));
        }
        return left;
    }

    /** Returns which rank waits for which and in which call, with one line for all ranks that do the same. */
    List<String> story() {
        Map<String, SortedSet<Integer>> same = new LinkedHashMap<>();
        waiting.forEach((rank, one) -> {
            if (!awaited.get(rank).isEmpty()) {
                String call = one.operation().call().name() + " for " + PlainTexts.ranks(awaited.get(rank));
                same.computeIfAbsent(call, key -> new TreeSet<>()).add(rank);
            }
        });
        List<String> lines = new ArrayList<>();
        same.forEach((call, ranks) ->
                lines.add(PlainTexts.ranks(ranks) + (ranks.size() == 1 ? " waits in " : " wait in ") + call));
        return lines;
    }
}
