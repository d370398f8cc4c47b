package ferro.launcher.analyze;

import ferro.launcher.analyze.RankRecording.EventEntry;
import ferro.launcher.analyze.RankRecording.GroupEntry;
import ferro.launcher.analyze.RankRecording.OperationState;
import ferro.launcher.analyze.RankRecording.RecordedOperation;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SortedMap;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * The recordings of one job, with times converted to one clock.
 *
 * <p>The clock of a rank's time stamps has an arbitrary origin. Each recording contains one moment both on the rank's
 * clock and on the wall clock. All processes of a host use the same clock for time stamps. Therefore one offset applies
 * to all processes of a host, and times of two ranks of a host can be compared to the nanosecond. Times of different
 * hosts are compared by the wall clocks, which may differ by some milliseconds.
 */
final class MergedRecordings {
    /** Clock difference above which ranks with one host name are on different hosts, such as containers. */
    private static final long ONE_CLOCK_NANOS = 1_000_000_000L;

    /** Longest time between two recordings of one run, unless the newest recording has a call that began earlier. */
    private static final long EARLIER_RUN_NANOS = 60_000_000_000L;

    /** Age difference above which a recording belongs to an earlier ferro dump. Ranks answer ferro dump within 1 s. */
    private static final long EARLIER_ANSWER_NANOS = 2_000_000_000L;

    private final SortedMap<Integer, RankRecording> recordings = new TreeMap<>();
    private final SortedMap<Integer, Long> outdated = new TreeMap<>();
    private final SortedMap<Integer, String> damaged = new TreeMap<>();
    private final Map<List<?>, MergedGroup> groups = new LinkedHashMap<>();
    private final List<String> notes = new ArrayList<>();
    private final String job;
    private final SortedSet<Integer> missing = new TreeSet<>();
    private int worldSize;

    private MergedRecordings(String job) {
        this.job = job;
    }

    /** A file that has the name of a recording and cannot be read. */
    record DamagedFile(String job, int rank, String why) {}

    /** Merges the recordings of a job. Without a job name, merges the recordings of the job that wrote last. */
    static MergedRecordings of(List<RankRecording> all, List<DamagedFile> unreadable, Optional<String> wanted) {
        String job = wanted.orElseGet(() -> all.stream()
                .max(Comparator.comparingLong(one -> one.clock().wallNanos()))
                .orElseThrow(() -> new IllegalArgumentException("0 recordings, need at least 1"))
                .writer()
                .job());
        MergedRecordings merge = new MergedRecordings(job);
        all.stream().filter(one -> one.writer().job().equals(job)).forEach(merge::add);
        SortedSet<String> others = all.stream()
                .map(one -> one.writer().job())
                .filter(name -> !name.equals(job))
                .collect(Collectors.toCollection(TreeSet::new));
        if (!others.isEmpty()) {
            merge.notes.add("files of other jobs are left out: " + String.join(", ", others)
                    + (wanted.isPresent() ? "" : "; this job wrote last"));
        }
        if (!merge.recordings.isEmpty()) {
            merge.leaveOutEarlierRuns();
            merge.leaveOutEarlierAnswers(List.copyOf(merge.recordings.values()));
        }
        merge.settle(unreadable.stream().filter(one -> one.job().equals(job)).toList());
        return merge;
    }

    /** Merges recordings that certainly come from one run. The clocks of the hosts may differ by any time. */
    static MergedRecordings ofOneRun(List<RankRecording> all, List<DamagedFile> unreadable) {
        MergedRecordings merge = new MergedRecordings(
                all.isEmpty() ? unreadable.get(0).job() : all.get(0).writer().job());
        all.forEach(merge::add);
        byHost(merge.recordings.values()).values().forEach(merge::leaveOutEarlierAnswers);
        merge.settle(unreadable);
        return merge;
    }

    /**
     * Omits recordings of earlier runs. All jobs that users start by hand have the same name. Therefore the folder may
     * contain files of an earlier run that the last run did not overwrite.
     */
    private void leaveOutEarlierRuns() {
        RankRecording newest = newest(recordings.values());
        long written = newest.clock().wallNanos();
        long earliest = newest.operations().stream()
                .mapToLong(operation -> operation.begun() + newest.clock().offset())
                .reduce(written, Math::min);
        long since = Math.min(earliest, written - EARLIER_RUN_NANOS);
        SortedSet<Integer> earlier = recordings.entrySet().stream()
                .filter(entry -> entry.getValue().clock().wallNanos() < since)
                .map(Map.Entry::getKey)
                .collect(Collectors.toCollection(TreeSet::new));
        if (!earlier.isEmpty()) {
            notes.add("files of an earlier run are left out: those of " + RankFormatter.ranks(earlier)
                    + " were written more than " + RankFormatter.time(EARLIER_RUN_NANOS)
                    + " before the newest file, and before every call in it");
            recordings.keySet().removeAll(earlier);
        }
    }

    private RankRecording newest(Collection<RankRecording> compared) {
        return compared.stream()
                .max(Comparator.comparingLong(one -> one.clock().wallNanos()))
                .orElseThrow(() -> new IllegalArgumentException("0 recordings of job " + job + ", need at least 1"));
    }

    /**
     * Omits recordings that answer an earlier ferro dump than the newest recording. A rank with an omitted recording
     * has written no newer recording, so its recording does not show the present state.
     *
     * @param compared recordings whose wall clocks can be compared
     */
    private void leaveOutEarlierAnswers(List<RankRecording> compared) {
        RankRecording newest = newest(compared);
        compared.forEach(one -> {
            long older = newest.clock().wallNanos() - one.clock().wallNanos();
            boolean superseded = !newest.isAnswer() || one.origin().askedForAgain();
            if (one.isAnswer() && superseded && older > EARLIER_ANSWER_NANOS) {
                leaveOut(one.writer().rank(), older);
            }
        });
    }

