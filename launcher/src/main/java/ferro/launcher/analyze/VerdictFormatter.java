package ferro.launcher.analyze;

import ferro.FerroException.Code;
import ferro.control.failure.CallComparison;
import ferro.control.failure.Failure;
import ferro.control.failure.FailureHints;
import ferro.launcher.analyze.ProcessEnds.EndKind;
import ferro.launcher.analyze.ProcessEnds.ProcessEnd;
import ferro.launcher.analyze.RankActivity.RankCall;
import ferro.launcher.analyze.RankRecording.OperationState;
import ferro.launcher.analyze.RankRecording.RecordedProgress;
import ferro.launcher.analyze.Verdict.RanksInCall;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SortedMap;
import java.util.SortedSet;
import java.util.TreeSet;
import java.util.stream.Collectors;

/** Forms the sentences of a verdict. The failure report, the analysis and its HTML page have the same sentences. */
public final class VerdictFormatter {
    private final Verdict verdict;
    private final ShownContext beside;
    private final Optional<Code> code;

    /**
     * Information that a reader sees next to the verdict, so that the verdict need not repeat it.
     *
     * @param thrown exception that is shown next to the verdict
     * @param signal signal that is shown next to the verdict
     */
    public record ShownContext(Optional<String> thrown, Optional<String> signal) {
        /** The value for a verdict that is shown without other information. */
        public static final ShownContext NOTHING = new ShownContext(Optional.empty(), Optional.empty());
    }

    /** The words of a sentence that depend on whether the ranks are one or several. */
    private record Wording(boolean isPlural) {
        String it() {
            return isPlural ? "they" : "it";
        }

        String its() {
            return isPlural ? "their" : "its";
        }

        String is() {
            return isPlural ? "they are" : "it is";
        }

        String was() {
            return isPlural ? "they were" : "it was";
        }

        String has() {
            return isPlural ? "they have" : "it has";
        }

        String process(String one, String many) {
            return isPlural ? "their processes " + many : "its process " + one;
        }
    }

    private VerdictFormatter(Verdict verdict, ShownContext beside) {
        this.verdict = verdict;
        this.beside = beside;
        this.code = verdict.agreement().failure().map(Failure::code);
    }

    /**
     * Returns the sentences of a verdict.
     *
     * @param verdict the verdict to describe
     * @param beside  information that the reader sees next to the sentences
     * @return one sentence, then one text for each reason; a stack trace has one line for each frame
     */
    public static List<String> of(Verdict verdict, ShownContext beside) {
        VerdictFormatter text = new VerdictFormatter(verdict, beside);
        List<String> lines = new ArrayList<>();
        lines.add(text.headline());
        lines.addAll(text.reasons());
        return lines;
    }

    private String headline() {
        SortedSet<Integer> guilty = verdict.guilty();
        String group = " of group \"" + verdict.scene().group() + "\"";
        return switch (verdict.kind()) {
            case FAILED -> guilty.isEmpty() ? "no rank can be blamed: " + where() + unexplained() : toBlame();
            case WAITING ->
                guilty.isEmpty()
                        ? "no rank is to blame yet: " + verdict.scene().call() + " is under way" + unexplained()
                        : toBlame();
            case MISMATCH ->
                CallComparison.problem(texts()) + " under seq "
                        + verdict.scene().sequence() + group + ": "
                        + (inCalls() == guilty.size()
                                ? "one side is wrong"
                                : RankFormatter.ranks(guilty) + (guilty.size() == 1 ? " differs" : " differ")
                                        + " from the others");
            case DEADLOCK -> RankFormatter.ranks(guilty) + " wait for each other: a deadlock";
            case STOPPED ->
                verdict.facts().lost().stream().map(node -> node + "; ").collect(Collectors.joining())
                        + "no group had failed when the launcher stopped "
                        + RankFormatter.ranks(verdict.facts().conduct().keySet()) + unexplained();
            case NOTHING -> nothing();
        };
    }

