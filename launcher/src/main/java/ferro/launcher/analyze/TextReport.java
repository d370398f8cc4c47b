package ferro.launcher.analyze;

import ferro.launcher.analyze.ProcessEnds.ProcessEnd;
import ferro.launcher.analyze.RankRecording.EventEntry;
import ferro.launcher.analyze.RankRecording.RecordedOperation;
import ferro.launcher.analyze.RankRecording.RecordedProgress;
import ferro.launcher.analyze.VerdictFormatter.ShownContext;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SortedMap;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/** The complete analysis as text, with the verdict first. */
final class TextReport {
    /** The default name of a job on several nodes. */
    private static final String UNNAMED = "default";

    private static final int MOST_MISMATCHES = 5;
    private static final int MOST_EVENTS = 20;
    private static final int LONGEST_EVENT = 120;
    private static final int LAST_CALLS = 50;
    /** Smallest number of calls with which a rank is reported as slow. With fewer calls, any rank may be the last. */
    private static final int LEAST_CALLS = 5;

    private static final DateTimeFormatter CLOCK =
            DateTimeFormatter.ofPattern("HH:mm:ss.SSS").withZone(ZoneOffset.UTC);

    private final MergedRecordings merge;
    private final ProcessEnds ends;
    private final Verdict verdict;
    private final List<String> lines = new ArrayList<>();

    private TextReport(MergedRecordings merge, ProcessEnds ends, Verdict verdict) {
        this.merge = merge;
        this.ends = ends;
        this.verdict = verdict;
    }

    static List<String> lines(MergedRecordings merge, ProcessEnds ends, Verdict verdict) {
        TextReport report = new TextReport(merge, ends, verdict);
        report.write();
        return report.lines;
    }

    private void write() {
        List<String> said = VerdictFormatter.of(verdict, ShownContext.NOTHING);
        lines.add("verdict: " + said.get(0));
        said.stream().skip(1).flatMap(String::lines).forEach(reason -> lines.add("  " + reason));
        String unnamed = merge.job().equals(UNNAMED) ? " (FERRO_JOB_ID, the same on all nodes, names a job)" : "";
        title("job " + merge.job() + ", " + merge.worldSize() + " ranks" + unnamed);
        recordings();
        merge.notes().forEach(note -> lines.add("  note: " + note));
        merge.groups().forEach(this::group);
        programLines();
        events();
    }

    /** Lists the line of the program that each thread of a rank executed. Ranks with the same line share an entry. */
    private void programLines() {
        Map<String, SortedSet<Integer>> executed = new LinkedHashMap<>();
        merge.recordings()
                .forEach((rank, one) -> one.threadsAtFailure().stream()
                        .map(stack -> (stack.group().isEmpty() ? "" : "in a call of group \"" + stack.group() + "\": ")
                                + stack.line())
                        .forEach(line -> executed.computeIfAbsent(line, key -> new TreeSet<>())
                                .add(rank)));
        if (!executed.isEmpty()) {
            title("lines of the program");
            executed.forEach((line, ranks) -> lines.add("  " + RankFormatter.ranks(ranks) + ": " + line));
        }
    }

    private void title(String text) {
        lines.add("");
        lines.add(text);
    }

    private void recordings() {
        SortedMap<Integer, RankRecording> recordings = merge.recordings();
        Map<String, SortedSet<Integer>> reasons = Verdict.alike(
                recordings.keySet(), rank -> recordings.get(rank).origin().reason());
        reasons.forEach((reason, ranks) -> {
            long from = ranks.stream().mapToLong(merge::writtenAt).min().orElse(0);
            long to = ranks.stream().mapToLong(merge::writtenAt).max().orElse(0);
            lines.add("  " + RankFormatter.ranks(ranks) + " wrote a recording at " + clock(from) + " UTC"
                    + (to - from > TimeUnit.MILLISECONDS.toNanos(1)
                            ? " and up to " + RankFormatter.time(to - from) + " later"
                            : "")
                    + (reason.isEmpty() ? "" : ": " + reason));
        });
        SortedSet<Integer> silent = new TreeSet<>(merge.missing());
        silent.removeAll(merge.outdated());
        silent.removeAll(merge.damaged().keySet());
        Verdict.alike(merge.damaged().keySet(), merge.damaged()::get)
                .forEach((why, ranks) ->
                        lines.add("  " + RankFormatter.ranks(ranks) + " wrote a recording that is damaged: " + why));
        Verdict.alike(
                        silent,
                        rank -> Optional.ofNullable(ends.byRank().get(rank))
                                .map(ProcessEnd::text)
                                .orElse("dead, killed, stopped, or on another host"))
                .forEach(
                        (text, ranks) -> lines.add("  " + RankFormatter.ranks(ranks) + " wrote no recording: " + text));
    }

