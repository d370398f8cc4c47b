package ferro.launcher.analyze;

import ferro.FerroException.Code;
import ferro.launcher.analyze.RankRecording.RecordedFailure;
import ferro.launcher.analyze.RankRecording.RecordedOperation;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.SortedMap;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Reaches a verdict. The agreed failure of a group counts first, because its ranks have consulted one another. If nothing
 * has failed yet, different calls under one sequence number count next, and then the end of the chain of waiting ranks.
 */
final class Investigation {
    private final Merge merge;
    private final Ends ends;
    private final Testimony testimony;
    private final WaitChain chain;

    private Investigation(Merge merge, Ends ends) {
        this.merge = merge;
        this.ends = ends;
        this.testimony = new Testimony(merge, ends);
        this.chain = new WaitChain(merge);
    }

    /** Returns the verdict on a job. */
    static Verdict verdict(Merge merge, Ends ends) {
        Investigation investigation = new Investigation(merge, ends);
        return investigation
                .failed()
                .or(investigation::mismatch)
                .or(investigation::brokenOff)
                .or(investigation::waiting)
                .orElseGet(investigation::nothing);
    }

    /** A failure and its group. */
    private record SeenFailure(SharedGroup group, RecordedFailure failure) {}

    /**
     * Returns the failure of the group that failed first: a rank that leaves because one group has failed is then missing in
     * other groups. Within a group the gravest failure counts, by the same order by which its ranks agree.
     */
    private Optional<Verdict> failed() {
        return merge.groups().stream()
                .filter(group -> !failures(group).isEmpty())
                .min(Comparator.comparingLong(this::failedAt))
                .map(group -> failures(group).values().stream()
                        .min(Comparator.comparingInt((RecordedFailure failure) -> gravity(failure.code()))
                                .thenComparing(RecordedFailure::sequence)
                                .thenComparing(RecordedFailure::origin))
                        .map(failure -> failed(new SeenFailure(group, failure)))
                        .orElseThrow());
    }

    /**
     * Returns the failures that members recorded for their group, without those that the launcher caused by ending ranks.
     */
    private SortedMap<Integer, RecordedFailure> failures(SharedGroup group) {
        SortedMap<Integer, RecordedFailure> failures = new TreeMap<>(group.failures());
        failures.entrySet()
                .removeIf(one -> ends.broughtAbout(one.getValue().culprits(), failedAt(group, one.getKey())));
        return failures;
    }

    private long failedAt(SharedGroup group) {
        return failures(group).keySet().stream()
                .mapToLong(rank -> failedAt(group, rank))
                .min()
                .orElse(Long.MAX_VALUE);
    }

    private long failedAt(SharedGroup group, int rank) {
        return merge.recordings().get(rank).events().stream()
                .filter(event -> event.kind().equals("FAILED") && event.group().equals(group.nameOn(rank)))
                .mapToLong(event -> merge.at(rank, event.at()))
                .min()
                .orElseGet(() -> lastEnded(group, rank));
    }

    private long lastEnded(SharedGroup group, int rank) {
        return group.last(rank)
                .filter(last -> last.state() == RankRecording.OperationState.FAILED && last.ended() != 0)
                .map(last -> merge.at(rank, last.ended()))
                .orElseGet(() -> merge.writtenAt(rank));
    }

    /** Returns the place of a code in the order by which ranks agree. One that this ferro does not know comes last. */
    private static int gravity(String code) {
        return Stream.of(Code.values())
                .filter(known -> known.name().equals(code))
                .mapToInt(Code::gravity)
                .findFirst()
                .orElse(Integer.MAX_VALUE);
    }

    private Verdict failed(SeenFailure seen) {
        SharedGroup group = seen.group();
        RecordedFailure failure = seen.failure();
        if (failure.code().equals("MISMATCH") && group.firstMismatch().isPresent()) {
            return mismatch(group, group.firstMismatch().get(), said(seen));
        }
        SortedSet<Integer> guilty = blamed(group, failure);
        long sequence = failure.sequence() >= 0 ? failure.sequence() : group.top();
        String where = at(group, sequence);
        String headline = guilty.isEmpty()
                ? "no rank can be blamed: " + failure.code() + where + unexplained()
                : toBlame(guilty) + ": " + testimony.on(guilty, group, sequence, failure.code());
        return new Verdict(Verdict.TroubleKind.FAILED, guilty, headline, said(seen), group.name(), sequence);
    }

    private SortedSet<Integer> blamed(SharedGroup group, RecordedFailure agreed) {
        SortedSet<Integer> guilty = new TreeSet<>();
        failures(group).values().stream()
                .filter(failure -> failure.code().equals(agreed.code()))
                .forEach(failure -> guilty.addAll(failure.culprits()));
        return guilty.isEmpty() ? chain.end() : guilty;
    }

    private static String at(SharedGroup group, long sequence) {
        return " in group \"" + group.name() + "\"" + (sequence < 0 ? "" : " at seq " + sequence);
    }