    private String nothing() {
        SortedSet<Integer> silent = new TreeSet<>(verdict.facts().conduct().keySet());
        SortedSet<Integer> damaged = new TreeSet<>(silent);
        damaged.removeIf(rank ->
                verdict.facts().conduct().get(rank).recording().damaged().isEmpty());
        silent.removeAll(damaged);
        List<String> lacking = new ArrayList<>();
        if (!silent.isEmpty()) {
            lacking.add(RankFormatter.ranks(silent) + " wrote no recording");
        }
        if (!damaged.isEmpty()) {
            lacking.add((damaged.size() == 1 ? "the recording of " : "the recordings of ")
                    + RankFormatter.ranks(damaged)
                    + (damaged.size() == 1 ? " is damaged" : " are damaged"));
        }
        return lacking.isEmpty()
                ? "nothing is wrong in these recordings: no call hangs, none has failed, none differs" + unexplained()
                : (verdict.facts().most().isEmpty()
                                ? "no recording can be read, so nothing is known of any call: "
                                : "no call hangs and none has failed, but ")
                        + String.join(", and ", lacking);
    }

    private List<String> texts() {
        return verdict.facts().calls().stream().map(RanksInCall::call).toList();
    }

    private int inCalls() {
        return verdict.facts().calls().stream()
                .mapToInt(one -> one.ranks().size())
                .sum();
    }

    private String where() {
        long sequence = verdict.scene().sequence();
        return code.orElseThrow() + " in group \"" + verdict.scene().group() + "\""
                + (sequence < 0 ? "" : " at seq " + sequence);
    }

    private List<String> reasons() {
        List<String> lines = new ArrayList<>();
        switch (verdict.kind()) {
            case FAILED -> lines.add(agreed());
            case MISMATCH -> {
                verdict.facts()
                        .calls()
                        .forEach(one -> lines.add(RankFormatter.ranks(one.ranks()) + " called " + one.call()));
                if (CallComparison.isOfOneValue(texts())) {
                    lines.add(CallComparison.remedy(texts()));
                }
            }
            case WAITING, DEADLOCK, STOPPED -> {
                verdict.facts()
                        .calls()
                        .forEach(one -> lines.add(RankFormatter.ranks(one.ranks())
                                + (one.ranks().size() == 1 ? " waits in " : " wait in ") + one.call() + " for "
                                + RankFormatter.ranks(one.awaited())));
                if (verdict.kind() == Verdict.ProblemKind.DEADLOCK
                        && texts().stream().allMatch(call -> call.startsWith("send"))) {
                    lines.add(FailureHints.CROSSING);
                }
            }
            case NOTHING -> lines.addAll(ofMissing());
            default -> {}
        }
        if (verdict.kind() != Verdict.ProblemKind.STOPPED) {
            lines.addAll(verdict.facts().lost());
        }
        verdict.agreement()
                .others()
                .forEach((rank, failure) -> lines.add("rank " + rank + " reports another failure: " + failure.code()
                        + blamed(failure) + (failure.text().isEmpty() ? "" : ": " + failure.text())));
        return lines;
    }

    /** Returns the failure that the ranks report, without the words that the headline contains. */
    private String agreed() {
        Failure failure = verdict.agreement().failure().orElseThrow();
        SortedSet<Integer> ranks = new TreeSet<>(verdict.agreement().ranks());
        // the report of a rank about itself is not an agreement
        if (!verdict.guilty().containsAll(ranks)) {
            ranks.removeAll(verdict.guilty());
        }
        boolean isCauseKnown = isTrueOfGuilty(
                one -> one.ownEnd().or(one::end).filter(ProcessEnd::isCause).isPresent());
        String text = isCauseKnown ? FailureHints.removedFrom(failure.text()) : failure.text();
        return RankFormatter.ranks(ranks)
                + (ranks.size() == 1 ? " reports: " : " agree: ")
                + failure.code()
                + (verdict.guilty().equals(failure.culprits()) ? "" : blamed(failure))
                + (text.isEmpty() || isExplained(failure) ? "" : ": " + text);
    }

