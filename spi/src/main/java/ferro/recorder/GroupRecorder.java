package ferro.recorder;

import ferro.FerroException.Code;
import ferro.GroupEvent;
import java.lang.System.Logger.Level;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * The part of a flight recorder for one group. Every operation is reported three times: when it is submitted, when it
 * begins to run and when it ends. One thread at a time reports an operation, with timestamps that the caller has anyway.
 *
 * <p>Without a recorder ({@code ferro.recorder.entries=0}), all methods do nothing.
 */
public final class GroupRecorder implements AutoCloseable {
    private static final System.Logger LOG = System.getLogger("ferro.recorder");

    private static final String NOBODY = "";

    private final FlightRecorder recorder;
    private final OperationRing ring;
    private final String givenName;
    private final int rank;
    private final int[] ranks;
    private volatile String name;
    private volatile long identity;
    private volatile RecordedGroup view;
    /** The failure of a closed group, which is not queried any more. */
    private volatile RecordedGroup.Failed lastFailure;

    private final AtomicInteger events = new AtomicInteger();
    /** What the newest file has of this group; used only by the thread that writes. */
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
     * How far an operation had come when it failed.
     *
     * @param step       step of its plan, -1 if unknown
     * @param bytesMoved bytes that have gone out and come in
     * @param waitingFor ranks of the group that it waited for, comma-separated, empty if none
     */
    public record Progress(int step, long bytesMoved, String waitingFor) {
        /** No progress is known, or the operation had not begun. */
        public static final Progress UNKNOWN = new Progress(-1, 0, "");
    }

    /**
     * What a file has of a failed group.
     *
     * @param failure    why it failed
     * @param operations where its operations stand
     * @param events     number of its events
     */
    record FailureRecord(RecordedGroup.Failed failure, OperationRing.RingPosition operations, int events) {
        /** Returns whether another record has more. Operations that have made way for others are not missed. */
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
     * @param sequence   its number in the group; -1 for a message, which has none
     * @param text       what it is; the first word is its kind
     * @param bytes      of its data
     * @param begunNanos now, on the clock of the context
     * @return what stands for it in the other calls
     */
    public int submitted(long sequence, String text, long bytes, long begunNanos) {
        return show(claim(text, bytes, begunNanos), sequence, -1, OperationRing.QUEUED);
    }

    /**
     * Records that an operation is submitted and runs at once.
     *
     * @param sequence   its number in the group
     * @param text       what it is; the first word is its kind
     * @param bytes      of its data
     * @param begunNanos now, on the clock of the context
     * @return what stands for it in the other calls
     */
    public int started(long sequence, String text, long bytes, long begunNanos) {
        return show(claim(text, bytes, begunNanos), sequence, -1, OperationRing.RUNNING);
    }

    /**
     * Records that a message is submitted. A message has no number.
     *
     * @param text       what it is; the first word is its kind
     * @param bytes      of its data
     * @param begunNanos now, on the clock of the context
     * @param peer       rank of the group that it waits for until it has ended
     * @return what stands for it in the other calls
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
        int place = ring.place(entry);
        // a store of a reference costs more than this check, and mostly the reference is still there from the last
        // round
        // of the ring
        if (ring.groups[place] != this) {
            ring.groups[place] = this;
        }
        if (isOther(ring.texts[place], text)) {
            ring.texts[place] = text;
        }
        ring.bytes[place] = bytes;
        ring.begun[place] = begunNanos;
        ring.ended[place] = 0;
        ring.moved[place] = 0;
        ring.steps[place] = -1;
        ring.codes[place] = null;
        if (isOther(ring.waitingFor[place], NOBODY)) {
            ring.waitingFor[place] = NOBODY;
        }
        ring.traces[place] = begunTrace();
        return entry;
    }

    private static boolean isOther(Object there, Object next) {
        return there != next;
    }

    private int show(int entry, long sequence, int peer, int state) {
        if (entry != OperationRing.NONE) {
            int place = ring.place(entry);
            ring.sequences[place] = sequence;
            ring.peers[place] = peer;
            ring.show(entry, state);
        }
        return entry;
    }

    /**
     * Records that an operation begins to run.
     *
     * @param entry what {@link #submitted} has returned
     */
    public void running(int entry) {
        if (entry != OperationRing.NONE) {
            ring.run(entry);
        }
    }