    private void leaveOut(int rank, long older) {
        outdated.put(rank, older);
        recordings.remove(rank);
        notes.add("the recording of rank " + rank + " is left out: it answers an earlier ferro dump, "
                + RankFormatter.time(older) + " before the newest recording, and the rank has written none since");
    }

    private static Map<String, List<RankRecording>> byHost(Collection<RankRecording> recordings) {
        return recordings.stream()
                .collect(Collectors.groupingBy(one -> one.writer().host()));
    }

    private void add(RankRecording one) {
        recordings.merge(
                one.writer().rank(),
                one,
                (first, second) -> first.clock().wallNanos() > second.clock().wallNanos() ? first : second);
    }

    private void settle(List<DamagedFile> unreadable) {
        Map<String, List<RankRecording>> hosts = byHost(recordings.values());
        hosts.values().forEach(this::settleClocks);
        if (hosts.size() > 1) {
            notes.add("times of " + hosts.size() + " hosts are compared by their wall clocks, which may differ");
        }
        if (recordings.values().stream()
                        .map(one -> one.writer().worldSize())
                        .distinct()
                        .count()
                > 1) {
            notes.add("ranks recorded different world sizes: the largest is used");
        }
        worldSize = recordings.values().stream()
                .mapToInt(one -> one.writer().worldSize())
                .max()
                .orElseGet(() ->
                        unreadable.stream().mapToInt(DamagedFile::rank).max().orElse(-1) + 1);
        IntStream.range(0, worldSize)
                .filter(rank -> !recordings.containsKey(rank))
                .forEach(missing::add);
        unreadable.stream()
                .filter(one -> missing.contains(one.rank()))
                .forEach(one -> damaged.put(one.rank(), one.why()));
        recordings.forEach(this::share);
    }

    /**
     * Adds the groups of a rank. Several groups may have the same name, in a different order on each rank. Therefore
     * the id identifies a group on all ranks.
     */
    private void share(int rank, RankRecording one) {
        Map<String, MergedGroup> named = new HashMap<>();
        Map<String, Integer> uses = new HashMap<>();
        for (GroupEntry group : one.groups()) {
            List<?> key = group.id().isEmpty()
                    ? List.of(group.name(), group.ranks())
                    : List.of(group.id(), group.ranks(), uses.merge(group.id(), 1, Integer::sum));
            MergedGroup shared = group(key, group.name(), group.ranks());
            shared.add(rank, group);
            named.put(group.name(), shared);
        }
        one.operations().stream().filter(RecordedOperation::ordered).forEach(operation -> {
            String name = operation.call().group();
            MergedGroup known = named.get(name);
            (known == null ? group(List.of(name, List.of()), name, List.of()) : known).add(rank, operation);
        });
    }

    private void settleClocks(List<RankRecording> host) {
        long[] sorted =
                host.stream().mapToLong(one -> one.clock().offset()).sorted().toArray();
        long middle = sorted[sorted.length / 2];
        for (RankRecording one : host) {
            long own = one.clock().offset();
            long offset = Math.abs(own - middle) < ONE_CLOCK_NANOS ? middle : own;
            recordings.put(one.writer().rank(), one.shifted(offset));
        }
    }

    private MergedGroup group(List<?> key, String name, List<Integer> ranks) {
        return groups.computeIfAbsent(key, made -> new MergedGroup(name, ranks));
    }

    String job() {
        return job;
    }

    int worldSize() {
        return worldSize;
    }

    /** Returns the recordings by rank, whose times are wall clock times, in nanoseconds since 1970. */
    SortedMap<Integer, RankRecording> recordings() {
        return recordings;
    }

    /** Returns the ranks without a usable recording. */
    SortedSet<Integer> missing() {
        return Collections.unmodifiableSortedSet(missing);
    }

    /** Returns what is wrong with the recordings of ranks that have no readable recording. */
    SortedMap<Integer, String> damaged() {
        return Collections.unmodifiableSortedMap(damaged);
    }

    /** Returns by how much a rank's recording is older than other recordings, if it is omitted for this reason. */
    Optional<Long> outdated(int rank) {
        return Optional.ofNullable(outdated.get(rank));
    }

    /** Returns the ranks whose recordings are omitted because other ranks have written newer recordings. */
    SortedSet<Integer> outdated() {
        return Collections.unmodifiableSortedSet(new TreeSet<>(outdated.keySet()));
    }

    /** Returns the groups. The joined group comes first if ranks recorded it first. */
    Collection<MergedGroup> groups() {
        return groups.values();
    }

    /** Returns notes for the reader about how the recordings were merged. */
    List<String> notes() {
        return notes;
    }

    long writtenAt(int rank) {
        return recordings.get(rank).clock().clockNanos();
    }

    /** Returns the time at which a rank detected the failure of a group. */
    long failedAt(MergedGroup group, int rank) {
        return recordings.get(rank).events().stream()
                .filter(event -> event.kind().equals("FAILED") && event.group().equals(group.nameOn(rank)))
                .mapToLong(EventEntry::at)
                .min()
                .orElseGet(() -> group.last(rank)
                        .filter(last -> last.state() == OperationState.FAILED && last.ended() != 0)
                        .map(RecordedOperation::ended)
                        .orElseGet(() -> writtenAt(rank)));
    }

    /** Returns the time at which the last recording was written. */
    long latest() {
        return recordings.keySet().stream().mapToLong(this::writtenAt).max().orElse(0);
    }
}