    private boolean isTrueOfGuilty(java.util.function.Predicate<RankActivity> condition) {
        return !verdict.guilty().isEmpty()
                && verdict.facts().conduct().values().stream().allMatch(condition);
    }

    /** Whether the text of a failure is not needed, because the verdict shows the ends or the exception of ranks. */
    private boolean isExplained(Failure failure) {
        return isTrueOfGuilty(one -> one.ownEnd()
                .filter(end -> failure.code() == Code.PEER_LOST
                        || end.kind() == EndKind.THREW && failure.text().contains(end.detail()))
                .isPresent());
    }

    private static String blamed(Failure failure) {
        return failure.culprits().isEmpty()
                ? ", no rank to blame"
                : ", " + RankFormatter.ranks(failure.culprits()) + " to blame";
    }

    /** Returns a text about the ranks without a recording, with the known facts about each rank. */
    private List<String> ofMissing() {
        SortedMap<Integer, RankActivity> conduct = verdict.facts().conduct();
        List<String> lines = new ArrayList<>();
        Verdict.alike(conduct.keySet(), rank -> ofMissing(conduct.get(rank)))
                .forEach((text, ranks) -> lines.add(RankFormatter.ranks(ranks) + text));
        return lines;
    }

    private String ofMissing(RankActivity one) {
        if (one.recording().damaged().isPresent()) {
            return " wrote a recording that is damaged: "
                    + one.recording().damaged().get()
                    + seen(one).map(end -> "; " + said(end, new Wording(false))).orElse("");
        }
        Optional<Long> older = one.recording().olderNanos();
        if (older.isPresent()) {
            return " wrote no recording for " + RankFormatter.time(older.get()) + ": dead, killed or stopped";
        }
        return one.end()
                .map(end -> end.kind() == EndKind.ELSEWHERE
                        ? " recorded on " + end.detail()
                        : " wrote no recording: " + said(end, new Wording(false)))
                .orElse(" wrote no recording: dead, killed, stopped, asked too late, or on another host");
    }

    /** Returns the observed end of a process with a damaged recording, because such a rank was not silent. */
    private static Optional<ProcessEnd> seen(RankActivity one) {
        return one.end().filter(end -> end.kind() != EndKind.STOPPED && end.kind() != EndKind.ELSEWHERE);
    }

    /** Returns the abnormal ends of processes, for a verdict whose recordings blame no rank. */
    private String unexplained() {
        SortedMap<Integer, ProcessEnd> ended = verdict.facts().ended();
        return Verdict.alike(ended.keySet(), ended::get).entrySet().stream()
                .map(one -> "; " + RankFormatter.ranks(one.getValue()) + ": "
                        + said(one.getKey(), new Wording(one.getValue().size() > 1)))
                .collect(Collectors.joining());
    }

    /** Returns a text about the actions of the ranks to blame: one text if all did the same, else one for each rank. */
    private String toBlame() {
        SortedMap<Integer, RankActivity> conduct = verdict.facts().conduct();
        Map<String, SortedSet<Integer>> same =
                Verdict.alike(conduct.keySet(), rank -> did(conduct.get(rank), new Wording(false)));
        return RankFormatter.ranks(verdict.guilty()) + (verdict.guilty().size() == 1 ? " is" : " are") + " to blame: "
                + same.values().stream()
                        .map(ranks -> (same.size() == 1 ? "" : RankFormatter.ranks(ranks) + ": ")
                                + did(conduct.get(ranks.first()), new Wording(ranks.size() > 1)))
                        .collect(Collectors.joining("; "));
    }

    private boolean is(Code one) {
        return code.equals(Optional.of(one));
    }