    private void group(MergedGroup group) {
        title("group \"" + group.name() + "\", " + RankFormatter.ranks(group.members()));
        long top = group.top();
        SortedMap<Long, Map<String, SortedSet<Integer>>> places = new TreeMap<>(Comparator.reverseOrder());
        for (int rank : group.members()) {
            long sequence = group.last(rank).map(last -> last.call().sequence()).orElse(-1L);
            places.computeIfAbsent(sequence, key -> new LinkedHashMap<>())
                    .computeIfAbsent(status(group, rank, top), key -> new TreeSet<>())
                    .add(rank);
        }
        places.values()
                .forEach(same ->
                        same.forEach((text, ranks) -> lines.add("  " + RankFormatter.ranks(ranks) + ": " + text)));
        mismatches(group);
        slowest(group).ifPresent(text -> lines.add("  slow: " + text));
    }

    /**
     * Returns a text about the rank that most often made a call last, among the last calls that all members have made.
     * Returns empty if the group has fewer than 2 members, or fewer than 5 calls that all members have made.
     */
    private Optional<String> slowest(MergedGroup group) {
        SortedSet<Integer> members = group.members();
        List<Long> whole = group.sequences().stream()
                .filter(sequence -> members.stream()
                        .allMatch(rank -> group.call(rank, sequence).isPresent()))
                .sorted(Comparator.reverseOrder())
                .limit(LAST_CALLS)
                .toList();
        if (members.size() < 2 || whole.size() < LEAST_CALLS) {
            return Optional.empty();
        }
        TreeMap<Integer, List<Long>> lags = new TreeMap<>();
        for (long sequence : whole) {
            TreeMap<Long, Integer> order = new TreeMap<>();
            members.forEach(
                    rank -> order.put(group.call(rank, sequence).orElseThrow().begun(), rank));
            long last = order.lastKey();
            Long before = order.lowerKey(last);
            lags.computeIfAbsent(order.get(last), key -> new ArrayList<>()).add(before == null ? 0 : last - before);
        }
        lags.values().forEach(own -> own.sort(null));
        return lags.entrySet().stream()
                .max(Comparator.comparingInt(entry -> entry.getValue().size()))
                .map(slow -> {
                    List<Long> own = slow.getValue();
                    return "rank " + slow.getKey() + " was the last rank to make " + own.size() + " of the last "
                            + whole.size() + " calls, " + RankFormatter.time(own.get(own.size() / 2))
                            + " after the second-to-last rank (median; at most "
                            + RankFormatter.time(own.get(own.size() - 1)) + ")";
                });
    }

    private String status(MergedGroup group, int rank, long top) {
        Optional<RecordedOperation> last = group.last(rank);
        if (last.isEmpty()) {
            String since = merge.damaged().containsKey(rank)
                    ? "recording damaged"
                    : merge.outdated(rank).isPresent() ? "no recent recording" : "no recording";
            return merge.missing().contains(rank) ? since : "no call recorded";
        }
        RecordedOperation operation = last.get();
        return operation.call().shortName() + ", " + state(operation)
                + distance(group, top - operation.call().sequence());
    }

