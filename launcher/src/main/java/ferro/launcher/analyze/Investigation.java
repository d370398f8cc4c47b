package ferro.launcher.analyze;

import ferro.FerroException.Code;
import ferro.control.failure.CallsThatDiffer;
import ferro.control.failure.Failure;
import ferro.launcher.analyze.RankRecording.RecordedCall;
import ferro.launcher.analyze.RankRecording.RecordedOperation;
import ferro.launcher.analyze.Verdict.Agreement;
import ferro.launcher.analyze.Verdict.CallScene;
import ferro.launcher.analyze.Verdict.ProblemKind;
import ferro.launcher.analyze.Verdict.RanksInCall;
import ferro.launcher.analyze.Verdict.VerdictFacts;
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

/**
 * Reaches a verdict by the rules of the ranks. The failure of a group counts first, because its ranks have consulted one
 * another: their failures are merged as ranks merge them. If nothing has failed yet, different calls under one sequence
 * number count next, and then the ranks that a {@code Diagnosis} blames.
 */
final class Investigation {
    private final Merge merge;
    private final Ends ends;
    private final Conducts conducts;
    private final Answers now;
    /** The failures that members recorded for their groups, without those that the launchers caused by ending ranks. */
    private final Map<SharedGroup, SortedMap<Integer, Failure>> failures = new HashMap<>();

    private Investigation(Merge merge, Ends ends) {
        this.merge = merge;
        this.ends = ends;
        this.conducts = new Conducts(merge, ends);
        this.now = Answers.at(merge, Answers.AS_WRITTEN);
        for (SharedGroup group : merge.groups()) {
            SortedMap<Integer, Failure> counting = new TreeMap<>();
            group.failures()
                    .forEach((rank, failure) -> Optional.ofNullable(
                                    ends.withoutConsequences(failure, rank, merge.failedAt(group, rank)))
                            .ifPresent(one -> counting.put(rank, one)));
            failures.put(group, counting);
        }
    }

    /** Returns the verdict on a job. */
    static Verdict verdict(Merge merge, Ends ends) {
        Investigation investigation = new Investigation(merge, ends);
        return investigation
                .timedOut()
                .or(investigation::failed)
                .or(investigation::mismatch)
                .or(investigation::stopped)
                .or(() -> investigation.waiting(investigation.now))
                .orElseGet(() -> investigation.quiet(
                        ProblemKind.NOTHING, investigation.conducts.outside(merge.missing()), List.of()));
    }

    /**
     * Returns the verdict on a rank that has ended because a send or receive of it timed out, which does not fail its group. That
     * it is gone may have failed the group afterwards.
     */
    private Optional<Verdict> timedOut() {
        return merge.recordings().keySet().stream()
                .flatMap(rank -> timedOut(rank).stream())
                .min(Long::compare)
                .filter(when -> merge.groups().stream().allMatch(group -> failedAt(group) > when))
                .flatMap(when -> waiting(Answers.at(merge, when)));
    }

    /** Returns when the last call of a rank timed out, if it is a send or receive. */
    private Optional<Long> timedOut(int rank) {
        List<RecordedOperation> all = merge.recordings().get(rank).operations();
        return all.stream()
                .skip(Math.max(0, all.size() - 1))
                .filter(last -> !last.ordered() && last.code().equals(Code.TIMED_OUT.name()))
                .map(last -> merge.at(rank, last.ended()))
                .findFirst();
    }

    private long failedAt(SharedGroup group) {
        return failures.get(group).keySet().stream()
                .mapToLong(rank -> merge.failedAt(group, rank))
                .min()
                .orElse(Long.MAX_VALUE);
    }

    /**
     * Returns the failure of the group that failed first: a rank that leaves because one group has failed is then missing in
     * other groups. Each rank says which of its groups failed first, because the clocks of hosts differ.
     */
    private Optional<Verdict> failed() {
        Set<SharedGroup> first = new HashSet<>();
        merge.recordings()
                .keySet()
                .forEach(rank -> merge.groups().stream()
                        .filter(group -> failures.get(group).containsKey(rank))
                        .min(Comparator.comparingLong(group -> merge.failedAt(group, rank)))
                        .ifPresent(first::add));
        return first.stream().min(Comparator.comparingLong(this::failedAt)).map(this::failed);
    }

