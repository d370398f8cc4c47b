package ferro.recorder;

import ferro.FerroException.Code;
import ferro.GroupEvent;
import ferro.recorder.OperationRing.RingEntry;
import java.lang.System.Logger.Level;
import java.util.Collections;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.atomic.AtomicInteger;
import jdk.jfr.Category;
import jdk.jfr.DataAmount;
import jdk.jfr.Description;
import jdk.jfr.Event;
import jdk.jfr.EventType;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.StackTrace;

/**
 * The part of a flight recorder for one group. A back end reports every operation three times: when it is submitted,
 * when it begins to run, and when it ends. Only one thread at a time reports an operation. The caller passes timestamps
 * that it has already taken.
 *
 * <p>If {@code ferro.recorder.entries=0} has turned the recorder off, all methods do nothing, except {@link #counter}.
 */
public final class GroupRecorder implements AutoCloseable {
    private static final System.Logger LOG = System.getLogger("ferro.recorder");
    private static final boolean HAS_JFR =
            ModuleLayer.boot().findModule("jdk.jfr").isPresent();

    private final FlightRecorder recorder;
    private final OperationRing ring;
    private final String givenName;
    private final int rank;
    private final int[] ranks;
    private volatile String name;
    private volatile long identity;
    private volatile RecordedGroup view;
    /** The failure of the group at the time of its close. A closed group is no longer queried. */
    private volatile RecordedGroup.Failed lastFailure;

    private final CallCounter counter = new CallCounter();
    private final AtomicInteger events = new AtomicInteger();
    /** The facts about this group that the newest file contains. Only the writer thread uses this field. */
    private FailureRecord written;

    GroupRecorder(FlightRecorder recorder, OperationRing ring, String name, int rank, int[] ranks) {
        this.recorder = recorder;
        this.ring = ring;
        this.givenName = name;
        this.name = name;
        this.rank = rank;
        this.ranks = ranks.clone();
    }

    /**
     * The progress of an operation when it failed.
     *
     * @param step       step of the plan, -1 if unknown
     * @param bytesMoved bytes that were sent and received
     * @param waitingFor ranks of the group that the operation waited for, ascending and immutable; empty if none
     */
    public record Progress(int step, long bytesMoved, Set<Integer> waitingFor) {
        /** Progress that is unknown, or of an operation that had not begun. */
        public static final Progress UNKNOWN = new Progress(-1, 0, Set.of());

        /**
         * Creates a progress, with a copy of the ranks.
         *
         * @param step       step of the plan, -1 if unknown
         * @param bytesMoved bytes that were sent and received
         * @param waitingFor ranks of the group that the operation waited for, empty if none
         */
        public Progress {
            waitingFor = Collections.unmodifiableSet(new TreeSet<>(Objects.requireNonNull(waitingFor, "waitingFor")));
        }
    }

    /** The facts about a failed group that a file contains; {@code events} is the number of events of the group. */
    record FailureRecord(RecordedGroup.Failed failure, OperationRing.RingPosition operations, int events) {
        /**
         * Returns whether another record contains more facts. Operations that newer operations have replaced in the
         * ring do not count.
         */
        private boolean isBehind(FailureRecord now) {
            return !failure.equals(now.failure)
                    || events != now.events
                    || operations.newest() < now.operations.newest()
                    || !operations.open().equals(now.operations.open());
        }
    }

    /**
     * Records that an operation is submitted.
     *
     * @param sequence   number of the operation in the group; -1 for a send or a receive
     * @param text       description of the operation; the first word is its kind
     * @param bytes      bytes of data of the operation
     * @param begunNanos current time on the clock of the context
     * @return number of the entry, which the caller passes to the later reports of this operation
     */
    public int submitted(long sequence, String text, long bytes, long begunNanos) {
        return show(claim(text, bytes, begunNanos), sequence, -1, OperationRing.QUEUED);
    }

    /**
     * Records that an operation is submitted and runs immediately.
     *
     * @param sequence   number of the operation in the group
     * @param text       description of the operation; the first word is its kind
     * @param bytes      bytes of data of the operation
     * @param begunNanos current time on the clock of the context
     * @return number of the entry, which the caller passes to the later reports of this operation
     */
    public int started(long sequence, String text, long bytes, long begunNanos) {
        return show(claim(text, bytes, begunNanos), sequence, -1, OperationRing.RUNNING);
    }

