package ferro.recorder;

import ferro.FerroException.Code;
import ferro.GroupEvent;
import ferro.spi.GroupSpec;
import ferro.spi.RankContext;
import ferro.spi.Settings;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Deque;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.function.LongSupplier;

/**
 * A record of the last {@code ferro.recorder.entries} operations and some events of all groups of one rank. The
 * recorder is on by default.
 *
 * <p>Each rank has one recorder. All objects that run operations share the recorder through the rank's context. Each
 * object that runs operations acquires the recorder with {@link #of} and releases the recorder with {@link #release}.
 * If {@code ferro.recorder.dir} is set, the record is written to that folder at the first failure of each group. If the
 * JVM ends before the record of a failure is written, the record is written at the end of the JVM. The record is also
 * written when the rank ends after its last operation has timed out, and when the program calls {@code System.exit}
 * before it has closed its groups. If a file {@code dump.request} appears or changes in the folder of
 * {@code ferro.recorder.dir}, the record is written within a second.
 */
public final class FlightRecorder implements AutoCloseable {
    /**
     * The start of the reason of a record that is written at {@code System.exit}. The line of the program follows this
     * start.
     */
    public static final String EXIT_AT = "System.exit at ";

    private static final int MOST_ENTRIES = 1 << 20;
    private static final int EVENTS = 256;
    private static final int STACKS = 8;
    private static final int CLOSED_GROUPS = 64;
    private static final double FITTING = 0.9;

    private final RecorderOwner owner;
    private final LongSupplier clock;
    private final OperationRing ring;
    private final RecordFile file;
    private final RecordFolder folder;
    private final Set<GroupRecorder> open = new LinkedHashSet<>();
    private final Deque<GroupRecorder> closed = new ArrayDeque<>();
    private final Map<String, Integer> names = new HashMap<>();
    private final Deque<RecordedEvent> events = new ArrayDeque<>();
    private final Deque<RecordedStacks> stacks = new ArrayDeque<>();

    /**
     * The owner of the recorder. The owner has the rank and the world size of the joined group, and the name of
     * {@code ferro.host} if that setting is set.
     */
    record RecorderOwner(String job, int rank, int worldSize, Optional<String> host) {}

    record RecordedEvent(long at, GroupRecorder group, GroupEvent event) {}

    /** The stacks of the threads of a rank at one time, with a text for people that says why the stacks were taken. */
    record RecordedStacks(long at, String reason, List<ThreadStack> stacks) {}

    private FlightRecorder(RecorderOwner owner, RankContext context) {
        this.owner = owner;
        this.clock = context::nanoTime;
        this.file = new RecordFile(owner);
        int entries = Settings.RECORDER_ENTRIES.of(context);
        if (entries > MOST_ENTRIES) {
            throw new IllegalArgumentException(Settings.RECORDER_ENTRIES.name() + "=" + entries + ": need at most "
                    + MOST_ENTRIES + ", which take about 80 MiB");
        }
        this.ring = entries == 0 ? null : new OperationRing(powerOfTwo(entries));
        String text = entries == 0 ? "" : Settings.RECORDER_DIR.find(context).orElse("");
        this.folder = text.isEmpty() ? null : RecordFolder.open(text, this);
    }

    /**
     * Acquires the recorder of a rank. The caller releases the recorder with {@link #release}.
     *
     * @param context context of the rank
     * @param joined  group that the rank joins; or one of its subgroups, if the context already has a recorder
     * @return recorder of this context
     * @throws IllegalArgumentException if a setting is invalid, or if the folder of {@code ferro.recorder.dir} cannot
     *     be written
     */
    public static FlightRecorder of(RankContext context, GroupSpec joined) {
        return context.shared(FlightRecorder.class, () -> {
            RecorderOwner owner = new RecorderOwner(
                    Settings.JOB_ID.of(context), joined.rank(), joined.worldSize(), Settings.HOST.find(context));
            FlightRecorder made = new FlightRecorder(owner, context);
            made.start(context);
            return made;
        });
    }

    /**
     * Releases the recorder that {@link #of} returned.
     *
     * @param context context of the rank
     */
    public static void release(RankContext context) {
        context.release(FlightRecorder.class);
    }

    /**
     * Adds a group to the record.
     *
     * @param name  name of the group; a second group with the same name on this rank is recorded with the suffix {@code
     *     #2}
     * @param rank  rank in that group
     * @param ranks ranks of the group, as rank numbers of the joined group
     * @param group view that returns failure and status of the group when the record is written
     * @return recorder to which the group reports its operations; the group closes the returned recorder
     */
    public GroupRecorder enter(String name, int rank, int[] ranks, RecordedGroup group) {
        synchronized (open) {
            int uses = names.getOrDefault(name, 0) + 1;
            names.put(name, uses);
            GroupRecorder recorder = new GroupRecorder(this, ring, name, rank, ranks);
            recorder.isUseOfName(uses);
            recorder.show(group);
            open.add(recorder);
            return recorder;
        }
    }

    /**
     * Writes the record into a folder as {@code ferro-JOB-rankR.json}. The folder is created if it does not exist. If
     * another recorder has written a file of that name, that file is kept, and the new file is named {@code
     * ferro-JOB.2-rankR.json}, and so on.
     *
     * @param into   folder of the file
     * @param reason why the record is written, as text for people
     * @return path of the file
     * @throws IOException           if the file cannot be written
     * @throws IllegalStateException if {@code ferro.recorder.entries=0} has turned the recorder off
     */
    public Path write(Path into, String reason) throws IOException {
        Objects.requireNonNull(into, "folder");
        if (ring == null) {
            throw new IllegalStateException("rank " + owner.rank + " records nothing, because "
                    + Settings.RECORDER_ENTRIES.name() + "=0: unset it, or set it to more than 0");
        }
        return file.write(into, () -> new RecordWriter(this, Integer.MAX_VALUE).record(reason));
    }

