package ferro.launcher.analyze;

import ferro.FerroException.Code;
import ferro.control.failure.CallComparison;
import ferro.control.failure.Failure;
import ferro.launcher.analyze.ProcessEnds.EndKind;
import ferro.launcher.analyze.ProcessEnds.ProcessEnd;
import ferro.launcher.analyze.RankActivity.RankCall;
import ferro.launcher.analyze.RankRecording.OperationState;
import ferro.launcher.analyze.RankRecording.RecordedCall;
import ferro.launcher.analyze.RankRecording.RecordedOperation;
import ferro.launcher.analyze.ReplayedStates.BlamedRanks;
import ferro.launcher.analyze.ReplayedStates.WaitingRank;
import ferro.launcher.analyze.Verdict.GroupFailure;
import ferro.launcher.analyze.Verdict.ProblemCall;
import ferro.launcher.analyze.Verdict.ProblemKind;
import ferro.launcher.analyze.Verdict.RanksInCall;
import ferro.launcher.analyze.Verdict.VerdictFacts;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Stream;

/**
 * The search for the verdict, by the same rules as running ranks. The failure of a group has the highest priority,
 * because its ranks have exchanged their states. The failures that ranks recorded are merged as running ranks merge
 * failures. If no group has failed, different calls under one sequence number are the problem. If the calls do not
 * differ, the verdict blames the ranks that a {@code Diagnosis} blames. The recordings and the ends of processes show
 * what the ranks to blame did.
 */
final class VerdictFinder {
    private final MergedRecordings merge;
    private final ProcessEnds ends;
    private final ReplayedStates now;
    /** The failures that members recorded for their groups, without failures that launchers caused. */
    private final Map<MergedGroup, SortedMap<Integer, Failure>> failures = new HashMap<>();

    private VerdictFinder(MergedRecordings merge, ProcessEnds ends) {
        this.merge = merge;
        this.ends = ends;
        this.now = ReplayedStates.at(merge, ReplayedStates.AS_WRITTEN);
        for (MergedGroup group : merge.groups()) {
            SortedMap<Integer, Failure> counting = new TreeMap<>();
            group.failures()
                    .forEach((rank, failure) -> Optional.ofNullable(
                                    ends.withoutConsequences(failure, rank, merge.failedAt(group, rank)))
                            .ifPresent(one -> counting.put(rank, one)));
            failures.put(group, counting);
        }
    }

    static Verdict verdict(MergedRecordings merge, ProcessEnds ends) {
        VerdictFinder investigation = new VerdictFinder(merge, ends);
        return investigation
                .timedOut()
                .or(investigation::failed)
                .or(investigation::mismatch)
                .or(investigation::stopped)
                .or(() -> investigation.waiting(investigation.now))
                .orElseGet(() ->
                        investigation.quiet(ProblemKind.NOTHING, investigation.outside(merge.missing()), List.of()));
    }

    /**
     * Returns the verdict on a rank that has ended because its send or receive timed out. A timeout of a message does
     * not fail a group. The end of the rank may have failed the group later.
     */
    private Optional<Verdict> timedOut() {
        return merge.recordings().keySet().stream()
                .flatMap(rank -> timedOut(rank).stream())
                .min(Long::compare)
                .filter(when -> merge.groups().stream().allMatch(group -> failedAt(group) > when))
                .flatMap(when -> waiting(ReplayedStates.at(merge, when)));
    }

    /** Returns the time at which the last call of a rank timed out, if the call is a send or receive. */
    private Optional<Long> timedOut(int rank) {
        List<RecordedOperation> all = merge.recordings().get(rank).operations();
        return all.stream()
                .skip(Math.max(0, all.size() - 1))
                .filter(last -> !last.ordered() && last.code().equals(Code.TIMED_OUT.name()))
                .map(RecordedOperation::ended)
                .findFirst();
    }

    private long failedAt(MergedGroup group) {
        return failures.get(group).keySet().stream()
                .mapToLong(rank -> merge.failedAt(group, rank))
                .min()
                .orElse(Long.MAX_VALUE);
    }

    /**
     * Returns the verdict on the group that failed first. A rank that leaves because of the first failure is missing in
     * other groups, which fail later. The clocks of hosts differ. Therefore only the own clock of a rank decides which
     * of the rank's groups failed first.
     */
    private Optional<Verdict> failed() {
        Set<MergedGroup> first = new HashSet<>();
        merge.recordings()
                .keySet()
                .forEach(rank -> merge.groups().stream()
                        .filter(group -> failures.get(group).containsKey(rank))
                        .min(Comparator.comparingLong(group -> merge.failedAt(group, rank)))
                        .ifPresent(first::add));
        return first.stream().min(Comparator.comparingLong(this::failedAt)).map(this::failed);
    }

