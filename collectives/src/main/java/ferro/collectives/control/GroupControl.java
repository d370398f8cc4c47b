package ferro.collectives.control;

import ferro.FerroException;
import ferro.FerroException.Code;
import ferro.GroupEvent;
import ferro.spi.CallHeader;
import ferro.spi.GroupSpec;
import ferro.spi.RankContext;
import ferro.spi.Transport;
import java.nio.ByteBuffer;
import java.util.BitSet;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicReference;

/**
 * What one rank knows of its group beside the data: whether it has failed and why, who has left, who has called what.
 *
 * <p>The first failure stays and is told to all ranks before any caller of this rank hears of it. A rank that waits asks the
 * others ({@link #ask}): whoever has made another call at that place of the order ends the group with MISMATCH and both
 * texts; whoever has made the same answers that it is there, so that a time-out can name those that are not.
 *
 * <p>Thread-safe; nothing waits. The medium calls from its background thread or from whoever drives.
 */
public final class GroupControl implements Transport.Events, Membership.Member {
    /** Data links may end before the control message that says why; so long that message has time to come. */
    private static final long BROKEN_NANOS = 50_000_000L;
    /** So long a rank that made another call has time to say which. */
    private static final long MISMATCH_NANOS = 1_000_000_000L;

    private final Transport transport;
    private final GroupSpec group;
    private final RankContext context;
    private final Runnable onFailure;
    private final History history = new History();
    private final Agreement agreement;
    private final AtomicReference<Failure> failure = new AtomicReference<>();
    private final AtomicReference<Suspicion> suspicion = new AtomicReference<>();
    /** Ranks that have closed their end, and the last operation that each has called. */
    private final Map<Integer, Long> departed = new TreeMap<>();

    private final BitSet here = new BitSet();
    private volatile boolean anyDeparted;
    private long hereFor;

    /** A failure that is told only if no better cause comes in time. */
    private record Suspicion(Failure failure, long notBefore) {}

    /**
     * Makes the control of a group.
     *
     * @param transport medium
     * @param group     who
     * @param context   clock
     * @param onFailure called once, on any thread, after the failure is told to the others
     */
    public GroupControl(Transport transport, GroupSpec group, RankContext context, Runnable onFailure) {
        this.transport = transport;
        this.group = group;
        this.context = context;
        this.onFailure = onFailure;
        this.agreement = new Agreement(this, group, context);
    }

    /**
     * Returns why the group has failed.
     *
     * @return failure, or null while it works
     */
    public Failure failure() {
        return failure.get();
    }

    /**
     * Returns what making subgroups needs.
     *
     * @return agreement
     */
    public Agreement agreement() {
        return agreement;
    }

    /**
     * Fails the group, unless it has failed already, and tells the other ranks.
     *
     * @param first why
     */
    public void fail(Failure first) {
        if (failure.compareAndSet(null, first)) {
            tellAll(ControlMessage.abort(first.asSeenByOthers()));
            agreement.wake();
            onFailure.run();
        }
    }

    /**
     * Notes that this rank calls an operation.
     *
     * @param call header of the operation
     */
    public void called(CallHeader call) {
        history.add(call);
    }

    /**
     * Returns a rank that has closed its end, so that no further call can succeed.
     *
     * @return rank, or -1
     */
    public int departed() {
        return departedBefore(Long.MAX_VALUE);
    }

    /**
     * Returns a rank that has closed its end and never called an operation.
     *
     * @param sequence operation
     * @return rank, or -1
     */
    public int departedBefore(long sequence) {
        if (!anyDeparted) {
            return -1;
        }
        synchronized (departed) {
            for (Map.Entry<Integer, Long> gone : departed.entrySet()) {
                if (gone.getValue() < sequence) {
                    return gone.getKey();
                }
            }
            return -1;
        }
    }

    /**
     * Asks all ranks about an operation that this one waits for.
     *
     * @param call header of the operation
     */
    public void ask(CallHeader call) {
        tellAll(ControlMessage.query(call.sequence(), call.fingerprint(), call.text()));
    }

    /**
     * Returns the ranks that have not said that they are at an operation, after {@link #ask}.
     *
     * @param sequence operation
     * @return ranks; empty if all are there, or if nobody was asked
     */
    public BitSet missingAt(long sequence) {
        synchronized (here) {
            BitSet missing = new BitSet();
            if (hereFor == sequence) {
                missing.or(here);
            }
            missing.set(group.rank());
            missing.flip(0, group.worldSize());
            return missing;
        }
    }

    /** Looks whether a suspicion has waited long enough; called now and then by whoever waits. */
    public void judge() {
        Suspicion open = suspicion.get();
        if (open != null && context.nanoTime() - open.notBefore >= 0) {
            fail(open.failure);
        }
    }

    /** Tells the other ranks that this one closes its end in good order. */
    public void sayGoodbye() {
        tellAll(ControlMessage.goodbye(history.last()));
    }

    @Override
    public void lost(int peer, FerroException cause) {
        if (cause.code() == Code.PEER_LOST && hasDeparted(peer)) {
            return;
        }
        fail(new Failure(cause.code(), group.rank(), -1, Integer.toString(peer), cause.getMessage(), cause));
    }

