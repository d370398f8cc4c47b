package ferro.launcher.analyze;

import ferro.launcher.analyze.Ends.End;
import ferro.launcher.analyze.Recording.Operation;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * What the recordings say about a rank that is to blame, in words; and what was seen of its process, which wins over what they
 * leave open.
 */
final class Testimony {
    private final Merge merge;
    private final Ends ends;

    Testimony(Merge merge, Ends ends) {
        this.merge = merge;
        this.ends = ends;
    }

    /** Where a failure was seen, and of which code; the code is empty where ranks still wait. */
    private record Scene(SharedGroup group, long sequence, String code) {}

    /** Says what ranks did, or did not do, at a call: once if it is the same for all, else of each. */
    String on(SortedSet<Integer> guilty, SharedGroup group, long sequence, String code) {
        Scene scene = new Scene(group, sequence, code);
        Map<String, SortedSet<Integer>> same = new LinkedHashMap<>();
        for (int rank : guilty) {
            same.computeIfAbsent(on(rank, scene, Pronoun.IT), key -> new TreeSet<>())
                    .add(rank);
        }
        return same.values().stream()
                .map(ranks -> (same.size() == 1 ? "" : Words.ranks(ranks) + ": ")
                        + on(ranks.first(), scene, Pronoun.of(ranks.size())))
                .collect(Collectors.joining("; "));
    }

    private String on(int rank, Scene scene, Pronoun pronoun) {
        String call = whileIn(rank, scene);
        if (scene.code().equals("ABORTED")) {
            String aborted = "aborted the group" + whereItAborted(rank, scene.group());
            return byItself(rank)
                    .filter(End::bad)
                    .map(seen -> seen.said(pronoun) + ", and " + aborted)
                    .orElse(pronoun.say("it ") + aborted);
        }
        Optional<End> end = Optional.ofNullable(ends.byRank().get(rank));
        if (merge.missing().contains(rank)) {
            if (end.filter(seen -> seen.kind() == Ends.Kind.ELSEWHERE).isPresent()) {
                return pronoun.say(faraway(scene.code())) + " on " + end.get().text()
                        + (call.isEmpty() ? "" : ", while the others were in " + call);
            }
            return end.map(seen -> seen.at(call, pronoun))
                    .orElseGet(() -> pronoun.say(silent(scene.code()))
                            + (call.isEmpty() ? "" : ", while the others were in " + call));
        }
        Optional<End> own = byItself(rank);
        if (scene.code().equals("PEER_LOST") && own.isPresent()) {
            return own.get().at(call, pronoun) + (scene.sequence() < 0 ? "" : "; " + last(rank, scene, pronoun));
        }
        // what ends a rank that was late may be what the others told it then, unless they still wait for it
        return recorded(rank, scene, pronoun)
                + own.filter(seen -> seen.cameFirst() || scene.code().isEmpty())
                        .map(seen -> "; in the end " + seen.said(pronoun))
                        .orElse("");
    }

    /** How a rank ended, unless an exit code says no more than that the rank had heard of another's failure. */
    private Optional<End> byItself(int rank) {
        return Optional.ofNullable(ends.byRank().get(rank))
                .filter(end -> end.cameFirst() || end.kind() == Ends.Kind.CODE && !heardOfAnother(rank));
    }

    private boolean heardOfAnother(int rank) {
        return merge.groups().stream()
                .flatMap(group -> Optional.ofNullable(group.failures().get(rank)).stream())
                .anyMatch(failure ->
                        !failure.culprits().isEmpty() && !failure.culprits().contains(rank));
    }