    private Verdict failed(MergedGroup group) {
        Failure merged =
                failures.get(group).values().stream().reduce(Failure::merged).orElseThrow();
        GroupFailure agreement = agreement(group, merged);
        if (merged.code() == Code.MISMATCH && group.firstMismatch().isPresent()) {
            return mismatch(group, group.firstMismatch().get(), agreement);
        }
        ProblemCall scene = scene(group, merged.sequence() >= 0 ? merged.sequence() : group.top());
        if (merged.code() == Code.TIMED_OUT) {
            ReplayedStates then = ReplayedStates.at(merge, failedAt(group));
            BlamedRanks blamed = then.blamed();
            if (blamed.isDeadlock()
                    && !merged.culprits().isEmpty()
                    && blamed.ranks().containsAll(merged.culprits())) {
                return deadlock(then, scene, agreement);
            }
        }
        SortedSet<Integer> guilty = new TreeSet<>(merged.culprits());
        if (guilty.isEmpty() && !merged.isOnlySlow() && !now.blamed().isDeadlock()) {
            guilty = now.blamed().ranks();
        }
        return judged(ProblemKind.FAILED, guilty, agreement, new JudgedCall(group, scene, List.of()));
    }

    /** Returns the ranks that recorded the failure with the merged failure's text, and the other recorded failures. */
    private GroupFailure agreement(MergedGroup group, Failure merged) {
        SortedSet<Integer> ranks = new TreeSet<>();
        SortedMap<Integer, Failure> others = new TreeMap<>(failures.get(group));
        Failure same = others.values().stream()
                .filter(one -> one.code() == merged.code() && one.text().equals(merged.text()))
                .findFirst()
                .orElse(merged);
        others.forEach((rank, one) -> {
            if (one.code() == same.code() && one.culprits().equals(same.culprits())) {
                ranks.add(rank);
            }
        });
        others.keySet().removeAll(ranks);
        SortedSet<Integer> reporting = new TreeSet<>(ranks);
        reporting.removeIf(rank -> !hasReported(rank, group, same.code()));
        if (!reporting.isEmpty()) {
            ranks.retainAll(reporting);
        }
        return new GroupFailure(Optional.of(same), ranks, others);
    }

    /** The call in which ranks wait or have failed, and the ranks that wait in calls. */
    private record JudgedCall(MergedGroup group, ProblemCall scene, List<RanksInCall> calls) {}

    private Verdict judged(ProblemKind kind, SortedSet<Integer> guilty, GroupFailure agreement, JudgedCall at) {
        long sequence = at.scene().sequence();
        return new Verdict(
                kind,
                guilty,
                agreement,
                at.scene(),
                new VerdictFacts(
                        conduct(guilty, at.group(), sequence),
                        at.calls(),
                        others(guilty, at.group(), sequence),
                        innocent(guilty, at.group()),
                        unexplained(),
                        ends.lost()));
    }

    private Verdict deadlock(ReplayedStates then, ProblemCall scene, GroupFailure agreement) {
        return new Verdict(ProblemKind.DEADLOCK, then.blamed().ranks(), agreement, scene, facts(then.calls()));
    }

    private VerdictFacts facts(List<RanksInCall> calls) {
        return new VerdictFacts(new TreeMap<>(), calls, List.of(), Set.of(), unexplained(), ends.lost());
    }

    private Optional<Verdict> mismatch() {
        return merge.groups().stream()
                .filter(group -> group.firstMismatch().isPresent())
                .findFirst()
                .map(group -> mismatch(group, group.firstMismatch().get(), GroupFailure.NONE));
    }

    private Verdict mismatch(MergedGroup group, long sequence, GroupFailure agreement) {
        SortedMap<Integer, String> texts = group.texts(sequence);
        List<RanksInCall> calls = RanksInCall.of(texts).stream()
                .sorted(Comparator.comparing(RanksInCall::call))
                .toList();
        return new Verdict(
                ProblemKind.MISMATCH,
                new TreeSet<>(CallComparison.odd(texts)),
                agreement,
                scene(group, sequence),
                facts(calls));
    }

    /** Returns a verdict without blame, even for a missing rank, if launchers caused all failures by ending ranks. */
    private Optional<Verdict> stopped() {
        if (merge.groups().stream().allMatch(group -> group.failures().isEmpty())) {
            return Optional.empty();
        }
        List<RanksInCall> calls = ends.stoppedWallNanos().values().stream()
                .min(Comparator.naturalOrder())
                .map(at -> ReplayedStates.at(merge, at).calls())
                .orElse(List.of());
        return Optional.of(quiet(ProblemKind.STOPPED, outside(ends.stopped()), calls));
    }