    private Verdict failed(SharedGroup group) {
        Failure merged =
                failures.get(group).values().stream().reduce(Failure::merged).orElseThrow();
        Agreement agreement = agreement(group, merged);
        if (merged.code() == Code.MISMATCH && group.firstMismatch().isPresent()) {
            return mismatch(group, group.firstMismatch().get(), agreement);
        }
        CallScene scene = Conducts.scene(group, merged.sequence() >= 0 ? merged.sequence() : group.top());
        if (merged.code() == Code.TIMED_OUT) {
            Answers then = Answers.at(merge, failedAt(group));
            Answers.Blamed blamed = then.blamed();
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

    /** Returns which ranks recorded the failure whose text the merged one has, and what the others recorded. */
    private Agreement agreement(SharedGroup group, Failure merged) {
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
        reporting.removeIf(rank -> !conducts.hasReported(rank, group, same.code()));
        if (!reporting.isEmpty()) {
            ranks.retainAll(reporting);
        }
        return new Agreement(Optional.of(same), ranks, others);
    }

    /** Where ranks wait or have failed, and which ranks wait there. */
    private record JudgedCall(SharedGroup group, CallScene scene, List<RanksInCall> calls) {}

    private Verdict judged(ProblemKind kind, SortedSet<Integer> guilty, Agreement agreement, JudgedCall at) {
        long sequence = at.scene().sequence();
        return new Verdict(
                kind,
                guilty,
                agreement,
                at.scene(),
                new VerdictFacts(
                        conducts.of(guilty, at.group(), sequence),
                        at.calls(),
                        conducts.others(guilty, at.group(), sequence),
                        Conducts.innocent(guilty, at.group()),
                        conducts.unexplained(),
                        ends.lost()));
    }

    private Verdict deadlock(Answers then, CallScene scene, Agreement agreement) {
        return new Verdict(ProblemKind.DEADLOCK, then.blamed().ranks(), agreement, scene, facts(then.calls()));
    }

    private VerdictFacts facts(List<RanksInCall> calls) {
        return new VerdictFacts(new TreeMap<>(), calls, List.of(), Set.of(), conducts.unexplained(), ends.lost());
    }

    private Optional<Verdict> mismatch() {
        return merge.groups().stream()
                .filter(group -> group.firstMismatch().isPresent())
                .findFirst()
                .map(group -> mismatch(group, group.firstMismatch().get(), Agreement.NONE));
    }

    private Verdict mismatch(SharedGroup group, long sequence, Agreement agreement) {
        SortedMap<Integer, String> texts = group.texts(sequence);
        List<RanksInCall> calls = RanksInCall.of(texts).stream()
                .sorted(Comparator.comparing(RanksInCall::call))
                .toList();
        return new Verdict(
                ProblemKind.MISMATCH,
                new TreeSet<>(CallsThatDiffer.odd(texts)),
                agreement,
                Conducts.scene(group, sequence),
                facts(calls));
    }

    /** Returns a verdict that blames no rank, missing or not, if a launcher caused all failures by ending ranks. */
    private Optional<Verdict> stopped() {
        if (merge.groups().stream().allMatch(group -> group.failures().isEmpty())) {
            return Optional.empty();
        }
        List<RanksInCall> calls = ends.stoppedWallNanos().values().stream()
                .min(Comparator.naturalOrder())
                .map(at -> Answers.at(merge, at).calls())
                .orElse(List.of());
        return Optional.of(quiet(ProblemKind.STOPPED, conducts.outside(ends.stopped()), calls));
    }

    private Optional<Verdict> waiting(Answers answers) {
        if (answers.isEmpty()) {
            return Optional.empty();
        }
        Answers.WaitingRank longest = answers.longest();
        RecordedCall call = longest.operation().call();
        CallScene scene = new CallScene(longest.group().name(), call.sequence(), call.name());
        Answers.Blamed blamed = answers.blamed();
        JudgedCall at = new JudgedCall(longest.group(), scene, answers.calls());
        return Optional.of(
                blamed.isDeadlock()
                        ? deadlock(answers, scene, Agreement.NONE)
                        : judged(ProblemKind.WAITING, blamed.ranks(), Agreement.NONE, at));
    }

    /** Returns a verdict that blames no rank. */
    private Verdict quiet(ProblemKind kind, SortedMap<Integer, Conduct> conduct, List<RanksInCall> calls) {
        return new Verdict(
                kind,
                new TreeSet<>(),
                Agreement.NONE,
                CallScene.NONE,
                new VerdictFacts(
                        conduct, calls, List.of(), merge.recordings().keySet(), conducts.unexplained(), ends.lost()));
    }
}