    /** Returns lines on the failures that the members recorded, and whether they agree. */
    private List<String> said(SeenFailure seen) {
        List<String> lines = new ArrayList<>();
        SortedSet<Integer> agreeing = new TreeSet<>();
        failures(seen.group()).forEach((rank, failure) -> {
            if (failure.code().equals(seen.failure().code())
                    && failure.culprits().equals(seen.failure().culprits())) {
                agreeing.add(rank);
            } else {
                lines.add(PlainTexts.ranks(List.of(rank)) + " reports another failure: " + said(failure));
            }
        });
        lines.add(
                0,
                PlainTexts.ranks(agreeing) + (agreeing.size() == 1 ? " reports: " : " agree: ") + said(seen.failure()));
        return lines;
    }

    private static String said(RecordedFailure failure) {
        String blamed =
                failure.culprits().isEmpty() ? "no rank to blame" : PlainTexts.ranks(failure.culprits()) + " to blame";
        return failure.code() + ", " + blamed + (failure.text().isEmpty() ? "" : ": " + failure.text());
    }

    private Optional<Verdict> mismatch() {
        return merge.groups().stream()
                .filter(group -> group.firstMismatch().isPresent())
                .findFirst()
                .map(group -> mismatch(group, group.firstMismatch().get(), List.of()));
    }

    private static Verdict mismatch(SharedGroup group, long sequence, List<String> said) {
        SortedMap<String, SortedSet<Integer>> texts = group.texts(sequence);
        int most = texts.values().stream().mapToInt(Collection::size).max().orElse(0);
        List<SortedSet<Integer>> largest =
                texts.values().stream().filter(ranks -> ranks.size() == most).toList();
        SortedSet<Integer> guilty = texts.values().stream()
                .filter(ranks -> largest.size() > 1 || ranks.size() < most)
                .flatMap(Collection::stream)
                .collect(Collectors.toCollection(TreeSet::new));
        List<String> reasons = new ArrayList<>();
        texts.forEach((text, ranks) -> reasons.add(PlainTexts.ranks(ranks) + " called " + text));
        reasons.addAll(said);
        String headline = "ranks made different calls under seq " + sequence + " of group \"" + group.name() + "\": "
                + (largest.size() > 1
                        ? "one side is wrong"
                        : PlainTexts.ranks(guilty) + (guilty.size() == 1 ? " differs" : " differ")
                                + " from the others");
        return new Verdict(Verdict.TroubleKind.MISMATCH, guilty, headline, reasons, group.name(), sequence);
    }

    /**
     * Returns a verdict that blames no rank if every failure was caused by the launcher ending ranks: the missing ranks are
     * not to blame.
     */
    private Optional<Verdict> brokenOff() {
        return merge.groups().stream().anyMatch(group -> !group.failures().isEmpty())
                ? Optional.of(new Verdict(
                        Verdict.TroubleKind.NOTHING,
                        new TreeSet<>(),
                        "no group had failed when the launcher stopped " + PlainTexts.ranks(ends.stopped())
                                + unexplained(),
                        List.of(),
                        "",
                        -1))
                : Optional.empty();
    }

    private Optional<Verdict> waiting() {
        Optional<WaitChain.WaitingRank> longest = chain.longest();
        if (longest.isEmpty()) {
            return Optional.empty();
        }
        RecordedOperation operation = longest.get().operation();
        SharedGroup group = longest.get().group();
        long sequence = operation.call().sequence();
        SortedSet<Integer> guilty = chain.end();
        List<String> reasons = new ArrayList<>(chain.story());
        boolean circle = guilty.isEmpty() && !chain.circle().isEmpty();
        if (circle) {
            String headline = PlainTexts.ranks(chain.circle()) + " wait for one another: a deadlock";
            return Optional.of(new Verdict(
                    Verdict.TroubleKind.DEADLOCK, chain.circle(), headline, reasons, group.name(), sequence));
        }
        String headline = guilty.isEmpty()
                ? "no rank is to blame yet: all ranks are in "
                        + operation.call().name() + unexplained()
                : toBlame(guilty) + ": " + testimony.on(guilty, group, sequence, "");
        return Optional.of(new Verdict(Verdict.TroubleKind.WAITING, guilty, headline, reasons, group.name(), sequence));
    }

    private Verdict nothing() {
        List<String> reasons = testimony.ofMissing();
        SortedSet<Integer> missing = merge.missing();
        String headline = missing.isEmpty()
                ? "nothing is wrong in these recordings: no call hangs, none has failed, none differs" + unexplained()
                : "no call hangs and none has failed, but " + PlainTexts.ranks(missing) + " wrote no recording";
        return new Verdict(Verdict.TroubleKind.NOTHING, new TreeSet<>(), headline, reasons, "", -1);
    }

    /** Returns how processes ended abnormally, for a verdict that names no rank from the recordings. */
    private String unexplained() {
        String ended = testimony.unexplained();
        return ended.isEmpty() ? "" : "; " + ended;
    }

    private static String toBlame(SortedSet<Integer> guilty) {
        return PlainTexts.ranks(guilty) + (guilty.size() == 1 ? " is to blame" : " are to blame");
    }
}
