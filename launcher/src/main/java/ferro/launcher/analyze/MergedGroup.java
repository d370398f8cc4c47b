package ferro.launcher.analyze;

import ferro.control.failure.Failure;
import ferro.launcher.analyze.RankRecording.GroupEntry;
import ferro.launcher.analyze.RankRecording.RecordedOperation;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Optional;
import java.util.SortedMap;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Stream;

/** One group, according to the recordings of all its members: the calls of the members by sequence number. */
final class MergedGroup {
    private final String name;
    private final SortedSet<Integer> members;
    private final SortedMap<Integer, NavigableMap<Long, RecordedOperation>> calls = new TreeMap<>();
    private final SortedMap<Integer, Failure> failures = new TreeMap<>();
    private final SortedMap<Integer, String> names = new TreeMap<>();

    MergedGroup(String name, List<Integer> members) {
        this.name = name;
        this.members = Collections.unmodifiableSortedSet(new TreeSet<>(members));
    }

    void add(int rank, GroupEntry seen) {
        calls.computeIfAbsent(rank, key -> new TreeMap<>());
        names.put(rank, seen.name());
        seen.failure().ifPresent(failure -> failures.put(rank, failure));
    }

    void add(int rank, RecordedOperation operation) {
        calls.computeIfAbsent(rank, key -> new TreeMap<>()).put(operation.call().sequence(), operation);
    }

    String name() {
        return name;
    }

    /** Returns the name of the group on a rank. {@code #2} marks a second group of the same name on the rank. */
    String nameOn(int rank) {
        return names.getOrDefault(rank, name);
    }

    /** Returns all members, including members that recorded nothing. */
    SortedSet<Integer> members() {
        return members.isEmpty() ? callers() : members;
    }

    /** Returns the ranks that recorded the group. */
    SortedSet<Integer> callers() {
        return Collections.unmodifiableSortedSet(new TreeSet<>(calls.keySet()));
    }

    /** Returns, by rank, the failure of the group that each member recorded. */
    SortedMap<Integer, Failure> failures() {
        return failures;
    }

    /** Returns the calls of a rank, the newest first. */
    Stream<RecordedOperation> newest(int rank) {
        return calls.getOrDefault(rank, new TreeMap<>()).descendingMap().values().stream();
    }

    Optional<RecordedOperation> last(int rank) {
        return newest(rank).findFirst();
    }

    Optional<RecordedOperation> call(int rank, long sequence) {
        return Optional.ofNullable(calls.get(rank)).map(own -> own.get(sequence));
    }

    /** Returns the highest sequence number of all calls of all ranks; -1 without calls. */
    long top() {
        return calls.values().stream()
                .filter(own -> !own.isEmpty())
                .mapToLong(NavigableMap::lastKey)
                .max()
                .orElse(-1);
    }

    /** Whether a rank has made the call with this number or a later call, according to its recording. */
    boolean reached(int rank, long sequence) {
        return last(rank).filter(last -> last.call().sequence() >= sequence).isPresent();
    }

    /** Returns the text of each rank's call with a given sequence number. */
    SortedMap<Integer, String> texts(long sequence) {
        SortedMap<Integer, String> texts = new TreeMap<>();
        calls.keySet()
                .forEach(rank -> call(rank, sequence)
                        .ifPresent(own -> texts.put(rank, own.call().text())));
        return texts;
    }

    /** Whether ranks made different calls with a given sequence number. */
    boolean differs(long sequence) {
        return texts(sequence).values().stream().distinct().count() > 1;
    }

    /** Returns the sequence numbers of all calls of all ranks, ascending. */
    SortedSet<Long> sequences() {
        SortedSet<Long> all = new TreeSet<>();
        calls.values().stream().map(Map::keySet).forEach(all::addAll);
        return all;
    }

    /** Returns the lowest sequence number with which ranks made different calls. */
    Optional<Long> firstMismatch() {
        return sequences().stream().filter(this::differs).findFirst();
    }
}