    /**
     * Records that a send or a receive is submitted. A send or a receive has no sequence number.
     *
     * @param text       description of the operation; the first word is its kind
     * @param bytes      bytes of data of the operation
     * @param begunNanos current time on the clock of the context
     * @param peer       rank of the group that the send or receive waits for until it has ended; -1 if any rank may
     *     send
     * @return number of the entry, which the caller passes to the later reports of this operation
     */
    public int message(String text, long bytes, long begunNanos, int peer) {
        return show(claim(text, bytes, begunNanos), -1, peer, OperationRing.QUEUED);
    }

    private int claim(String text, long bytes, long begunNanos) {
        if (ring == null) {
            return OperationRing.NONE;
        }
        int entry = ring.claim();
        if (entry == OperationRing.NONE) {
            return entry;
        }
        RingEntry at = ring.at(entry);
        // a store of a reference costs more than this check, and the entry mostly still refers to this group since its
        // last use
        if (at.group != this) {
            at.group = this;
        }
        if (isOther(at.text, text)) {
            at.text = text;
        }
        at.bytes = bytes;
        at.begun = begunNanos;
        at.ended = 0;
        at.moved = 0;
        at.step = -1;
        at.code = null;
        if (isOther(at.failedAt, Progress.UNKNOWN)) {
            at.failedAt = Progress.UNKNOWN;
        }
        at.trace = begunTrace();
        return entry;
    }

    private static boolean isOther(Object there, Object next) {
        return there != next;
    }

    private int show(int entry, long sequence, int peer, int state) {
        if (entry != OperationRing.NONE) {
            RingEntry at = ring.at(entry);
            at.sequence = sequence;
            at.peer = peer;
            ring.show(entry, state);
        }
        return entry;
    }

    /**
     * Records that an operation begins to run.
     *
     * @param entry number that {@link #submitted} has returned
     */
    public void running(int entry) {
        if (entry != OperationRing.NONE) {
            ring.run(entry);
        }
    }

    /**
     * Records that an operation has ended without failure.
     *
     * @param entry      number that {@link #submitted} has returned
     * @param endedNanos current time on the clock of the context
     * @param steps      number of steps of the plan, -1 if unknown
     * @param bytesMoved bytes that were sent and received
     */
    public void done(int entry, long endedNanos, int steps, long bytesMoved) {
        end(entry, endedNanos, steps, bytesMoved, null, Progress.UNKNOWN, null);
    }

    /**
     * Records that an operation has failed.
     *
     * @param entry      number that {@link #submitted} has returned
     * @param endedNanos current time on the clock of the context
     * @param code       code of the failure
     * @param at         progress of the operation when it failed
     */
    public void failed(int entry, long endedNanos, Code code, Progress at) {
        end(entry, endedNanos, at.step(), at.bytesMoved(), code, at, null);
    }

    /**
     * Records that an operation has failed, with a new description. The new description was too costly to create before
     * the failure.
     *
     * @param entry      number that {@link #submitted} has returned
     * @param endedNanos current time on the clock of the context
     * @param code       code of the failure
     * @param text       description that replaces the description from the submit
     */
    public void failed(int entry, long endedNanos, Code code, String text) {
        end(entry, endedNanos, Progress.UNKNOWN.step(), 0, code, Progress.UNKNOWN, text);
    }

    /**
     * Records the end of an operation. {@code code} is null without a failure, and {@code text} is null if the
     * description does not change.
     */
    private void end(int entry, long endedNanos, int steps, long bytesMoved, Code code, Progress at, String text) {
        if (entry == OperationRing.NONE || !ring.take(entry)) {
            return;
        }
        RingEntry operation = ring.at(entry);
        operation.ended = endedNanos;
        operation.step = steps;
        operation.moved = bytesMoved;
        if (code != null) {
            operation.code = code;
            operation.failedAt = at;
        }
        if (text != null) {
            operation.text = text;
        }
        endTrace(operation);
        ring.show(entry, code == null ? OperationRing.DONE : OperationRing.FAILED);
    }

    /**
     * The JFR event of one operation, from its submit to its end. This class is loaded only if the runtime has the
     * module jdk.jfr, which a small runtime may lack.
     */
    @Name("ferro.Collective")
    @Label("Collective")
    @Category("ferro")
    @Description("An operation of a group on one rank, from its submit to its end")
    @StackTrace(false)
    static final class CollectiveEvent extends Event {
        private static final EventType TYPE = EventType.getEventType(CollectiveEvent.class);

        @Label("Group")
        String group;

        @Label("Rank")
        int rank;

        @Label("Sequence")
        @Description("number of the operation in its group, -1 for a send or a receive")
        long sequence;

        @Label("Operation")
        String operation;

        @Label("Description")
        String description;

        @Label("Bytes")
        @DataAmount
        long bytes;

        @Label("Code")
        @Description("code of the failure; empty if the operation did not fail")
        String code;