    @Override
    public void event(GroupEvent.Kind kind, int rank, String text) {
        // told to listeners from here
    }

    @Override
    public void heartbeat() {
        // a sample of the last call goes from here
    }

    @Override
    public void broken(int peer, FerroException cause) {
        String text = hasDeparted(peer) ? closedBy(peer) : cause.getMessage();
        suspect(new Failure(cause.code(), group.rank(), -1, Integer.toString(peer), text, cause), BROKEN_NANOS);
    }

    /**
     * Says that a rank takes part no more.
     *
     * @param peer rank that has said goodbye
     * @return text for a failure
     */
    public String closedBy(int peer) {
        return "rank " + peer + " has closed group \"" + group.name() + "\" and takes part in no further call";
    }

    @Override
    public void mismatched(int peer, CallHeader expected, CallHeader found) {
        String text = differ(expected.sequence()) + "rank " + group.rank() + " " + expected.text() + ", rank " + peer
                + " sent seq " + found.sequence() + " with fingerprint " + Long.toHexString(found.fingerprint())
                + ", need " + Long.toHexString(expected.fingerprint());
        suspect(new Failure(Code.MISMATCH, group.rank(), expected.sequence(), pair(peer), text, null), MISMATCH_NANOS);
        ask(expected);
        // a rank that only sent in an earlier call may be at this one by now: what differs is the earlier one
        CallHeader earlier = history.find(found.sequence());
        if (earlier != null && earlier.sequence() != expected.sequence()) {
            ask(earlier);
        }
    }

    @Override
    public void control(int peer, ByteBuffer message) {
        ControlMessage read;
        try {
            read = ControlMessage.decode(message);
        } catch (IllegalArgumentException nonsense) {
            String text = "rank " + peer + " sent a control message that makes no sense: " + nonsense.getMessage();
            fail(new Failure(Code.PROTOCOL, group.rank(), -1, Integer.toString(peer), text, nonsense));
            return;
        }
        switch (read.kind()) {
            case ABORT -> heardOf(read);
            case GOODBYE -> depart(peer, read.sequence());
            case QUERY -> answer(peer, read);
            case HERE -> noteHere(peer, read.sequence());
            case AGREE -> agreement.heard(peer, read);
            case CANCEL -> agreement.cancelled(peer, read.hash(), codeOf(read), read.culprits(), read.text());
        }
    }

    /** Sends to one rank; for {@link Agreement}. */
    void tell(int peer, ControlMessage message) {
        transport.control(peer, message.encode());
    }

    private void tellAll(ControlMessage message) {
        ByteBuffer bytes = message.encode();
        for (int peer = 0; peer < group.worldSize(); peer++) {
            if (peer != group.rank()) {
                transport.control(peer, bytes.duplicate());
            }
        }
    }

    private void heardOf(ControlMessage abort) {
        Failure told =
                new Failure(codeOf(abort), (int) abort.sequence(), abort.hash(), abort.culprits(), abort.text(), null);
        if (failure.compareAndSet(null, told)) {
            agreement.wake();
            onFailure.run();
        }
    }

    private static Code codeOf(ControlMessage message) {
        return message.code() == null ? Code.ABORTED : message.code();
    }

    private void answer(int peer, ControlMessage query) {
        CallHeader mine = history.find(query.sequence());
        if (mine == null && query.sequence() > history.last()) {
            return;
        }
        // what was called too long ago to be remembered was called, and nobody found it different then
        if (mine == null || mine.fingerprint() == query.hash()) {
            tell(peer, ControlMessage.here(query.sequence()));
            return;
        }
        String theirs = "rank " + peer + " " + query.text();
        String ours = "rank " + group.rank() + " " + mine.text();
        String both = peer < group.rank() ? theirs + ", " + ours : ours + ", " + theirs;
        String text = differ(query.sequence()) + both + ": all ranks must make the same calls in the same order";
        fail(new Failure(Code.MISMATCH, group.rank(), query.sequence(), pair(peer), text, null));
    }

    private static String differ(long sequence) {
        return "ranks made different calls at seq " + sequence + ": ";
    }

    private String pair(int peer) {
        return Math.min(peer, group.rank()) + "," + Math.max(peer, group.rank());
    }

    private void noteHere(int peer, long sequence) {
        synchronized (here) {
            if (sequence > hereFor) {
                hereFor = sequence;
                here.clear();
            }
            if (sequence == hereFor) {
                here.set(peer);
            }
        }
    }

    private void depart(int peer, long lastSequence) {
        synchronized (departed) {
            departed.put(peer, lastSequence);
        }
        anyDeparted = true;
        agreement.wake();
        transport.wakeup();
    }

    private boolean hasDeparted(int peer) {
        synchronized (departed) {
            return departed.containsKey(peer);
        }
    }

    private void suspect(Failure possible, long graceNanos) {
        suspicion.compareAndSet(null, new Suspicion(possible, context.nanoTime() + graceNanos));
        transport.wakeup();
    }
}