    private Optional<Verdict> waiting(ReplayedStates answers) {
        if (answers.isEmpty()) {
            return Optional.empty();
        }
        WaitingRank longest = answers.longest();
        RecordedCall call = longest.operation().call();
        ProblemCall scene = new ProblemCall(longest.group().name(), call.sequence(), call.name());
        BlamedRanks blamed = answers.blamed();
        JudgedCall at = new JudgedCall(longest.group(), scene, answers.calls());
        return Optional.of(
                blamed.isDeadlock()
                        ? deadlock(answers, scene, GroupFailure.NONE)
                        : judged(ProblemKind.WAITING, blamed.ranks(), GroupFailure.NONE, at));
    }

    /** Returns a verdict that blames no rank. */
    private Verdict quiet(ProblemKind kind, SortedMap<Integer, RankActivity> conduct, List<RanksInCall> calls) {
        return new Verdict(
                kind,
                new TreeSet<>(),
                GroupFailure.NONE,
                ProblemCall.NONE,
                new VerdictFacts(conduct, calls, List.of(), merge.recordings().keySet(), unexplained(), ends.lost()));
    }

    /** Returns the actions of the ranks to blame with regard to a problem in a call of a group. */
    private SortedMap<Integer, RankActivity> conduct(Collection<Integer> guilty, MergedGroup group, long sequence) {
        SortedMap<Integer, RankActivity> conduct = new TreeMap<>();
        guilty.forEach(rank -> conduct.put(
                rank,
                new RankActivity(
                        Optional.ofNullable(ends.byRank().get(rank)),
                        isByItself(rank),
                        presence(rank, group),
                        call(rank, group, sequence),
                        last(rank, group, sequence),
                        open(rank, group).or(() -> elsewhere(rank, group)),
                        group.reached(rank, sequence),
                        Optional.ofNullable(merge.recordings().get(rank)).flatMap(RankRecording::line),
                        Optional.ofNullable(merge.recordings().get(rank)).flatMap(RankRecording::exitLine))));
        return conduct;
    }

    /** Returns the actions of ranks for a problem without a call. */
    private SortedMap<Integer, RankActivity> outside(Collection<Integer> ranks) {
        return conduct(ranks, new MergedGroup("", List.of()), -1);
    }

    private RankActivity.RecordingStatus presence(int rank, MergedGroup group) {
        RankRecording own = merge.recordings().get(rank);
        boolean isEarlier = own != null
                && own.isAnswer()
                && !group.failures().containsKey(rank)
                && group.failures().keySet().stream()
                        .anyMatch(other -> merge.writtenAt(rank) < merge.failedAt(group, other));
        return new RankActivity.RecordingStatus(
                own == null, Optional.ofNullable(merge.damaged().get(rank)), merge.outdated(rank), isEarlier);
    }

    /** Whether a rank ended by itself. The exit code of a rank may only be a result of another rank's failure. */
    private boolean isByItself(int rank) {
        return Optional.ofNullable(ends.byRank().get(rank))
                .filter(end -> end.cameFirst() || end.kind() == EndKind.CODE && !heardOfAnother(rank))
                .isPresent();
    }

    private boolean heardOfAnother(int rank) {
        return merge.groups().stream()
                .flatMap(group -> Optional.ofNullable(group.failures().get(rank)).stream())
                .anyMatch(failure ->
                        !failure.culprits().isEmpty() && !failure.culprits().contains(rank));
    }

    /** Returns ranks with an abnormal end that received no failure and that no other rank blames. */
    private SortedMap<Integer, ProcessEnd> unexplained() {
        SortedMap<Integer, ProcessEnd> unexplained = new TreeMap<>();
        ends.byRank().forEach((rank, end) -> {
            if (end.bad()
                    && merge.groups().stream()
                            .noneMatch(group -> group.failures().containsKey(rank))) {
                unexplained.put(rank, end);
            }
        });
        return unexplained;
    }

    /** Returns the recorded operations of a rank in a group, including messages, the newest first. */
    private Stream<RecordedOperation> newest(int rank, MergedGroup group) {
        List<RecordedOperation> own = new ArrayList<>(operations(rank, group).toList());
        Collections.reverse(own);
        return own.stream();
    }

    private Stream<RecordedOperation> operations(int rank, MergedGroup group) {
        return Stream.ofNullable(merge.recordings().get(rank))
                .flatMap(recording -> recording.operations().stream())
                .filter(operation -> operation.call().group().equals(group.nameOn(rank)));
    }