    private String did(RankActivity one, Wording who) {
        if (is(Code.ABORTED)) {
            String aborted = "aborted the group" + whereItAborted(one);
            return one.ownEnd()
                            .filter(ProcessEnd::bad)
                            .map(end -> said(end, who) + ", and ")
                            .orElse(who.it() + " ")
                    + aborted;
        }
        if (is(Code.MISMATCH)) {
            return who.its() + " calls differ";
        }
        if (one.recording().damaged().isPresent()) {
            return seen(one)
                    .map(end -> ended(one, end, who) + "; " + damaged(one, who))
                    .orElseGet(() -> (is(Code.PEER_LOST)
                                    ? who.process("is gone", "are gone")
                                    : who.it() + " kept the others waiting")
                            + meanwhile() + "; " + damaged(one, who));
        }
        if (one.recording().missing()) {
            return one.end()
                    .map(end -> end.kind() == EndKind.ELSEWHERE
                            ? faraway(who) + " on " + end.detail() + meanwhile()
                            : ended(one, end, who))
                    .orElseGet(() -> silent(one, who) + meanwhile());
        }
        if (is(Code.PEER_LOST) && one.ownEnd().isPresent()) {
            return ended(one, one.ownEnd().get(), who)
                    + (verdict.scene().sequence() < 0 ? "" : "; " + lastCall(one, who));
        }
        // a late rank may have ended by the failure that others reported, unless the others still wait for the rank
        return recorded(one, who)
                + one.ownEnd()
                        .filter(end -> end.cameFirst() || code.isEmpty())
                        .map(end -> "; in the end " + said(end, who))
                        .orElse("");
    }

    /** Returns a rank's open call, or else its last call. Other ranks may be in a call that this rank never made. */
    private static String whereItAborted(RankActivity one) {
        return one.open()
                .map(open -> " at " + open.name())
                .or(() -> one.last().map(last -> " after " + last.name()))
                .orElse("");
    }

    private String said(ProcessEnd end, Wording who) {
        return switch (end.kind()) {
            case THREW ->
                who.it() + " threw "
                        + (beside.thrown().equals(Optional.of(end.detail())) ? "the exception below" : end.detail());
            case WELL -> who.it() + " ended with exit code 0";
            case SIGNAL ->
                who.process("is gone", "are gone")
                        + (beside.signal().equals(Optional.of(end.detail())) ? "" : ": " + end.detail());
            case CODE -> who.it() + " ended with " + end.detail();
            case STOPPED ->
                who.it() + " wrote no recording until the launcher stopped " + (who.isPlural() ? "them" : "it");
            case HALTED -> who.process("was", "were") + " " + ProcessEnds.SUSPENDED;
            case ELSEWHERE -> who.it() + " ran on " + end.detail();
        };
    }

    /** Returns a text about how a process ended while other ranks were in their calls. */
    private String ended(RankActivity one, ProcessEnd end, Wording who) {
        String how = said(end, who)
                + one.exitLine().map(line -> " before close, at " + line).orElse("");
        if (end.kind() != EndKind.WELL) {
            return how + meanwhile();
        }
        return how
                + (one.exitLine().isPresent() ? "," : "")
                + (verdict.facts().others().isEmpty()
                        ? " before the others had finished"
                        : others(" before ", "had finished", "had finished"));
    }

    private String meanwhile() {
        return others(", while ", "was in", "were in");
    }

    /** Returns a clause such as {@code , while rank 0 was in recv and rank 1 was in allReduce}, or an empty text. */
    private String others(String start, String one, String many) {
        List<RanksInCall> others = verdict.facts().others();
        return others.isEmpty()
                ? ""
                : start
                        + others.stream()
                                .map(same -> who(same.ranks()) + (same.ranks().size() == 1 ? " " + one : " " + many)
                                        + " " + same.call())
                                .collect(Collectors.joining(" and "));
    }

    private String who(SortedSet<Integer> ranks) {
        return ranks.size() > 1 && ranks.containsAll(verdict.facts().most())
                ? "the others"
                : RankFormatter.ranks(ranks);
    }