    /**
     * Records that an operation has ended without failure.
     *
     * @param entry      what {@link #submitted} has returned
     * @param endedNanos now
     * @param steps      steps of its plan, -1 if unknown
     * @param bytesMoved bytes that have gone out and come in
     */
    public void done(int entry, long endedNanos, int steps, long bytesMoved) {
        if (entry != OperationRing.NONE && ring.take(entry)) {
            int place = ring.place(entry);
            ring.ended[place] = endedNanos;
            ring.steps[place] = steps;
            ring.moved[place] = bytesMoved;
            trace(place);
            ring.show(entry, OperationRing.DONE);
        }
    }

    /**
     * Records that an operation has failed.
     *
     * @param entry      what {@link #submitted} has returned
     * @param endedNanos now
     * @param code       why
     * @param at         how far it was
     */
    public void failed(int entry, long endedNanos, Code code, Progress at) {
        if (entry != OperationRing.NONE && ring.take(entry)) {
            int place = ring.place(entry);
            ring.ended[place] = endedNanos;
            ring.steps[place] = at.step();
            ring.moved[place] = at.bytesMoved();
            ring.codes[place] = code;
            ring.waitingFor[place] = at.waitingFor();
            trace(place);
            ring.show(entry, OperationRing.FAILED);
        }
    }

    /**
     * Records that an operation has failed, with its text. The text was too costly to make before the failure.
     *
     * @param entry      what {@link #submitted} has returned
     * @param endedNanos now
     * @param code       why
     * @param text       description that replaces the first one
     */
    public void failed(int entry, long endedNanos, Code code, String text) {
        if (entry != OperationRing.NONE && ring.take(entry)) {
            int place = ring.place(entry);
            ring.ended[place] = endedNanos;
            ring.codes[place] = code;
            ring.texts[place] = text;
            trace(place);
            ring.show(entry, OperationRing.FAILED);
        }
    }

    private static Object begunTrace() {
        try {
            return CollectiveTrace.begin();
        } catch (RuntimeException | Error broken) {
            // tracing must not stop the operation, nor leave its place half written
            LOG.log(Level.DEBUG, "JFR cannot begin the event of an operation", broken);
            return null;
        }
    }

    private void trace(int place) {
        Object trace = ring.traces[place];
        if (trace != null) {
            ring.traces[place] = null;
            endTrace(place, trace);
        }
    }

    private void endTrace(int place, Object trace) {
        try {
            Code code = ring.codes[place];
            var outcome = new CollectiveTrace.TraceOutcome(ring.bytes[place], code == null ? "" : code.name());
            CollectiveTrace.end(trace, this, ring.sequences[place], ring.texts[place], outcome);
        } catch (RuntimeException | Error broken) {
            LOG.log(Level.DEBUG, "JFR cannot end the event of an operation", broken);
        }
    }

    /**
     * Records an event of the group.
     *
     * @param event event, with ranks of the group
     */
    public void event(GroupEvent event) {
        recorder.event(new RecordedEvent(recorder.nanoTime(), this, event));
        events.incrementAndGet();
    }

    /**
     * Reports that the group has failed, or knows more about its failure. If there is a folder, another thread soon
     * writes the record there.
     */
    public void groupFailed() {
        recorder.wake();
    }

    /** Reports that the group is closed. Its records stay, and the group is not queried any more. */
    @Override
    public void close() {
        RecordedGroup asked = view;
        if (asked != null) {
            lastFailure = asked.failure();
            view = null;
            recorder.leave(this);
        }
    }

    // the methods below are for the writer of the record

    void show(RecordedGroup group) {
        view = group;
        identity = group.identity();
    }

    void isUseOfName(int use) {
        name = use == 1 ? givenName : givenName + "#" + use;
    }

    /** Frees the name for other groups. The remaining records of this group get a name that no group has. */
    void forgotten() {
        name = givenName + "@" + Long.toHexString(identity);
    }

    String givenName() {
        return givenName;
    }

    /** Returns the identity of the group: equal on all its ranks, different from other groups; 0 if it has none. */
    long identity() {
        return identity;
    }

    String name() {
        return name;
    }

    int rank() {
        return rank;
    }

    /** Returns the ranks of this group, as numbers of the joined group. */
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

    /** Returns what a file that is written now has at least, of a group that has failed. */
    FailureRecord failureRecord() {
        return new FailureRecord(failure(), recorder.position(this), events.get());
    }

    /** Returns whether the newest file lacks something of this group, which has failed. */
    boolean isNews() {
        return written == null || written.isBehind(failureRecord());
    }

    void written(FailureRecord inFile) {
        written = inFile;
    }
}
