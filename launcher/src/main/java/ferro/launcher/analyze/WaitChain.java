package ferro.launcher.analyze;

import ferro.launcher.analyze.Recording.Operation;
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
 * Who waits for whom: from every rank that is in a call to those that have not called it, or, where all have, to those that it
 * needs something from. Whoever stands at the end of all chains keeps the others waiting.
 */
final class WaitChain {
    private final Merge merge;
    private final Map<Integer, Waiting> waiting = new TreeMap<>();
    private final Map<Integer, SortedSet<Integer>> awaited = new LinkedHashMap<>();

    /** A rank that is in a call. */
    record Waiting(int rank, SharedGroup group, Operation operation) {}

    WaitChain(Merge merge) {
        this.merge = merge;
        for (SharedGroup group : merge.groups()) {
            for (int rank : group.members()) {
                unfinished(group, rank).ifPresent(found -> waiting.merge(rank, found, WaitChain::later));
            }
        }
        waiting.forEach((rank, one) -> awaited.put(rank, awaited(one)));
    }

    private static Optional<Waiting> unfinished(SharedGroup group, int rank) {
        // the first of several that were queued is the one that waits
        Optional<Operation> last = group.last(rank).filter(Operation::unfinished);
        while (last.isPresent()) {
            Optional<Operation> before =
                    group.before(rank, last.get().call().sequence()).filter(Operation::unfinished);
            if (before.isEmpty()) {
                break;
            }
            last = before;
        }
        return last.map(operation -> new Waiting(rank, group, operation));
    }

    /** A rank in two calls at once waits in the one that it began last, as in a nested call. */
    private static Waiting later(Waiting one, Waiting other) {
        return one.operation().begun() > other.operation().begun() ? one : other;
    }

    private static SortedSet<Integer> awaited(Waiting one) {
        SortedSet<Integer> behind = one.group().behind(one.operation().call().sequence());
        if (!behind.isEmpty()) {
            return behind;
        }
        SortedSet<Integer> needed = new TreeSet<>(one.operation().progress().waitingFor());
        needed.remove(one.rank());
        return needed;
    }

    /** Returns the rank that has waited longest. */
    Optional<Waiting> longest() {
        return waiting.values().stream()
                .min(Comparator.comparingLong(
                        one -> merge.at(one.rank(), one.operation().begun())));
    }

    /** Returns whoever others wait for and who waits for nobody; empty if there is none. */
    SortedSet<Integer> end() {
        SortedSet<Integer> end = new TreeSet<>();
        awaited.values().forEach(end::addAll);
        end.removeIf(rank -> !awaited.getOrDefault(rank, new TreeSet<>()).isEmpty());
        return end;
    }

    /** Returns ranks that wait for one another, or nobody. */
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

    /** Returns who waits for whom and in which call, one line for all that do the same. */
    List<String> story() {
        Map<String, SortedSet<Integer>> same = new LinkedHashMap<>();
        waiting.forEach((rank, one) -> {
            if (!awaited.get(rank).isEmpty()) {
                String call = one.operation().call().name() + " for " + Words.ranks(awaited.get(rank));
                same.computeIfAbsent(call, key -> new TreeSet<>()).add(rank);
            }
        });
        List<String> lines = new ArrayList<>();
        same.forEach((call, ranks) ->
                lines.add(Words.ranks(ranks) + (ranks.size() == 1 ? " waits in " : " wait in ") + call));
        return lines;
    }
}
