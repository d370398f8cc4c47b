package ferro.launcher.analyze;

import ferro.FerroException.Code;
import ferro.launcher.analyze.Ends.ProcessEnd;
import ferro.launcher.analyze.RankRecording.RecordedFailure;
import ferro.launcher.analyze.RankRecording.RecordedOperation;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Describes in words what the recordings say about a rank that is to blame, and how its process ended. The end decides what
 * the recordings leave open.
 */
final class Testimony {
    /** What failures add for a reader who does not know what has happened to the rank that is lost. */
    private static final Pattern ADVICE = Pattern.compile("; (?:its|their) own output says why\\b"
            + "|: if rank \\d+ should have taken part, its own output says why it left"
            + "|: its process hangs,? (?:or )?is stopped,? or (?:the network to it is cut|cannot be reached)");

    private final Merge merge;
    private final Ends ends;

    Testimony(Merge merge, Ends ends) {
        this.merge = merge;
        this.ends = ends;
    }

    /** Where a failure was seen, its code, and the ranks to blame; the code is empty if ranks still wait. */
    private record Scene(SharedGroup group, long sequence, String code, SortedSet<Integer> guilty) {}

    /** Returns what ranks did or did not do at a call: once if it is the same for all, else for each. */
    String on(SortedSet<Integer> guilty, SharedGroup group, long sequence, String code) {
        Scene scene = new Scene(group, sequence, code, guilty);
        Map<String, SortedSet<Integer>> same = new LinkedHashMap<>();
        for (int rank : guilty) {
            same.computeIfAbsent(on(rank, scene, Pronoun.IT), key -> new TreeSet<>())
                    .add(rank);
        }
        return same.values().stream()
                .map(ranks -> (same.size() == 1 ? "" : PlainTexts.ranks(ranks) + ": ")
                        + on(ranks.first(), scene, Pronoun.of(ranks.size())))
                .collect(Collectors.joining("; "));
    }

    private String on(int rank, Scene scene, Pronoun pronoun) {
        CallsOfOthers others = others(scene);
        if (scene.code().equals("ABORTED")) {
            String aborted = "aborted the group" + whereItAborted(rank, scene.group());
            return byItself(rank)
                    .filter(ProcessEnd::bad)
                    .map(seen -> seen.said(pronoun) + ", and " + aborted)
                    .orElse(pronoun.say("it ") + aborted);
        }
        Optional<ProcessEnd> end = Optional.ofNullable(ends.byRank().get(rank));
        if (merge.missing().contains(rank)) {
            if (end.filter(seen -> seen.kind() == Ends.EndKind.ELSEWHERE).isPresent()) {
                return pronoun.say(faraway(scene.code())) + " on " + end.get().text() + meanwhile(others);
            }
            return end.map(seen -> seen.at(others, pronoun))
                    .orElseGet(() -> pronoun.say(silent(rank, scene.code())) + meanwhile(others));
        }
        Optional<ProcessEnd> own = byItself(rank);
        if (scene.code().equals("PEER_LOST") && own.isPresent()) {
            return own.get().at(others, pronoun) + (scene.sequence() < 0 ? "" : "; " + last(rank, scene, pronoun));
        }
        // a late rank may have ended because of the failure that the others reported to it, unless they still wait for
        // it
        return recorded(rank, scene, pronoun)
                + own.filter(seen -> seen.cameFirst() || scene.code().isEmpty())
                        .map(seen -> "; in the end " + seen.said(pronoun))
                        .orElse("");
    }

    /**
     * Returns how a rank ended by itself; empty if its exit code may only mean that it had been told of another rank's
     * failure.
     */
    private Optional<ProcessEnd> byItself(int rank) {
        return Optional.ofNullable(ends.byRank().get(rank))
                .filter(end -> end.cameFirst() || end.kind() == Ends.EndKind.CODE && !heardOfAnother(rank));
    }

    private boolean heardOfAnother(int rank) {
        return merge.groups().stream()
                .flatMap(group -> Optional.ofNullable(group.failures().get(rank)).stream())
                .anyMatch(failure ->
                        !failure.culprits().isEmpty() && !failure.culprits().contains(rank));
    }

    /**
     * Returns the ranks whose processes ended abnormally and that had been told of no failure, each with its end. No rank
     * blames them.
     */
    String unexplained() {
        Map<String, SortedSet<Integer>> same = new TreeMap<>();
        ends.byRank().forEach((rank, end) -> {
            if (end.bad()
                    && merge.groups().stream()
                            .noneMatch(group -> group.failures().containsKey(rank))) {
                same.computeIfAbsent(end.text(), key -> new TreeSet<>()).add(rank);
            }
        });
        return same.values().stream()
                .map(ranks -> PlainTexts.ranks(ranks) + ": "
                        + ends.byRank().get(ranks.first()).said(Pronoun.of(ranks.size())))
                .collect(Collectors.joining("; "));
    }

