package ferro.launcher.analyze;

import ferro.control.failure.Failure;
import ferro.launcher.analyze.ProcessEnds.EndKind;
import ferro.launcher.analyze.ProcessEnds.ProcessEnd;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Function;

/**
 * The problem of a job, the ranks to blame, and the facts. {@link VerdictFormatter} forms sentences from a verdict.
 * Immutable.
 *
 * @param kind      kind of problem
 * @param guilty    ranks to examine; empty if no rank is to blame or no rank can be named
 * @param agreement the failure that the ranks report
 * @param scene     the call in which the problem was detected
 * @param facts     what the ranks did
 */
public record Verdict(
        ProblemKind kind, SortedSet<Integer> guilty, GroupFailure agreement, ProblemCall scene, VerdictFacts facts) {
    enum ProblemKind {
        /** A group has failed, and its members have recorded the reason. */
        FAILED,
        /** Ranks made different calls with one sequence number. */
        MISMATCH,
        /** Ranks wait for a rank that delays them. */
        WAITING,
        /** Ranks wait for each other in a cycle. */
        DEADLOCK,
        /** Groups failed only because ranks were ended from outside. */
        STOPPED,
        /** No recording shows a problem. */
        NOTHING
    }

    /**
     * The failure of the group that failed first.
     *
     * @param failure failure on which the ranks agree; empty if no group has failed
     * @param ranks   ranks that recorded the failure
     * @param others  failures of the same group that blame other ranks, by the rank that recorded them
     */
    record GroupFailure(Optional<Failure> failure, SortedSet<Integer> ranks, SortedMap<Integer, Failure> others) {
        static final GroupFailure NONE = new GroupFailure(Optional.empty(), new TreeSet<>(), new TreeMap<>());
    }

    /**
     * The call in which the problem was detected.
     *
     * @param group    name of the group of the call; empty for no group
     * @param sequence number of the call; -1 for a call without a number
     * @param call     kind, label, number and group of the call
     */
    record ProblemCall(String group, long sequence, String call) {
        static final ProblemCall NONE = new ProblemCall("", -1, "");
    }

    /**
     * Ranks in the same call.
     *
     * @param ranks   the ranks, ascending
     * @param call    name of the call
     * @param awaited ranks that {@code ranks} wait for
     */
    record RanksInCall(SortedSet<Integer> ranks, String call, SortedSet<Integer> awaited) {
        /** Returns the calls of ranks, without the ranks for which these calls wait. */
        static List<RanksInCall> of(SortedMap<Integer, String> calls) {
            return alike(calls.keySet(), calls::get).entrySet().stream()
                    .map(one -> new RanksInCall(one.getValue(), one.getKey(), new TreeSet<>()))
                    .toList();
        }
    }

    /**
     * The actions of the ranks, according to the recordings.
     *
     * @param conduct actions of the ranks to blame; if nothing is wrong, actions of the ranks without a recording
     * @param calls   calls that differ, or calls in which ranks wait, or in which ranks waited when they were ended
     * @param others  calls of the ranks that are not to blame
     * @param most    all ranks of the group that are not to blame and recorded calls; if no rank is to blame, all ranks
     *     whose recordings can be read
     * @param ended   ranks that ended abnormally and whose ends no failure explains
     * @param lost    nodes that a launcher has lost, each in one line
     */
    record VerdictFacts(
            SortedMap<Integer, RankActivity> conduct,
            List<RanksInCall> calls,
            List<RanksInCall> others,
            Set<Integer> most,
            SortedMap<Integer, ProcessEnd> ended,
            SortedSet<String> lost) {}

    /** {@return whether the ranks to examine wait for each other in a deadlock, so that no rank alone is to blame} */
    public boolean isDeadlock() {
        return kind == ProblemKind.DEADLOCK;
    }

    /**
     * Returns whether a given rank has recorded the failure on which the ranks agree.
     *
     * @param rank number of the rank
     * @return whether the verdict explains the end of the rank
     */
    public boolean explains(int rank) {
        return agreement.ranks().contains(rank);
    }

    /**
     * Returns whether a rank has recorded the failure on which the ranks agree, and has ended by an exception with the
     * code of this failure.
     *
     * @param rank number of the rank
     * @param code code of the exception that ended the rank
     * @return whether the verdict explains the end of the rank
     */
    public boolean explains(int rank, String code) {
        return explains(rank)
                && agreement
                        .failure()
                        .filter(one -> one.code().name().equals(code))
                        .isPresent();
    }

    /**
     * Returns whether the verdict reports that a rank to blame was suspended.
     *
     * @param rank number of the rank
     * @return whether a signal had suspended the rank's process
     */
    public boolean saysSuspended(int rank) {
        return Optional.ofNullable(facts.conduct().get(rank))
                .filter(one -> one.recording().missing())
                .flatMap(RankActivity::end)
                .filter(end -> end.kind() == EndKind.HALTED)
                .isPresent();
    }

    /** Groups the ranks that have the same value, in the order of the ranks. */
    static <V> Map<V, SortedSet<Integer>> alike(Iterable<Integer> ranks, Function<Integer, V> what) {
        Map<V, SortedSet<Integer>> alike = new LinkedHashMap<>();
        ranks.forEach(rank ->
                alike.computeIfAbsent(what.apply(rank), key -> new TreeSet<>()).add(rank));
        return alike;
    }
}