    /**
     * Returns whether a rank may have reported a failure of a group. If a rank failed by itself before, for example by
     * a signal, its calls failed with another code, and the rank only received the failure of the group. A timeout of a
     * message does not fail a group.
     */
    private boolean hasReported(int rank, MergedGroup group, Code code) {
        List<String> codes = operations(rank, group)
                .filter(own -> own.state() == OperationState.FAILED)
                .filter(own -> own.ordered() || !own.code().equals(Code.TIMED_OUT.name()))
                .map(RecordedOperation::code)
                .toList();
        return codes.isEmpty() || codes.contains(code.name());
    }

    private Optional<RankCall> call(int rank, MergedGroup group, long sequence) {
        return group.call(rank, sequence).map(this::call);
    }

    /** Returns the newest call of a rank that has not ended, or that has failed with the code of its group. */
    private Optional<RankCall> open(int rank, MergedGroup group) {
        String code = Optional.ofNullable(group.failures().get(rank))
                .map(failure -> failure.code().name())
                .orElse("");
        return newest(rank, group)
                .filter(own ->
                        own.state().open() || own.unfinished() && own.code().equals(code))
                .findFirst()
                .map(this::call);
    }

    /** Returns a rank's last call before a number, or the call with this number if the rank has completed the call. */
    private Optional<RankCall> last(int rank, MergedGroup group, long sequence) {
        return group.call(rank, sequence)
                .filter(operation -> !operation.unfinished())
                .or(() -> group.newest(rank)
                        .filter(own -> own.call().sequence() < sequence)
                        .findFirst())
                .map(own -> call(own, othersGaveUp(rank, group, sequence) - own.ended()));
    }

    private RankCall call(RecordedOperation own) {
        return call(own, merge.latest() - own.begun());
    }

    private static RankCall call(RecordedOperation own, long nanos) {
        return new RankCall(own.call().name(), own.call().shortName(), own.state(), nanos, own.progress());
    }

    /** Returns the open call of a rank in another group, because of which the rank may be late in this group. */
    private Optional<RankCall> elsewhere(int rank, MergedGroup scene) {
        return merge.groups().stream()
                .filter(group -> group != scene)
                .flatMap(group -> group.last(rank).stream())
                .filter(operation -> operation.state().open())
                .findFirst()
                .map(this::call);
    }

    /** Returns the time at which another rank first gave up or, if all still wait, the time of the last recording. */
    private long othersGaveUp(int rank, MergedGroup group, long sequence) {
        SortedSet<Integer> others = new TreeSet<>(group.callers());
        others.remove(rank);
        return others.stream()
                .flatMap(other -> awaiting(other, group, sequence, List.of(rank)).stream()
                        .map(RecordedOperation::ended)
                        .filter(ended -> ended != 0))
                .min(Comparator.naturalOrder())
                .orElseGet(merge::latest);
    }

    /** Returns an open or failed call of a rank: the numbered call, else a call that waits for ranks, else any call. */
    private Optional<RecordedOperation> awaiting(
            int rank, MergedGroup group, long sequence, Collection<Integer> ranks) {
        return Stream.of(
                        group.call(rank, sequence).stream(),
                        operations(rank, group)
                                .filter(own ->
                                        !Collections.disjoint(own.progress().waitingFor(), ranks)),
                        operations(rank, group))
                .flatMap(own -> own)
                .filter(RecordedOperation::unfinished)
                .findFirst();
    }

    /** Returns the calls in which the ranks that are not to blame waited. Completed calls are omitted. */
    private List<RanksInCall> others(Collection<Integer> guilty, MergedGroup group, long sequence) {
        SortedMap<Integer, String> names = new TreeMap<>();
        innocent(guilty, group)
                .forEach(rank -> awaiting(rank, group, sequence, guilty)
                        .ifPresent(own -> names.put(rank, own.call().name())));
        return RanksInCall.of(names);
    }

    /** Returns the ranks of a group that are not to blame and recorded calls. */
    private static SortedSet<Integer> innocent(Collection<Integer> guilty, MergedGroup group) {
        SortedSet<Integer> innocent = new TreeSet<>(group.callers());
        innocent.removeAll(guilty);
        return innocent;
    }

    /** Returns the description of the call with a number. The name comes from any rank that recorded the call. */
    private static ProblemCall scene(MergedGroup group, long sequence) {
        String name = group.callers().stream()
                .flatMap(rank -> group.call(rank, sequence).stream())
                .findFirst()
                .map(operation -> operation.call().name())
                .orElse("seq " + sequence + " of group \"" + group.name() + "\"");
        return new ProblemCall(group.name(), sequence, name);
    }
}
