package ferro.launcher.analyze;

import ferro.FerroException.Code;
import ferro.launcher.analyze.Conduct.OwnCall;
import ferro.launcher.analyze.RankRecording.OperationState;
import ferro.launcher.analyze.RankRecording.RecordedOperation;
import ferro.launcher.analyze.Verdict.CallScene;
import ferro.launcher.analyze.Verdict.RanksInCall;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.SortedMap;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Stream;

/** Finds in the recordings, and in the ends of the processes, what ranks did while others waited for them or lost them. */
final class Conducts {
    private final Merge merge;
    private final Ends ends;

    Conducts(Merge merge, Ends ends) {
        this.merge = merge;
        this.ends = ends;
    }

    /** Returns the conduct of ranks that are to blame for what was seen in a call of a group. */
    SortedMap<Integer, Conduct> of(Collection<Integer> guilty, SharedGroup group, long sequence) {
        SortedMap<Integer, Conduct> conduct = new TreeMap<>();
        guilty.forEach(rank -> conduct.put(
                rank,
                new Conduct(
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

    /** Returns what is known of ranks outside of any call. */
    SortedMap<Integer, Conduct> outside(Collection<Integer> ranks) {
        return of(ranks, new SharedGroup("", List.of()), -1);
    }

    private Conduct.Presence presence(int rank, SharedGroup group) {
        RankRecording own = merge.recordings().get(rank);
        boolean isEarlier = own != null
                && own.isAnswer()
                && !group.failures().containsKey(rank)
                && group.failures().keySet().stream()
                        .anyMatch(other -> merge.writtenAt(rank) < merge.failedAt(group, other));
        return new Conduct.Presence(
                own == null, Optional.ofNullable(merge.damaged().get(rank)), merge.outdated(rank), isEarlier);
    }

    /** Whether a rank ended by itself; its exit code may only mean that it had received the failure of another rank. */
    private boolean isByItself(int rank) {
        return Optional.ofNullable(ends.byRank().get(rank))
                .filter(end -> end.cameFirst() || end.kind() == Ends.EndKind.CODE && !heardOfAnother(rank))
                .isPresent();
    }

    private boolean heardOfAnother(int rank) {
        return merge.groups().stream()
                .flatMap(group -> Optional.ofNullable(group.failures().get(rank)).stream())
                .anyMatch(failure ->
                        !failure.culprits().isEmpty() && !failure.culprits().contains(rank));
    }

    /** Returns the ranks whose processes ended abnormally and that had received no failure. No rank blames them. */
    SortedMap<Integer, Ends.ProcessEnd> unexplained() {
        SortedMap<Integer, Ends.ProcessEnd> unexplained = new TreeMap<>();
        ends.byRank().forEach((rank, end) -> {
            if (end.bad()
                    && merge.groups().stream()
                            .noneMatch(group -> group.failures().containsKey(rank))) {
                unexplained.put(rank, end);
            }
        });
        return unexplained;
    }

    /** Returns the operations that a rank recorded of a group, including messages, the newest first. */
    private Stream<RecordedOperation> newest(int rank, SharedGroup group) {
        List<RecordedOperation> own = new ArrayList<>(operations(rank, group).toList());
        Collections.reverse(own);
        return own.stream();
    }

    private Stream<RecordedOperation> operations(int rank, SharedGroup group) {
        return Stream.ofNullable(merge.recordings().get(rank))
                .flatMap(recording -> recording.operations().stream())
                .filter(operation -> operation.call().group().equals(group.nameOn(rank)));
    }

    /**
     * Returns whether a rank may have reported a failure of a group. Its calls have failed with another code if it had failed
     * before by itself, as by a signal, and has only heard of this failure. A message that times out fails no group.
     */
    boolean hasReported(int rank, SharedGroup group, Code code) {
        List<String> codes = operations(rank, group)
                .filter(own -> own.state() == OperationState.FAILED)
                .filter(own -> own.ordered() || !own.code().equals(Code.TIMED_OUT.name()))
                .map(RecordedOperation::code)
                .toList();
        return codes.isEmpty() || codes.contains(code.name());
    }

    private Optional<OwnCall> call(int rank, SharedGroup group, long sequence) {
        return group.call(rank, sequence).map(own -> call(rank, own));
    }

    /** Returns the newest call of a rank that has not ended, or has failed as its group has. */
    private Optional<OwnCall> open(int rank, SharedGroup group) {
        String code = Optional.ofNullable(group.failures().get(rank))
                .map(failure -> failure.code().name())
                .orElse("");
        return newest(rank, group)
                .filter(own ->
                        own.state().open() || own.unfinished() && own.code().equals(code))
                .findFirst()
                .map(own -> call(rank, own));
    }

    /** Returns the last call before a number, or the call of this number if the rank has completed it. */
    private Optional<OwnCall> last(int rank, SharedGroup group, long sequence) {
        return group.call(rank, sequence)
                .filter(operation -> !operation.unfinished())
                .or(() -> group.newest(rank)
                        .filter(own -> own.call().sequence() < sequence)
                        .findFirst())
                .map(own -> call(own, othersGaveUp(rank, group, sequence) - merge.at(rank, own.ended())));
    }

    private OwnCall call(int rank, RecordedOperation own) {
        return call(own, merge.latest() - merge.at(rank, own.begun()));
    }

    private static OwnCall call(RecordedOperation own, long nanos) {
        return new OwnCall(own.call().name(), own.call().shortName(), own.state(), nanos, own.progress());
    }

    /** Returns the call of another group that the rank is in: a rank that is late in one group may be in a call of another. */
    private Optional<OwnCall> elsewhere(int rank, SharedGroup scene) {
        return merge.groups().stream()
                .filter(group -> group != scene)
                .flatMap(group -> group.last(rank).stream())
                .filter(operation -> operation.state().open())
                .findFirst()
                .map(own -> call(rank, own));
    }

    /** Returns when the first of the others gave up, or, if they still wait, when the last recording was written. */
    private long othersGaveUp(int rank, SharedGroup group, long sequence) {
        SortedSet<Integer> others = new TreeSet<>(group.callers());
        others.remove(rank);
        return others.stream()
                .flatMap(other -> awaiting(other, group, sequence, List.of(rank)).stream()
                        .filter(operation -> operation.ended() != 0)
                        .map(operation -> merge.at(other, operation.ended())))
                .min(Comparator.naturalOrder())
                .orElseGet(merge::latest);
    }

    /** Returns a rank's uncompleted call: the one with a number, else one that waits for some ranks, else any. */
    private Optional<RecordedOperation> awaiting(
            int rank, SharedGroup group, long sequence, Collection<Integer> ranks) {
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

    /** Returns the calls in which the ranks waited that are not to blame. A call that a rank has completed is not one. */
    List<RanksInCall> others(Collection<Integer> guilty, SharedGroup group, long sequence) {
        SortedMap<Integer, String> names = new TreeMap<>();
        innocent(guilty, group)
                .forEach(rank -> awaiting(rank, group, sequence, guilty)
                        .ifPresent(own -> names.put(rank, own.call().name())));
        return RanksInCall.of(names);
    }

    /** Returns the ranks of a group that are not to blame and recorded calls. */
    static SortedSet<Integer> innocent(Collection<Integer> guilty, SharedGroup group) {
        SortedSet<Integer> innocent = new TreeSet<>(group.callers());
        innocent.removeAll(guilty);
        return innocent;
    }

    /** Returns the scene of a call with a number: the name of the call, as any rank recorded it. */
    static CallScene scene(SharedGroup group, long sequence) {
        String name = group.callers().stream()
                .flatMap(rank -> group.call(rank, sequence).stream())
                .findFirst()
                .map(operation -> operation.call().name())
                .orElse("seq " + sequence + " of group \"" + group.name() + "\"");
        return new CallScene(group.name(), sequence, name);
    }
}