        private static Object begun() {
            if (!TYPE.isEnabled()) {
                return null;
            }
            CollectiveEvent event = new CollectiveEvent();
            event.begin();
            return event;
        }

        private static void end(Object begun, RingEntry operation) {
            CollectiveEvent event = (CollectiveEvent) begun;
            event.group = operation.group.name();
            event.rank = operation.group.rank();
            event.sequence = operation.sequence;
            event.operation = RecordWriter.firstWord(operation.text);
            event.description = operation.text;
            event.bytes = operation.bytes;
            event.code = operation.code == null ? "" : operation.code.name();
            event.commit();
        }
    }

    /**
     * Begins the event of an operation that begins now. Without a JFR recording, this method returns null, allocates
     * nothing and does not initialise JFR.
     */
    static Object begunTrace() {
        try {
            return HAS_JFR && jdk.jfr.FlightRecorder.isInitialized() ? CollectiveEvent.begun() : null;
        } catch (RuntimeException | Error broken) {
            // tracing must neither stop the operation nor leave its entry half written
            LOG.log(Level.DEBUG, "JFR cannot begin the event of an operation", broken);
            return null;
        }
    }

    private void endTrace(RingEntry operation) {
        Object trace = operation.trace;
        if (trace == null) {
            return;
        }
        operation.trace = null;
        try {
            CollectiveEvent.end(trace, operation);
        } catch (RuntimeException | Error broken) {
            LOG.log(Level.DEBUG, "JFR cannot end the event of an operation", broken);
        }
    }

    /**
     * {@return the count of the group's calls that ended without failure, even if the recorder is off} The back end
     * counts each operation.
     */
    public CallCounter counter() {
        return counter;
    }

    /**
     * Records an event of the group.
     *
     * @param event event, with ranks of the group
     */
    public void event(GroupEvent event) {
        recorder.event(this, event);
        events.incrementAndGet();
    }

    /**
     * Records stacks of the threads of the rank. Only a rank with a problem takes stacks.
     *
     * @param reason why the stacks were taken, as text for people
     * @param taken  stacks; the recorder keeps only the newest stacks
     */
    public void stacks(String reason, List<ThreadStack> taken) {
        recorder.stacks(reason, taken);
    }

    /**
     * Records that the group has failed, or that more facts about the failure are known. If {@code ferro.recorder.dir}
     * is set, another thread soon writes the record to the folder of this setting.
     */
    public void groupFailed() {
        recorder.wake();
    }

    /** Records that the group is closed. The entries of a closed group are kept, and the group is no longer queried. */
    @Override
    public void close() {
        RecordedGroup asked = view;
        if (asked != null) {
            lastFailure = asked.failure();
            view = null;
            recorder.leave(this);
        }
    }

    // the record writer calls the methods below

    void show(RecordedGroup group) {
        view = group;
        identity = group.identity();
    }

    void isUseOfName(int use) {
        name = use == 1 ? givenName : givenName + "#" + use;
    }

    /** Frees the name for other groups. The remaining entries of this group get a name that no group has. */
    void forgotten() {
        name = givenName + "@" + Long.toHexString(identity);
    }

    String givenName() {
        return givenName;
    }

    /**
     * Returns the identity of the group, which is equal on all ranks of the group and different from the identities of
     * other groups. The result is 0 if the group has no identity.
     */
    long identity() {
        return identity;
    }

    String name() {
        return name;
    }

    int rank() {
        return rank;
    }

    /** Returns the ranks of this group, as rank numbers of the joined group. */
    int[] ranks() {
        return ranks;
    }

    RecordedGroup.Failed failure() {
        RecordedGroup asked = view;
        return asked == null ? lastFailure : asked.failure();
    }

    RecordedGroup.RecordedStatus status() {
        RecordedGroup asked = view;
        return asked == null ? RecordedGroup.RecordedStatus.IDLE : asked.status();
    }

    /** Takes the stacks of the threads of the rank. A failed group's stacks were recorded when the group failed. */
    List<ThreadStack> stacks() {
        RecordedGroup asked = view;
        return asked == null || asked.failure() != null ? List.of() : asked.stacks();
    }

    /** Returns the facts about this failed group that a file contains at least if the file is written now. */
    FailureRecord failureRecord() {
        return new FailureRecord(failure(), position(), events.get());
    }

    OperationRing.RingPosition position() {
        return ring.position(this);
    }

    /** Returns whether the newest file lacks facts about this failed group. */
    boolean isNews() {
        return written == null || written.isBehind(failureRecord());
    }

    void written(FailureRecord inFile) {
        written = inFile;
    }
}
