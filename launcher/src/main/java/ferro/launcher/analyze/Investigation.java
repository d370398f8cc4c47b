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
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Reaches a verdict. The agreed failure of a group counts first, because its ranks have consulted one another. If nothing
 * has failed yet, different calls under one sequence number count next, and then the end of the chain of waiting ranks.
 */
final class Investigation {
    private static final Pattern LENGTH = Pattern.compile("\\[\\d+]");
    private static final Pattern BY = Pattern.compile(" by \\w+$");
    private static final String LENGTHS =
            "all ranks must pass the same length; gather, allGather, scatter, reduceScatter and"
                    + " allToAll have forms with counts for lengths that differ";

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
                .timedOut()
                .or(investigation::failed)
                .or(investigation::mismatch)
                .or(investigation::brokenOff)
                .or(() -> investigation.waiting(investigation.chain))
                .orElseGet(investigation::nothing);
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
                .flatMap(when -> waiting(new WaitChain(merge, when)));
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
            return mismatch(group, group.firstMismatch().get(), others(seen), agreed(seen));
        }
        SortedSet<Integer> guilty = blamed(group, failure);
        long sequence = failure.sequence() >= 0 ? failure.sequence() : group.top();
        WaitChain then = new WaitChain(merge, failedAt(group));
        if (isDeadlock(failure, guilty, then)) {
            Verdict found = deadlock(then, group, sequence, agreed(seen));
            found.reasons().addAll(others(seen));
            return found;
        }
        String headline = guilty.isEmpty()
                ? "no rank can be blamed: " + failure.code() + at(group, sequence) + unexplained()
                : toBlame(guilty) + ": " + testimony.on(guilty, group, sequence, failure.code());
        return new Verdict(
                Verdict.TroubleKind.FAILED, guilty, headline, said(seen, guilty), group.name(), sequence, agreed(seen));
    }

    /** Whether a call timed out because the ranks that are blamed wait for each other. */
    private static boolean isDeadlock(RecordedFailure failure, SortedSet<Integer> guilty, WaitChain then) {
        return failure.code().equals(Code.TIMED_OUT.name())
                && then.end().isEmpty()
                && !guilty.isEmpty()
                && then.circle().containsAll(guilty);
    }

    private static Verdict deadlock(WaitChain chain, SharedGroup group, long sequence, Agreed agreed) {
        SortedSet<Integer> circle = chain.circle();
        return new Verdict(
                Verdict.TroubleKind.DEADLOCK,
                circle,
                PlainTexts.ranks(circle) + " wait for each other: a deadlock",
                new ArrayList<>(chain.story()),
                group.name(),
                sequence,
                agreed);
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
    private List<String> said(SeenFailure seen, SortedSet<Integer> guilty) {
        RecordedFailure failure = seen.failure();
        SortedSet<Integer> agreeing = new TreeSet<>(agreed(seen).ranks());
        // what a rank says of itself is no agreement
        if (!guilty.containsAll(agreeing)) {
            agreeing.removeAll(guilty);
        }
        String blamed = guilty.equals(new TreeSet<>(failure.culprits())) ? "" : blamed(failure);
        String text = failure.text().isEmpty() || testimony.isExplained(guilty, failure)
                ? ""
                : ": " + testimony.withoutAdvice(guilty, failure.text());
        List<String> lines = new ArrayList<>();
        lines.add(PlainTexts.ranks(agreeing)
                + (agreeing.size() == 1 ? " reports: " : " agree: ")
                + failure.code()
                + blamed
                + text);
        lines.addAll(others(seen));
        return lines;
    }

    /** Returns the ranks that recorded the failure that counts. */
    private Agreed agreed(SeenFailure seen) {
        SortedSet<Integer> agreeing = new TreeSet<>();
        failures(seen.group()).forEach((rank, failure) -> {
            if (isSame(failure, seen.failure())) {
                agreeing.add(rank);
            }
        });
        return new Agreed(seen.failure().code(), agreeing);
    }

    private static boolean isSame(RecordedFailure one, RecordedFailure other) {
        return one.code().equals(other.code()) && one.culprits().equals(other.culprits());
    }

    /** Returns a line for each member that recorded another failure. */
    private List<String> others(SeenFailure seen) {
        List<String> lines = new ArrayList<>();
        failures(seen.group()).forEach((rank, failure) -> {
            if (!isSame(failure, seen.failure())) {
                lines.add("rank " + rank + " reports another failure: " + failure.code() + blamed(failure)
                        + (failure.text().isEmpty() ? "" : ": " + failure.text()));
            }
        });
        return lines;
    }

    private static String blamed(RecordedFailure failure) {
        return failure.culprits().isEmpty()
                ? ", no rank to blame"
                : ", " + PlainTexts.ranks(failure.culprits()) + " to blame";
    }

    private Optional<Verdict> mismatch() {
        return merge.groups().stream()
                .filter(group -> group.firstMismatch().isPresent())
                .findFirst()
                .map(group -> mismatch(group, group.firstMismatch().get(), List.of(), Agreed.NONE));
    }

    private static Verdict mismatch(SharedGroup group, long sequence, List<String> said, Agreed agreed) {
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
        boolean lengthsDiffer = areEqualButForLengths(texts.keySet());
        if (lengthsDiffer) {
            reasons.add(LENGTHS);
        }
        reasons.addAll(said);
        String headline = (lengthsDiffer ? "lengths differ" : "ranks made different calls") + " under seq " + sequence
                + " of group \"" + group.name() + "\": "
                + (largest.size() > 1
                        ? "one side is wrong"
                        : PlainTexts.ranks(guilty) + (guilty.size() == 1 ? " differs" : " differ")
                                + " from the others");
        return new Verdict(Verdict.TroubleKind.MISMATCH, guilty, headline, reasons, group.name(), sequence, agreed);
    }

    /** The length decides which algorithm a call uses, so the algorithms may differ as well. */
    private static boolean areEqualButForLengths(Collection<String> texts) {
        return texts.stream()
                                .map(text -> BY.matcher(LENGTH.matcher(text).replaceAll("[]"))
                                        .replaceAll(""))
                                .distinct()
                                .count()
                        == 1
                && texts.stream().map(Investigation::lengths).distinct().count() > 1;
    }

    private static List<String> lengths(String text) {
        return LENGTH.matcher(text).results().map(MatchResult::group).toList();
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
                        -1,
                        Agreed.NONE))
                : Optional.empty();
    }

    private Optional<Verdict> waiting(WaitChain chain) {
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
            return Optional.of(deadlock(chain, group, sequence, Agreed.NONE));
        }
        String headline = guilty.isEmpty()
                ? "no rank is to blame yet: all ranks are in "
                        + operation.call().name() + unexplained()
                : toBlame(guilty) + ": " + testimony.on(guilty, group, sequence, "");
        return Optional.of(new Verdict(
                Verdict.TroubleKind.WAITING, guilty, headline, reasons, group.name(), sequence, Agreed.NONE));
    }

    private Verdict nothing() {
        List<String> reasons = testimony.ofMissing();
        SortedSet<Integer> missing = merge.missing();
        String headline = missing.isEmpty()
                ? "nothing is wrong in these recordings: no call hangs, none has failed, none differs" + unexplained()
                : "no call hangs and none has failed, but " + PlainTexts.ranks(missing) + " wrote no recording";
        return new Verdict(Verdict.TroubleKind.NOTHING, new TreeSet<>(), headline, reasons, "", -1, Agreed.NONE);
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