    /**
     * Returns the record as bytes, with the same content as the file that {@link #write} writes. If the record is
     * longer than the limit, the oldest operations and events are left out.
     *
     * @param most   maximum number of bytes
     * @param reason why the record is written, as text for people
     * @return JSON in ASCII; empty if {@code ferro.recorder.entries=0} has turned the recorder off
     * @throws IllegalArgumentException if the description of the groups alone exceeds the limit
     */
    public Optional<byte[]> bytes(int most, String reason) {
        if (ring == null) {
            return Optional.empty();
        }
        int entries = Math.max(operations().size(), EVENTS);
        String text = new RecordWriter(this, Integer.MAX_VALUE).record(reason);
        while (text.length() > most) {
            if (entries == 0) {
                throw new IllegalArgumentException("the record of rank " + owner.rank + " needs " + text.length()
                        + " bytes even without operations, found a limit of " + most);
            }
            // keeps a little less than the proportion, because entries differ in length
            entries = (int) (entries * FITTING * most / text.length());
            text = new RecordWriter(this, entries).record(reason);
        }
        return Optional.of(text.getBytes(StandardCharsets.US_ASCII));
    }

    /** Ends the recorder. If {@code ferro.recorder.dir} is set, pending failures are written before the end. */
    @Override
    public void close() {
        if (folder != null) {
            folder.close();
        }
    }

    private void start(RankContext context) {
        if (folder != null) {
            folder.start(context);
        }
    }

    private static int powerOfTwo(int atLeast) {
        int highest = Integer.highestOneBit(atLeast);
        return highest == atLeast ? highest : 2 * highest;
    }

    /** Returns whether a reason is the failure of a group. */
    private static boolean isFailure(String reason) {
        return reason.startsWith("failure of group ");
    }

    // methods for other classes of this package

    RecorderOwner owner() {
        return owner;
    }

    long nanoTime() {
        return clock.getAsLong();
    }

    void event(GroupRecorder group, GroupEvent event) {
        if (ring == null) {
            return;
        }
        RecordedEvent recorded = new RecordedEvent(nanoTime(), group, event);
        synchronized (events) {
            if (events.size() == EVENTS) {
                events.removeFirst();
            }
            events.addLast(recorded);
        }
    }

    /**
     * Keeps stacks. Stacks of several groups that were taken together are kept once, with the reason of the first
     * failure if one of the reasons is a failure. Stacks that were taken again for the same reason replace the earlier
     * stacks.
     */
    void stacks(String reason, List<ThreadStack> taken) {
        if (ring == null || taken.isEmpty()) {
            return;
        }
        synchronized (stacks) {
            RecordedStacks last = stacks.peekLast();
            boolean isKept = last != null && last.stacks() == taken;
            if (isKept && (isFailure(last.reason()) || !isFailure(reason))) {
                return;
            }
            if (isKept || last != null && last.reason().equals(reason)) {
                stacks.removeLast();
            } else if (stacks.size() == STACKS) {
                stacks.removeFirst();
            }
            stacks.addLast(new RecordedStacks(nanoTime(), reason, taken));
        }
    }

    void wake() {
        if (folder != null) {
            folder.wake();
        }
    }

    void leave(GroupRecorder group) {
        synchronized (open) {
            open.remove(group);
            closed.addLast(group);
            if (closed.size() > CLOSED_GROUPS) {
                forget(closed.removeFirst());
            }
        }
    }

    /**
     * Frees the name of a group for other groups. Operations of the group may still be in the ring when another group
     * already has this name.
     */
    private void forget(GroupRecorder group) {
        group.forgotten();
        String name = group.givenName();
        if (groups().stream().noneMatch(other -> other.givenName().equals(name))) {
            names.remove(name);
        }
    }

    /** Returns the open groups, and some of the groups that were closed last. */
    List<GroupRecorder> groups() {
        synchronized (open) {
            List<GroupRecorder> all = new ArrayList<>(closed);
            all.addAll(open);
            return all;
        }
    }

    List<RecordedEvent> events() {
        synchronized (events) {
            return new ArrayList<>(events);
        }
    }

    /** Returns the stacks that were kept, oldest first. If a group works, also returns the current stacks. */
    List<RecordedStacks> stacks(String reason) {
        List<RecordedStacks> all;
        synchronized (stacks) {
            all = new ArrayList<>(stacks);
        }
        for (GroupRecorder group : groups()) {
            List<ThreadStack> taken = group.stacks();
            if (!taken.isEmpty() && all.stream().noneMatch(kept -> kept.stacks() == taken)) {
                all.add(new RecordedStacks(nanoTime(), reason, taken));
            }
        }
        return all;
    }

    /** Returns the entries of the ring, oldest first. Entries that are being written are left out. */
    List<OperationRing.RingEntry> operations() {
        return Arrays.stream(ring.numbers())
                .mapToObj(ring::read)
                .filter(Objects::nonNull)
                .toList();
    }

    /** Returns whether the newest operation has failed because its timeout has passed. */
    boolean hasTimedOut() {
        List<OperationRing.RingEntry> all = operations();
        return !all.isEmpty() && all.get(all.size() - 1).code == Code.TIMED_OUT;
    }
}
