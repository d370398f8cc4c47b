package ferro.launcher.analyze;

import ferro.control.failure.Diagnosis;
import ferro.control.failure.Machines;
import ferro.control.failure.RankProcesses;
import ferro.control.failure.StatusAnswer;
import ferro.control.failure.WaitGraph;
import ferro.control.wire.RankSetFormat;
import ferro.launcher.analyze.RankRecording.RecordedOperation;
import java.util.BitSet;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * The state that each rank would have reported at one moment, according to the recordings. {@link Diagnosis} judges the
 * states by the rules by which running ranks judge each other. A {@code Diagnosis} covers one group. An analysis covers
 * all groups, and uses the rank numbers of the joined group.
 */
final class ReplayedStates {
    /** The value in place of a time for the state of each rank when the rank wrote its recording. */
    static final long AS_WRITTEN = Long.MAX_VALUE;
    /** Longest time from the end of a call that detected a failure to the record of the group's failure. */
    private static final long SLACK_NANOS = 10_000_000;
    /** The wait of a call above which the job makes no progress. */
    private static final long LONG_WAIT_NANOS = 1_000_000_000;

    private final MergedRecordings merge;
    private final long at;
    private final int[] ranks;
    private final Map<Integer, WaitingRank> waiting = new TreeMap<>();
    private final Map<Integer, BitSet> awaited = new HashMap<>();
    private final WaitGraph graph = new WaitGraph(rank -> awaited.getOrDefault(rank, new BitSet()));
    private final boolean collectives;

    /** A rank that waits in a call. */
    record WaitingRank(int rank, MergedGroup group, RecordedOperation operation) {}

    /**
     * The ranks that keep other ranks waiting.
     *
     * @param ranks      ranks to examine; empty if no rank keeps others waiting
     * @param isDeadlock whether the ranks to examine wait for each other
     */
    record BlamedRanks(SortedSet<Integer> ranks, boolean isDeadlock) {}

    private ReplayedStates(MergedRecordings merge, long at, boolean messages) {
        this.merge = merge;
        this.at = at;
        this.ranks = IntStream.range(0, merge.worldSize()).toArray();
        for (MergedGroup group : merge.groups()) {
            for (int rank : group.callers()) {
                firstOpen(group, rank).ifPresent(found -> waiting.merge(rank, found, ReplayedStates::later));
            }
        }
        collectives = !waiting.isEmpty();
        if (messages) {
            addMessages();
        }
        waiting.forEach((rank, one) -> awaited.put(rank, awaited(one)));
    }

    /**
     * Returns the states of all ranks at a time of the wall clock, in nanoseconds since 1970. A rank that only waits
     * for a message may have posted the receive in advance, and may do other work. Therefore, for {@link #AS_WRITTEN},
     * if ranks that wait for messages leave no rank to blame, only the collectives count.
     */
    static ReplayedStates at(MergedRecordings merge, long at) {
        ReplayedStates all = new ReplayedStates(merge, at, true);
        boolean inAdvance = at == AS_WRITTEN
                && all.collectives
                && (all.blamed().isDeadlock() || all.blamed().ranks().isEmpty());
        return inAdvance ? new ReplayedStates(merge, at, false) : all;
    }

    private void addMessages() {
        Map<Integer, WaitingRank> messages = new TreeMap<>();
        merge.recordings()
                .forEach((rank, recording) -> recording.operations().stream()
                        .filter(operation -> !waiting.containsKey(rank) && isMessage(operation) && isOpen(operation))
                        .max(Comparator.comparingLong(RecordedOperation::begun))
                        .flatMap(operation ->
                                group(rank, operation).map(group -> new WaitingRank(rank, group, operation)))
                        .ifPresent(found -> messages.put(rank, found)));
        waiting.putAll(messages);
    }

    private static boolean isMessage(RecordedOperation operation) {
        return !operation.ordered() && !operation.progress().waitingFor().isEmpty();
    }

    private boolean isOpen(RecordedOperation operation) {
        return operation.unfinished()
                && isBegun(operation)
                && (at == AS_WRITTEN || operation.ended() == 0 || operation.ended() >= at - SLACK_NANOS);
    }

    private boolean isBegun(RecordedOperation operation) {
        return operation.begun() <= at;
    }

    private Optional<MergedGroup> group(int rank, RecordedOperation operation) {
        return merge.groups().stream()
                .filter(group -> group.members().contains(rank)
                        && group.nameOn(rank).equals(operation.call().group()))
                .findFirst();
    }

    /** Returns the call in which a rank waits. If several calls are queued, this is the first call. */
    private Optional<WaitingRank> firstOpen(MergedGroup group, int rank) {
        return group.newest(rank)
                .dropWhile(operation -> !isBegun(operation))
                .takeWhile(this::isOpen)
                .reduce((later, earlier) -> earlier)
                .map(operation -> new WaitingRank(rank, group, operation));
    }

    /** Returns the call that began last, because a rank in two nested calls waits in the inner call. */
    private static WaitingRank later(WaitingRank one, WaitingRank other) {
        return one.operation().begun() > other.operation().begun() ? one : other;
    }

    /** Returns the ranks that have not made a rank's call, or else the ranks whose data this rank waits for. */
    private BitSet awaited(WaitingRank one) {
        long sequence = one.operation().call().sequence();
        BitSet needed = new BitSet();
        if (one.operation().ordered()) {
            one.group().members().stream()
                    .filter(rank -> sequence(one.group(), rank) < sequence)
                    .forEach(needed::set);
        }
        if (needed.isEmpty()) {
            one.operation().progress().waitingFor().forEach(needed::set);
            needed.clear(one.rank());
        }
        // a recording may contain rank numbers that the job does not have
        needed.clear(ranks.length, Math.max(ranks.length, needed.length()));
        needed.stream().filter(rank -> mayHaveCome(rank, one)).forEach(needed::clear);
        return needed;
    }