    /** Describes a rank whose recording is on another host, by the code of the failure. */
    private String faraway(Wording who) {
        return is(Code.PEER_LOST) ? who.process("is gone", "are gone") : who.it() + " did not answer";
    }

    /** Describes a rank without a recording, by the code of the failure. */
    private String silent(RankActivity one, Wording who) {
        boolean lost = is(Code.PEER_LOST);
        String wrote = one.recording()
                .olderNanos()
                .map(older -> (lost ? ", and " : "") + who.its() + " newest recording is " + RankFormatter.time(older)
                        + " older than the others")
                .orElse(lost ? " and wrote no recording" : who.it() + " wrote no recording");
        return lost
                ? who.process("is gone", "are gone") + wrote + " (killed, crashed, or ended by itself)"
                : wrote + " (stopped, killed or stuck)";
    }

    private static String damaged(RankActivity one, Wording who) {
        return who.its()
                + (who.isPlural() ? " recordings are damaged: " : " recording is damaged: ")
                + one.recording().damaged().orElseThrow();
    }

    private String recorded(RankActivity one, Wording who) {
        long sequence = verdict.scene().sequence();
        boolean lost = is(Code.PEER_LOST);
        Optional<RankCall> call = one.call().filter(own -> !lost || own.state() != OperationState.DONE);
        if (call.isPresent()) {
            return inside(call.get(), who);
        }
        if (sequence < 0 && code.isEmpty()) {
            return who.is() + idle(one, "") + others(", while ", "waits in", "wait in");
        }
        if (sequence < 0 && is(Code.TIMED_OUT)) {
            return one.open().map(open -> inside(open, who)).orElseGet(() -> who.was() + idle(one, "") + meanwhile());
        }
        if (sequence < 0) {
            return where();
        }
        if (lost) {
            String left = one.recording().isEarlier() ? who.process("is gone", "are gone") : who.it() + " left";
            return left + others(", although ", "was in", "were in") + "; " + lastCall(one, who);
        }
        return (one.passed() ? who.has() + " moved on from " : who.it() + " never called ")
                + verdict.scene().call() + "; " + lastCall(one, who) + "; "
                + one.open()
                        .map(open -> (open.state().open() ? who.is() : who.was()) + " in " + open.name() + waits(open))
                        .orElse(who.is() + idle(one, ", but in " + who.its() + " own code"));
    }

    /** Describes a rank that is in no call, with the line of its program if the recording contains the line. */
    private static String idle(RankActivity one, String otherwise) {
        return " in no call of ferro" + one.line().map(line -> ": " + line).orElse(otherwise);
    }

    private String inside(RankCall own, Wording who) {
        String state = switch (own.state()) {
            case DONE -> who.has() + " finished ";
            case FAILED -> who.it() + " failed in ";
            default -> who.has() + " been in ";
        };
        RecordedProgress progress = own.progress();
        String how = progress.text().isEmpty()
                ? (progress.step() < 0 ? "" : "at step " + progress.step() + ", ") + progress.bytesMoved()
                        + " bytes moved"
                : progress.text();
        return state + own.name() + (own.state().open() ? " for " + RankFormatter.time(own.nanos()) : "") + ", " + how
                + waits(own);
    }

    private static String waits(RankCall own) {
        List<Integer> ranks = own.progress().waitingFor();
        return ranks.isEmpty() ? "" : ", waiting for " + RankFormatter.ranks(ranks);
    }

    private static String lastCall(RankActivity one, Wording who) {
        return one.last()
                .map(last -> who.its() + " last call was " + last.brief()
                        + (last.state().open()
                                ? ", which " + who.is() + " still in" + waits(last)
                                : last.nanos() < 0 ? "" : ", " + RankFormatter.time(last.nanos()) + " earlier"))
                .orElse(who.it() + " made no call in that group before");
    }
}
