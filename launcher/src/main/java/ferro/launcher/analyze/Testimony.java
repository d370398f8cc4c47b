package ferro.launcher.analyze;

import ferro.launcher.analyze.Ends.End;
import ferro.launcher.analyze.Recording.Operation;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SortedSet;
import java.util.TreeSet;

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

    /** Says what ranks did not do at a call: once if it is the same for all. */
    String on(SortedSet<Integer> guilty, SharedGroup group, long sequence, String code) {
        return String.join("; ", same(guilty, group, sequence, code).keySet());
    }

    /** Says so one by one if it is not the same for all. */
    List<String> each(SortedSet<Integer> guilty, SharedGroup group, long sequence, String code) {
        Map<String, SortedSet<Integer>> same = same(guilty, group, sequence, code);
        List<String> lines = new ArrayList<>();
        if (same.size() > 1) {
            same.forEach((text, ranks) -> lines.add(Words.ranks(ranks) + ": " + text));
        }
        return lines;
    }

    private Map<String, SortedSet<Integer>> same(
            SortedSet<Integer> guilty, SharedGroup group, long sequence, String code) {
        Map<String, SortedSet<Integer>> same = new LinkedHashMap<>();
        for (int rank : guilty) {
            same.computeIfAbsent(on(rank, group, sequence, code), key -> new TreeSet<>())
                    .add(rank);
        }
        return same;
    }

    private String on(int rank, SharedGroup group, long sequence, String code) {
        String call = call(group, sequence);
        Optional<End> end = Optional.ofNullable(ends.byRank().get(rank));
        if (merge.missing().contains(rank)) {
            return end.map(seen -> seen.at(call))
                    .orElseGet(() -> silent(code) + (call.isEmpty() ? "" : ", while the others were in " + call));
        }
        Optional<End> first = end.filter(End::cameFirst);
        if (code.equals("ABORTED")) {
            String aborted = "aborted the group" + (call.isEmpty() ? "" : " at " + call);
            return first.filter(seen -> seen.kind() != Ends.Kind.WELL)
                    .map(seen -> seen.text() + ", and " + aborted)
                    .orElse("it " + aborted);
        }
        if (code.equals("PEER_LOST") && first.isPresent()) {
            return first.get().at(call) + (sequence < 0 ? "" : "; " + last(rank, group, sequence));
        }
        // what ends a rank that was late may be what the others told it then
        return recorded(rank, group, sequence, code)
                + first.map(seen -> "; in the end " + seen.text()).orElse("");
    }

    private String recorded(int rank, SharedGroup group, long sequence, String code) {
        String call = call(group, sequence);
        Optional<Operation> own = group.call(rank, sequence);
        if (own.isPresent()) {
            return inside(rank, own.get());
        }
        if (sequence < 0) {
            return code + " in group \"" + group.name() + "\"";
        }
        if (code.equals("PEER_LOST")) {
            return "it left, although the others were in " + call + "; " + last(rank, group, sequence);
        }
        String never = group.reached(rank, sequence) ? "it has gone on from " + call : "it never called " + call;
        return never + "; " + last(rank, group, sequence) + elsewhere(rank, group);
    }

    /** Says which ranks left no recording, and what is known of each. */
    List<String> ofMissing() {
        Map<String, SortedSet<Integer>> same = new LinkedHashMap<>();
        for (int rank : merge.missing()) {
            End end = ends.byRank().get(rank);
            String why = end == null ? "dead, killed, stopped, or asked too late" : end.text();
            same.computeIfAbsent(why, key -> new TreeSet<>()).add(rank);
        }
        List<String> lines = new ArrayList<>();
        same.forEach((why, ranks) -> lines.add(Words.ranks(ranks) + " wrote no recording: " + why));
        return lines;
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
                .orElse(sequence < 0 ? "" : "seq " + sequence + " of group \"" + group.name() + "\"");
    }

    private String inside(int rank, Operation own) {
        Recording.Progress progress = own.progress();
        String step = progress.step() < 0 ? "" : ", at step " + progress.step();
        String waits = progress.waitingFor().isEmpty() ? "" : ", waiting for " + Words.ranks(progress.waitingFor());
        String state = switch (own.state()) {
            case DONE -> "it has finished " + own.call().name();
            case FAILED -> "it failed in " + own.call().name();
            default -> "it is in " + own.call().name() + " and does not go on";
        };
        String since = own.state().open() ? " since " + Words.time(merge.latest() - merge.at(rank, own.begun())) : "";
        return state + since + step + ", " + progress.bytesMoved() + " bytes moved" + waits;
    }

    private String last(int rank, SharedGroup group, long sequence) {
        Optional<Operation> last = group.before(rank, sequence);
        if (last.isEmpty()) {
            return "it has called nothing in that group before";
        }
        Operation operation = last.get();
        String name = "its last was " + operation.call().shortName();
        if (operation.state().open()) {
            return name + ", which it is still in" + waits(operation);
        }
        long until = othersGaveUp(group, sequence);
        return name + ", " + Words.time(until - merge.at(rank, operation.ended())) + " earlier";
    }

    private static String waits(Operation operation) {
        List<Integer> ranks = operation.progress().waitingFor();
        return ranks.isEmpty() ? "" : ", waiting for " + Words.ranks(ranks);
    }

    /** When the others gave up, or, if they still wait, when they wrote. */
    private long othersGaveUp(SharedGroup group, long sequence) {
        return group.callers().stream()
                .flatMap(rank -> group.call(rank, sequence).stream()
                        .filter(operation -> operation.ended() != 0)
                        .map(operation -> merge.at(rank, operation.ended())))
                .min(Long::compare)
                .orElseGet(merge::latest);
    }

    /** A rank that is late in one group may be in a call of another. */
    private String elsewhere(int rank, SharedGroup here) {
        return merge.groups().stream()
                .filter(group -> group != here)
                .flatMap(group -> group.last(rank).stream())
                .filter(operation -> operation.state().open())
                .findFirst()
                .map(operation -> "; it is in " + operation.call().name() + waits(operation))
                .orElse("; it is in no call of ferro: its own code keeps it");
    }
}