    /**
     * Returns whether a rank may have made a call after the rank wrote its recording. Returns true if the waiting rank
     * began the call after that recording, and has not waited long. Ranks of a running job write at different times.
     */
    private boolean mayHaveCome(int rank, WaitingRank one) {
        long begun = one.operation().begun();
        return at == AS_WRITTEN
                && merge.recordings().containsKey(rank)
                && merge.writtenAt(rank) < begun - SLACK_NANOS
                && merge.writtenAt(one.rank()) - begun < LONG_WAIT_NANOS;
    }

    /** Returns the number of the last call that a rank had begun. */
    private long sequence(MergedGroup group, int rank) {
        return group.newest(rank)
                .filter(this::isBegun)
                .findFirst()
                .map(last -> last.call().sequence())
                .orElse(0L);
    }

    /** Returns the states for one group; null for a rank without recording. A rank outside the group is not late. */
    private StatusAnswer[] of(MergedGroup group) {
        StatusAnswer[] answers = new StatusAnswer[ranks.length];
        SortedSet<Integer> members = group.members();
        for (int rank : ranks) {
            boolean member = members.contains(rank);
            if (!member || merge.recordings().containsKey(rank)) {
                long last = member ? sequence(group, rank) : Long.MAX_VALUE;
                long running = Optional.ofNullable(waiting.get(rank))
                        .filter(one -> member
                                && one.group() == group
                                && one.operation().ordered())
                        .map(one -> one.operation().call().sequence())
                        .orElse(0L);
                Set<Integer> waitsFor = RankSetFormat.numbers(awaited.getOrDefault(rank, new BitSet()));
                answers[rank] = new StatusAnswer(0, last, "", running, 0, 0, "", "", waitsFor, 0, 0, "");
            }
        }
        return answers;
    }

    /** Returns whether no rank waits in a call. */
    boolean isEmpty() {
        return waiting.isEmpty();
    }

    WaitingRank longest() {
        return byTime().iterator().next();
    }

    private Collection<WaitingRank> byTime() {
        return waiting.values().stream()
                .sorted(Comparator.comparingLong(one -> one.operation().begun()))
                .toList();
    }

    /**
     * Returns the ranks that keep other ranks waiting. Each waiting rank is judged separately, and the results are
     * united, as running ranks unite their results. Skips a rank that waits only for ranks whose waits were already
     * examined, because the result would be the same.
     */
    BlamedRanks blamed() {
        BitSet seen = new BitSet();
        BitSet blamed = new BitSet();
        Map<MergedGroup, StatusAnswer[]> answers = new HashMap<>();
        for (WaitingRank one : byTime()) {
            BitSet unseen = (BitSet) awaited.get(one.rank()).clone();
            unseen.andNot(seen);
            if (!seen.get(one.rank()) && !unseen.isEmpty()) {
                blamed.or(judged(one, answers.computeIfAbsent(one.group(), this::of)));
                seen.or(graph.reachedFrom(awaited.get(one.rank())));
                seen.set(one.rank());
            }
        }
        BitSet ends = new BitSet();
        blamed.stream().filter(rank -> awaitedBy(rank).isEmpty()).forEach(ends::set);
        BitSet circle = ends.isEmpty() ? graph.cycles(blamed) : new BitSet();
        boolean isDeadlock = !circle.isEmpty() && !isOneCall(circle);
        return new BlamedRanks(ranks(isDeadlock ? circle : ends), isDeadlock);
    }

    private BitSet awaitedBy(int rank) {
        return awaited.getOrDefault(rank, new BitSet());
    }

    private BitSet judged(WaitingRank one, StatusAnswer[] answers) {
        Machines machines = new Machines(one.rank(), ranks, RankProcesses.UNKNOWN);
        BitSet waitedFor = awaited.get(one.rank());
        if (one.operation().ordered()) {
            long sequence = one.operation().call().sequence();
            return new Diagnosis(machines, answers, new BitSet(), sequence)
                    .ofCollective(waitedFor)
                    .culprits();
        }
        String call = "in " + one.operation().call().text();
        return new Diagnosis(machines, answers, new BitSet(), 0)
                .ofWaiting(waitedFor, Diagnosis.OwnState.QUIET, call)
                .culprits();
    }

    /** Returns whether ranks wait for each other's data in one collective, which is normal during the collective. */
    private boolean isOneCall(BitSet circle) {
        return circle.stream()
                        .mapToObj(waiting::get)
                        .map(one -> one.operation().ordered()
                                ? List.of(
                                        one.group().name(),
                                        one.operation().call().sequence())
                                : one)
                        .distinct()
                        .count()
                == 1;
    }

    private static SortedSet<Integer> ranks(BitSet set) {
        return set.stream().boxed().collect(Collectors.toCollection(TreeSet::new));
    }

    /** Returns the calls in which ranks wait, and the ranks that they wait for. Equal waits share one entry. */
    List<Verdict.RanksInCall> calls() {
        Map<List<?>, Verdict.RanksInCall> same = new LinkedHashMap<>();
        waiting.forEach((rank, one) -> {
            SortedSet<Integer> needed = ranks(awaited.get(rank));
            if (!needed.isEmpty()) {
                String call = one.operation().call().name();
                same.computeIfAbsent(
                                List.of(call, needed), key -> new Verdict.RanksInCall(new TreeSet<>(), call, needed))
                        .ranks()
                        .add(rank);
            }
        });
        return List.copyOf(same.values());
    }
}