    /** Ranks whose processes ended as none should and that had heard of no failure, each with how: no rank blames them. */
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
                .map(ranks -> Words.ranks(ranks) + ": "
                        + ends.byRank().get(ranks.first()).said(Pronoun.of(ranks.size())))
                .collect(Collectors.joining("; "));
    }

    /** The call that the rank was in itself, or else its last one: the others may be in one that it never made. */
    private String whereItAborted(int rank, SharedGroup group) {
        return ownCalls(rank, group)
                .filter(own -> own.state().open() || own.code().equals("ABORTED"))
                .reduce((first, second) -> second)
                .map(open -> " at " + open.call().name())
                .or(() ->
                        group.lastDone(rank).map(last -> " after " + last.call().name()))
                .orElse("");
    }

    /** What a rank recorded of a group, messages among it. */
    private Stream<Operation> ownCalls(int rank, SharedGroup group) {
        return Stream.ofNullable(merge.recordings().get(rank))
                .flatMap(recording -> recording.operations().stream())
                .filter(operation -> operation.call().group().equals(group.nameOn(rank)));
    }

    private String recorded(int rank, Scene scene, Pronoun pronoun) {
        SharedGroup group = scene.group();
        boolean lost = scene.code().equals("PEER_LOST");
        Optional<Operation> own = group.call(rank, scene.sequence());
        if (own.isPresent() && (own.get().unfinished() || !lost)) {
            return inside(rank, own.get(), pronoun);
        }
        if (scene.sequence() < 0) {
            return scene.code() + " in group \"" + group.name() + "\"";
        }
        if (lost) {
            String call = whileIn(rank, scene);
            return pronoun.say("it left") + (call.isEmpty() ? "" : ", although the others were in " + call) + "; "
                    + last(rank, scene, pronoun);
        }
        String call = call(group, scene.sequence());
        String never = pronoun.say(group.reached(rank, scene.sequence()) ? "it has gone on from " : "it never called ");
        return never + call + "; " + last(rank, scene, pronoun) + elsewhere(rank, group, pronoun);
    }

    /** Says which ranks left no recording, and what is known of each. */
    List<String> ofMissing() {
        Map<String, SortedSet<Integer>> same = new LinkedHashMap<>();
        for (int rank : merge.missing()) {
            same.computeIfAbsent(ofMissing(ends.byRank().get(rank)), key -> new TreeSet<>())
                    .add(rank);
        }
        List<String> lines = new ArrayList<>();
        same.forEach((why, ranks) -> lines.add(Words.ranks(ranks) + why));
        return lines;
    }

    private static String ofMissing(End end) {
        if (end == null) {
            return " wrote no recording: dead, killed, stopped, asked too late, or on another host";
        }
        return end.kind() == Ends.Kind.ELSEWHERE ? " recorded on " + end.text() : " wrote no recording: " + end.text();
    }

    /** A rank whose recording is on another host; the code of the failure says what is known here. */
    private static String faraway(String code) {
        return code.equals("PEER_LOST") ? "its process is gone" : "it did not answer";
    }

    /** A rank without a recording; the code of the failure says what is known. */
    private static String silent(String code) {
        if (code.equals("PEER_LOST")) {
            return "its process is gone and wrote no recording (killed, crashed, or ended by itself)";
        }
        return "it wrote no recording (stopped, killed or stuck)";
    }

    private static String call(SharedGroup group, long sequence) {
        return group.callers().stream()
                .flatMap(rank -> group.call(rank, sequence).stream())
                .findFirst()
                .map(operation -> operation.call().name())
                .orElse("seq " + sequence + " of group \"" + group.name() + "\"");
    }

    /** The call that kept the others, empty if none is known: a call that all have ended kept nobody. */
    private String whileIn(int rank, Scene scene) {
        return kept(rank, scene)
                .findFirst()
                .map(one -> one.operation().call().name())
                .orElse("");
    }

    /** A call of some rank. */
    private record Kept(int rank, Operation operation) {}

    /** Calls of others that did not end well: those under the number of the scene first, then those that wait for the rank. */
    private Stream<Kept> kept(int rank, Scene scene) {
        SharedGroup group = scene.group();
        Stream<Kept> numbered = others(rank, group)
                .flatMap(other -> group.call(other, scene.sequence()).stream().map(call -> new Kept(other, call)));
        Stream<Kept> waiting = calls(rank, group)
                .filter(one -> one.operation().progress().waitingFor().contains(rank));
        return Stream.of(numbered, waiting, calls(rank, group))
                .flatMap(calls -> calls)
                .filter(one -> one.operation().unfinished());
    }

    private Stream<Kept> calls(int rank, SharedGroup group) {
        return others(rank, group).flatMap(other -> ownCalls(other, group).map(call -> new Kept(other, call)));
    }

    private static Stream<Integer> others(int rank, SharedGroup group) {
        return group.callers().stream().filter(other -> other != rank);
    }

    private String inside(int rank, Operation own, Pronoun pronoun) {
        Recording.Progress progress = own.progress();
        String step = progress.step() < 0 ? "" : ", at step " + progress.step();
        String state = switch (own.state()) {
            case DONE -> pronoun.say("it has finished ") + own.call().name();
            case FAILED -> pronoun.say("it failed in ") + own.call().name();
            default -> pronoun.say("it is in ") + own.call().name() + pronoun.say(" and does not go on");
        };
        String since = own.state().open() ? " since " + Words.time(merge.latest() - merge.at(rank, own.begun())) : "";
        return state + since + step + ", " + progress.bytesMoved() + " bytes moved" + waits(own);
    }

    /** The last call before the one of the scene, or that one if the rank has ended it. */
    private String last(int rank, Scene scene, Pronoun pronoun) {
        Optional<Operation> last = scene.group()
                .call(rank, scene.sequence())
                .filter(operation -> !operation.unfinished())
                .or(() -> scene.group().before(rank, scene.sequence()));
        if (last.isEmpty()) {
            return pronoun.say("it has called nothing in that group before");
        }
        Operation operation = last.get();
        String name = pronoun.say("its last was ") + operation.call().shortName();
        if (operation.state().open()) {
            return name + pronoun.say(", which it is still in") + waits(operation);
        }
        return name + ", " + Words.time(othersGaveUp(rank, scene) - merge.at(rank, operation.ended())) + " earlier";
    }

    private static String waits(Operation operation) {
        List<Integer> ranks = operation.progress().waitingFor();
        return ranks.isEmpty() ? "" : ", waiting for " + Words.ranks(ranks);
    }

    /** When the others gave up, or, if they still wait, when they wrote. */
    private long othersGaveUp(int rank, Scene scene) {
        return kept(rank, scene)
                .filter(one -> one.operation().ended() != 0)
                .map(one -> merge.at(one.rank(), one.operation().ended()))
                .min(Long::compare)
                .orElseGet(merge::latest);
    }

    /** A rank that is late in one group may be in a call of another. */
    private String elsewhere(int rank, SharedGroup here, Pronoun pronoun) {
        return merge.groups().stream()
                .filter(group -> group != here)
                .flatMap(group -> group.last(rank).stream())
                .filter(operation -> operation.state().open())
                .findFirst()
                .map(operation -> pronoun.say("; it is in ") + operation.call().name() + waits(operation))
                .orElse(pronoun.say("; it is in no call of ferro: its own code keeps it"));
    }
}