    /**
     * Returns the call that the rank itself was in, or else its last call: the others may be in a call that it never made.
     */
    private String whereItAborted(int rank, SharedGroup group) {
        return ownCalls(rank, group)
                .filter(own -> own.state().open() || own.code().equals("ABORTED"))
                .reduce((first, second) -> second)
                .map(open -> " at " + open.call().name())
                .or(() ->
                        group.lastDone(rank).map(last -> " after " + last.call().name()))
                .orElse("");
    }

    /** Returns the operations that a rank recorded of a group, including messages. */
    private Stream<RecordedOperation> ownCalls(int rank, SharedGroup group) {
        return Stream.ofNullable(merge.recordings().get(rank))
                .flatMap(recording -> recording.operations().stream())
                .filter(operation -> operation.call().group().equals(group.nameOn(rank)));
    }

    private String recorded(int rank, Scene scene, Pronoun pronoun) {
        SharedGroup group = scene.group();
        boolean lost = scene.code().equals("PEER_LOST");
        Optional<RecordedOperation> own = group.call(rank, scene.sequence());
        if (own.isPresent() && (own.get().unfinished() || !lost)) {
            return inside(rank, own.get(), pronoun);
        }
        if (scene.sequence() < 0 && scene.code().isEmpty()) {
            return pronoun.say("it is in no call of ferro") + others(scene).after(", while ", "waits in", "wait in");
        }
        if (scene.sequence() < 0 && scene.code().equals(Code.TIMED_OUT.name())) {
            return ownCalls(rank, group)
                    .filter(RecordedOperation::unfinished)
                    .reduce((first, second) -> second)
                    .map(open -> inside(rank, open, pronoun))
                    .orElseGet(() -> pronoun.say("it was in no call of ferro") + meanwhile(others(scene)));
        }
        if (scene.sequence() < 0) {
            return scene.code() + " in group \"" + group.name() + "\"";
        }
        if (lost) {
            return pronoun.say("it left") + others(scene).after(", although ", "was in", "were in") + "; "
                    + last(rank, scene, pronoun);
        }
        String call = call(group, scene.sequence());
        String never =
                pronoun.say(group.reached(rank, scene.sequence()) ? "it has moved on from " : "it never called ");
        return never + call + "; " + last(rank, scene, pronoun) + elsewhere(rank, group, pronoun);
    }

    /**
     * Whether it is known how the processes of all ranks to blame have ended, so that the text of a failure that blames them
     * adds nothing: that they are gone, or the exception that they threw.
     */
    boolean isExplained(SortedSet<Integer> guilty, RecordedFailure failure) {
        boolean lost = failure.code().equals(Code.PEER_LOST.name());
        return !guilty.isEmpty()
                && guilty.stream()
                        .allMatch(rank -> byItself(rank)
                                .filter(end -> lost
                                        || end.kind() == Ends.EndKind.THREW
                                                && failure.text().contains(end.thrown()))
                                .isPresent());
    }

    /** Returns the text of a failure, without the advice to find out what is known of the ranks to blame. */
    String withoutAdvice(SortedSet<Integer> guilty, String text) {
        boolean known = !guilty.isEmpty()
                && guilty.stream()
                        .allMatch(rank -> byItself(rank)
                                .or(() -> Optional.ofNullable(ends.byRank().get(rank)))
                                .filter(ProcessEnd::isCause)
                                .isPresent());
        return known ? ADVICE.matcher(text).replaceAll("") : text;
    }

    /** Returns which ranks left no recording, and what is known of each. */
    List<String> ofMissing() {
        Map<String, SortedSet<Integer>> same = new LinkedHashMap<>();
        for (int rank : merge.missing()) {
            String why = merge.outdated(rank)
                    .map(older -> " wrote no recording for " + PlainTexts.time(older) + ": dead, killed or stopped")
                    .orElseGet(() -> ofMissing(ends.byRank().get(rank)));
            same.computeIfAbsent(why, key -> new TreeSet<>()).add(rank);
        }
        List<String> lines = new ArrayList<>();
        same.forEach((why, ranks) -> lines.add(PlainTexts.ranks(ranks) + why));
        return lines;
    }

    private static String ofMissing(ProcessEnd end) {
        if (end == null) {
            return " wrote no recording: dead, killed, stopped, asked too late, or on another host";
        }
        return end.kind() == Ends.EndKind.ELSEWHERE
                ? " recorded on " + end.text()
                : " wrote no recording: " + end.text();
    }

    /** Describes a rank whose recording is on another host; the code of the failure says what is known here. */
    private static String faraway(String code) {
        return code.equals("PEER_LOST") ? "its process is gone" : "it did not answer";
    }

    /** Describes a rank without a recording; the code of the failure says what is known. */
    private String silent(int rank, String code) {
        boolean lost = code.equals("PEER_LOST");
        String wrote = merge.outdated(rank)
                .map(older -> (lost ? ", and its newest recording is " : "its newest recording is ")
                        + PlainTexts.time(older) + " older than the others")
                .orElse(lost ? " and wrote no recording" : "it wrote no recording");
        return lost
                ? "its process is gone" + wrote + " (killed, crashed, or ended by itself)"
                : wrote + " (stopped, killed or stuck)";
    }

