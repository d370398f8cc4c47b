package ferro.recorder;

import ferro.spi.GroupSpec;
import ferro.spi.RankContext;
import ferro.spi.Settings;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
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
 * What one rank did last: {@code ferro.recorder.entries} operations and some events of all its groups, always on.
 *
 * <p>One per rank, shared through its context by everything that runs operations; each takes one by {@link #of} and gives it back
 * by {@link #release}. Where {@code ferro.recorder.dir} is set, it is written there at every first failure of a group, when the
 * JVM ends before that is done, and within a second of a file {@code dump.request} appearing or changing there.
 */
public final class FlightRecorder implements AutoCloseable {
    private static final int MOST_ENTRIES = 1 << 20;
    private static final int EVENTS = 256;
    private static final int CLOSED_GROUPS = 64;

    private final Owner owner;
    private final LongSupplier clock;
    private final OperationRing ring;
    private final RecordFile file;
    private final RecordFolder folder;
    private final Set<GroupRecorder> open = new LinkedHashSet<>();
    private final Deque<GroupRecorder> closed = new ArrayDeque<>();
    private final Map<String, Integer> names = new HashMap<>();
    private final Deque<RecordedEvent> events = new ArrayDeque<>();

    /**
     * Whose recorder it is.
     *
     * @param job       name of the job
     * @param rank      in the joined group
     * @param worldSize of the joined group
     */
    record Owner(String job, int rank, int worldSize) {}

    private FlightRecorder(Owner owner, RankContext context) {
        this.owner = owner;
        this.clock = context::nanoTime;
        this.file = new RecordFile(owner);
        int entries = Settings.RECORDER_ENTRIES.of(context);
        if (entries > MOST_ENTRIES) {
            throw new IllegalArgumentException(Settings.RECORDER_ENTRIES.name() + "=" + entries + ": need at most "
                    + MOST_ENTRIES + ", which are some 80 MiB");
        }
        this.ring = entries == 0 ? null : new OperationRing(powerOfTwo(entries));
        Optional<String> named = entries == 0 ? Optional.empty() : Settings.RECORDER_DIR.find(context);
        this.folder = named.filter(text -> !text.isEmpty())
                .map(text -> RecordFolder.open(text, this))
                .orElse(null);
    }

    /**
     * Takes the recorder of a rank; {@link #release} gives it back.
     *
     * @param context of the rank
     * @param joined  the group that the rank joins, or one of its subgroups once there is a recorder
     * @return the one recorder of this context
     * @throws IllegalArgumentException if a setting makes no sense, or {@code ferro.recorder.dir} cannot be written
     */
    public static FlightRecorder of(RankContext context, GroupSpec joined) {
        return context.shared(FlightRecorder.class, () -> {
            Owner owner = new Owner(Settings.JOB_ID.of(context), joined.rank(), joined.worldSize());
            FlightRecorder made = new FlightRecorder(owner, context);
            made.start(context);
            return made;
        });
    }

    /**
     * Gives back what {@link #of} took.
     *
     * @param context of the rank
     */
    public static void release(RankContext context) {
        context.release(FlightRecorder.class);
    }

    /**
     * Adds a group.
     *
     * @param name  of the group; another one of the same name gets {@code #2} behind it, on this rank
     * @param rank  in that group
     * @param ranks its ranks, by their numbers in the joined group
     * @param group who is asked for failure and standing when the recorder is written
     * @return what the group tells its operations; closed by it
     */
    public GroupRecorder enter(String name, int rank, int[] ranks, RecordedGroup group) {
        synchronized (open) {
            int uses = names.merge(name, 1, Integer::sum);
            GroupRecorder recorder = new GroupRecorder(this, ring, name, rank, ranks);
            recorder.isUseOfName(uses);
            recorder.show(group);
            open.add(recorder);
            return recorder;
        }
    }

    /**
     * Writes what is recorded into a folder, which is made if it is not there, as {@code ferro-JOB-rankR.json}.
     * What another recorder has left under that name stays: then it is {@code ferro-JOB.2-rankR.json}, and so on.
     *
     * @param into   folder
     * @param reason why, for people
     * @return file
     * @throws IOException           if it cannot be written
     * @throws IllegalStateException if there is no recorder, by {@code ferro.recorder.entries=0}
     */
    public Path write(Path into, String reason) throws IOException {
        Objects.requireNonNull(into, "folder");
        if (ring == null) {
            throw new IllegalStateException("rank " + owner.rank + " records nothing, as "
                    + Settings.RECORDER_ENTRIES.name() + "=0: leave it at its default, 2048");
        }
        return file.write(into, () -> new RecordWriter(this).record(reason));
    }

    /** Ends it: what is not written yet is written, if there is a folder. */
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

    // what follows is for this package

    Owner owner() {
        return owner;
    }

    long nanoTime() {
        return clock.getAsLong();
    }

    void event(RecordedEvent event) {
        if (ring == null) {
            return;
        }
        synchronized (events) {
            if (events.size() == EVENTS) {
                events.removeFirst();
            }
            events.addLast(event);
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

    /** Operations of it may still be in the ring, when another group has its name. */
    private void forget(GroupRecorder group) {
        group.forgotten();
        String name = group.givenName();
        if (groups().stream().noneMatch(other -> other.givenName().equals(name))) {
            names.remove(name);
        }
    }

    /** Returns the groups that are open, and some of those closed last. */
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

    /** Returns what the ring holds, oldest first, as far as it can be read while it is written. */
    List<OperationRing.Entry> operations() {
        List<OperationRing.Entry> entries = new ArrayList<>();
        for (long number : ring.numbers()) {
            OperationRing.Entry entry = ring.read(number);
            if (entry != null) {
                entries.add(entry);
            }
        }
        return entries;
    }

    /** Returns whether a group has operations that have not ended. */
    boolean hasOpenOperations(GroupRecorder group) {
        return operations().stream().anyMatch(entry -> entry.isOpen() && entry.group() == group);
    }
}