    /**
     * Returns a text about how many calls a rank is behind other ranks. If all ranks have ended all calls, returns an
     * empty text, because the ranks only wrote their recordings at different times.
     */
    private static String distance(MergedGroup group, long behind) {
        boolean areAllDone = group.failures().isEmpty()
                && group.callers().stream()
                        .flatMap(rank -> group.last(rank).stream())
                        .noneMatch(RecordedOperation::unfinished);
        if (behind == 0 || areAllDone) {
            return "";
        }
        SortedSet<Integer> first = new TreeSet<>(group.callers());
        first.removeIf(rank -> !group.reached(rank, group.top()));
        return "; " + behind + (behind == 1 ? " call" : " calls") + " behind " + RankFormatter.ranks(first);
    }

    private static String state(RecordedOperation operation) {
        RecordedProgress progress = operation.progress();
        String waits =
                progress.waitingFor().isEmpty() ? "" : ", waiting for " + RankFormatter.ranks(progress.waitingFor());
        String step = progress.step() < 0 || !operation.unfinished() ? "" : " at step " + progress.step();
        return switch (operation.state()) {
            case QUEUED -> "queued";
            case RUNNING -> "running" + (progress.text().isEmpty() ? step : ", " + progress.text()) + waits;
            case DONE -> "done";
            case FAILED -> "failed" + (operation.code().isEmpty() ? "" : " by " + operation.code()) + step + waits;
        };
    }

    private void mismatches(MergedGroup group) {
        List<Long> different = group.sequences().stream().filter(group::differs).toList();
        different.stream().limit(MOST_MISMATCHES).forEach(sequence -> {
            lines.add("  different calls under seq " + sequence + ":");
            SortedMap<Integer, String> texts = group.texts(sequence);
            Verdict.alike(texts.keySet(), texts::get)
                    .forEach((text, ranks) -> lines.add("    " + RankFormatter.ranks(ranks) + ": " + text));
        });
        if (different.size() > MOST_MISMATCHES) {
            lines.add("  and under " + (different.size() - MOST_MISMATCHES) + " later numbers");
        }
    }

    /** Returns the events of all ranks in the order in which they occurred. */
    static Stream<EventEntry> events(MergedRecordings merge) {
        return merge.recordings().values().stream()
                .flatMap(one -> one.events().stream())
                .sorted(Comparator.comparingLong(EventEntry::at).thenComparingInt(EventEntry::rank));
    }

    private void events() {
        List<ReportedEvent> all = told();
        if (all.isEmpty()) {
            return;
        }
        int hidden = Math.max(0, all.size() - MOST_EVENTS);
        title("events" + (hidden == 0 ? "" : ", the last " + MOST_EVENTS + " of " + all.size()));
        all.stream()
                .skip(hidden)
                .forEach(one -> lines.add("  " + clock(one.event().at()) + " " + RankFormatter.ranks(one.by()) + ": "
                        + one.event().kind() + about(one.event())
                        + shortened(one.event().text())));
    }

    /** An event that one or several ranks recorded in the same words, for one or several groups. */
    private record ReportedEvent(SortedSet<Integer> by, EventEntry event) {}

    private List<ReportedEvent> told() {
        Map<List<?>, ReportedEvent> told = new LinkedHashMap<>();
        events(merge).forEach(event -> {
            long second = TimeUnit.NANOSECONDS.toSeconds(event.at());
            told.computeIfAbsent(
                            List.of(event.kind(), event.ranks(), event.text(), second),
                            key -> new ReportedEvent(new TreeSet<>(), event))
                    .by()
                    .add(event.rank());
        });
        return List.copyOf(told.values());
    }

    /** Returns a shortened text. The HTML page has the complete text, and the verdict has the important part. */
    private static String shortened(String text) {
        return text.isEmpty()
                ? ""
                : ": " + (text.length() > LONGEST_EVENT ? text.substring(0, LONGEST_EVENT) + " ..." : text);
    }

    private static String about(EventEntry event) {
        return event.ranks().isEmpty() ? "" : " " + RankFormatter.ranks(event.ranks());
    }

    private static String clock(long wallNanos) {
        return CLOCK.format(Instant.ofEpochSecond(0, wallNanos));
    }
}