    private static String call(SharedGroup group, long sequence) {
        return group.callers().stream()
                .flatMap(rank -> group.call(rank, sequence).stream())
                .findFirst()
                .map(operation -> operation.call().name())
                .orElse("seq " + sequence + " of group \"" + group.name() + "\"");
    }

    private static String meanwhile(CallsOfOthers others) {
        return others.after(", while ", "was in", "were in");
    }

    /** Returns the calls in which the ranks waited that are not to blame. A call that a rank has completed is not one. */
    private CallsOfOthers others(Scene scene) {
        SharedGroup group = scene.group();
        SortedSet<Integer> others = new TreeSet<>(group.callers());
        others.removeAll(scene.guilty());
        CallsOfOthers calls = new CallsOfOthers(others);
        others.forEach(rank -> Stream.of(
                        group.call(rank, scene.sequence()).stream(),
                        ownCalls(rank, group).filter(own -> waitsForAny(own, scene.guilty())),
                        ownCalls(rank, group))
                .flatMap(own -> own)
                .filter(RecordedOperation::unfinished)
                .findFirst()
                .ifPresent(own -> calls.add(rank, own.call().name())));
        return calls;
    }

    private static boolean waitsForAny(RecordedOperation operation, Collection<Integer> ranks) {
        return !Collections.disjoint(operation.progress().waitingFor(), ranks);
    }

    /** A call of some rank. */
    private record KeptCall(int rank, RecordedOperation operation) {}

    /**
     * Returns unfinished calls of the others: first those under the number of the scene, then those that wait for the rank,
     * then the rest.
     */
    private Stream<KeptCall> kept(int rank, Scene scene) {
        SharedGroup group = scene.group();
        Stream<KeptCall> numbered = others(rank, group)
                .flatMap(other -> group.call(other, scene.sequence()).stream().map(call -> new KeptCall(other, call)));
        Stream<KeptCall> waiting = calls(rank, group)
                .filter(one -> one.operation().progress().waitingFor().contains(rank));
        return Stream.of(numbered, waiting, calls(rank, group))
                .flatMap(calls -> calls)
                .filter(one -> one.operation().unfinished());
    }

    private Stream<KeptCall> calls(int rank, SharedGroup group) {
        return others(rank, group).flatMap(other -> ownCalls(other, group).map(call -> new KeptCall(other, call)));
    }

    private static Stream<Integer> others(int rank, SharedGroup group) {
        return group.callers().stream().filter(other -> other != rank);
    }

    private String inside(int rank, RecordedOperation own, Pronoun pronoun) {
        RankRecording.RecordedProgress progress = own.progress();
        String step = progress.step() < 0 ? "" : ", at step " + progress.step();
        String state = switch (own.state()) {
            case DONE -> pronoun.say("it has finished ") + own.call().name();
            case FAILED -> pronoun.say("it failed in ") + own.call().name();
            default -> pronoun.say("it has been in ") + own.call().name();
        };
        String since =
                own.state().open() ? " for " + PlainTexts.time(merge.latest() - merge.at(rank, own.begun())) : "";
        return state + since + step + ", " + progress.bytesMoved() + " bytes moved" + waits(own);
    }

    /** Describes the last call before that of the scene, or that of the scene if the rank has completed it. */
    private String last(int rank, Scene scene, Pronoun pronoun) {
        Optional<RecordedOperation> last = scene.group()
                .call(rank, scene.sequence())
                .filter(operation -> !operation.unfinished())
                .or(() -> scene.group().before(rank, scene.sequence()));
        if (last.isEmpty()) {
            return pronoun.say("it made no call in that group before");
        }
        RecordedOperation operation = last.get();
        String name = pronoun.say("its last call was ") + operation.call().shortName();
        if (operation.state().open()) {
            return name + pronoun.say(", which it is still in") + waits(operation);
        }
        return name + ", " + PlainTexts.time(othersGaveUp(rank, scene) - merge.at(rank, operation.ended()))
                + " earlier";
    }

    private static String waits(RecordedOperation operation) {
        List<Integer> ranks = operation.progress().waitingFor();
        return ranks.isEmpty() ? "" : ", waiting for " + PlainTexts.ranks(ranks);
    }

    /** Returns when the first of the others gave up, or, if they still wait, when the last recording was written. */
    private long othersGaveUp(int rank, Scene scene) {
        return kept(rank, scene)
                .filter(one -> one.operation().ended() != 0)
                .map(one -> merge.at(one.rank(), one.operation().ended()))
                .min(Long::compare)
                .orElseGet(merge::latest);
    }

    /**
     * Describes the call of another group that the rank is in: a rank that is late in one group may be in a call of another.
     */
    private String elsewhere(int rank, SharedGroup here, Pronoun pronoun) {
        return merge.groups().stream()
                .filter(group -> group != here)
                .flatMap(group -> group.last(rank).stream())
                .filter(operation -> operation.state().open())
                .findFirst()
                .map(operation -> pronoun.say("; it is in ") + operation.call().name() + waits(operation))
                .orElse(pronoun.say("; it is in no call of ferro, but in its own code"));
    }
}
