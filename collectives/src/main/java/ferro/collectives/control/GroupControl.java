package ferro.collectives.control;

import ferro.FerroException;
import ferro.FerroException.Code;
import ferro.GroupEvent;
import ferro.collectives.control.ControlMessage.Abort;
import ferro.collectives.control.ControlMessage.Called;
import ferro.collectives.control.ControlMessage.Goodbye;
import ferro.collectives.control.ControlMessage.Query;
import ferro.spi.CallHeader;
import ferro.spi.GroupSpec;
import ferro.spi.RankContext;
import ferro.spi.Transport;
import java.nio.ByteBuffer;
import java.util.BitSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * What one rank knows of its group beside the data: whether it has failed and why, who has left, who has called what.
 *
 * <p>All ranks agree on one cause: whatever this rank sees or is told is merged ({@link Failure#merged}), and every change is
 * told to all ranks before any caller of this rank hears of it. A rank that waits asks the others ({@link #ask}): each says
 * where it stands, so that a time-out names those that are not there; where two have made different calls, the group ends
 * with MISMATCH and all texts.
 *
 * <p>Thread-safe; nothing waits, and nothing is told with a lock held. The medium calls from its background thread or from
 * whoever drives.
 */
public final class GroupControl implements Transport.Events, Membership.Member {
    /** A heartbeat tells at most so many ranks of the last call: the next ones in a circle, which suffices for all. */
    private static final int SAMPLED_MOST = 32;

    private final Transport transport;
    private final GroupSpec group;
    private final RankContext context;
    private final Owner owner;
    private final Rules rules;
    private final Machines machines;
    private final Whereabouts whereabouts;
    private final History history = new History();
    private final Leaves leaves;
    private final Timers timers;
    private final FirstCause first;
    private final Losses losses;
    private final Deaths deaths;
    private final StatusBoard board;
    private final Mismatches mismatches;
    private final Agreement agreement;
    private final ControlInbox inbox;
    private final AtomicBoolean ownerTold = new AtomicBoolean();
    /** Callers may hear of the failure: the others were told before. */
    private volatile boolean told;

    private volatile boolean closed;

    /** The engine of the group. */
    public interface Owner {
        /** The group has failed; called once, on any thread, after the others were told. */
        void failed();

        /**
         * Something happened.
         *
         * @param event what
         */
        void event(GroupEvent event);

        /**
         * Returns where this rank stands; any thread.
         *
         * @return picture of now, or of a little earlier
         */
        Standing standing();

        /**
         * Returns the number of the last collective that has ended on this rank; any thread.
         *
         * @return sequence, 0 if none
         */
        long ended();

        /**
         * Returns how long this process stood still.
         *
         * @param sinceNanos on the context's clock
         * @return nanoseconds
         */
        long pausedSince(long sinceNanos);

        /**
         * Returns what is decided when something goes wrong.
         *
         * @return rules
         */
        default Rules rules() {
            return Rules.SHIPPED;
        }
    }

    /**
     * A rank's place among all groups of one joined group.
     *
     * @param joinedRanks ranks of the joined group, in the order of this group
     * @param standings   where this rank stands in all of them
     * @param processes   which ranks of the joined group are of one process
     */
    public record Place(int[] joinedRanks, Standings standings, RankProcesses processes) {}

    /**
     * Makes the control of a group, to be {@link #open opened}.
     *
     * @param transport medium
     * @param group     who
     * @param context   clock, timers
     * @param owner     hears
     * @param place     which ranks these are
     */
    public GroupControl(Transport transport, GroupSpec group, RankContext context, Owner owner, Place place) {
        this.transport = transport;
        this.group = group;
        this.context = context;
        this.owner = owner;
        this.rules = owner.rules();
        this.machines = new Machines(group.rank(), place.joinedRanks, place.processes);
        this.timers = new Timers(context::background);
        this.first = new FirstCause(rules);
        this.leaves = new Leaves(this, group, owner::ended);
        this.losses = new Losses(this, leaves, machines);
        this.deaths = new Deaths(this, losses, leaves, rules, place);
        this.board = new StatusBoard(group.rank(), group.worldSize());
        this.mismatches = new Mismatches(this, history, losses, rules, group.worldSize());
        this.agreement = new Agreement(this, group, context);
        this.inbox = new ControlInbox(this, group.worldSize(), leaves, board, mismatches);
        this.whereabouts = new Whereabouts(
                place.standings, new Standings.Seat(group.name(), place.joinedRanks, this::standing), history, owner);
    }

    /** The owner can say where it stands: questions to other groups of this rank are answered with this one's place too. */
    public void open() {
        whereabouts.enter();
    }

    /**
     * Runs once what happens first in a failure: cold code costs 20 ms, in which the others would wait.
     */
    public void warm() {
        Failure sample = new Failure(Code.ABORTED, group.rank(), -1, "0", "warm", null);
        Abort read = (Abort) readBack(Abort.of(sample, 0));
        FirstCause none = new FirstCause(rules);
        none.seen(sample, 0);
        none.told(read.failure(), 0);
        Status[] answers = new Status[group.worldSize()];
        answers[answers.length - 1] = (Status) readBack(whereabouts.status(0, 0));
        new Diagnosis(machines, answers, new BitSet(), 1).ofCollective(new BitSet());
    }

    private ControlMessage readBack(ControlMessage message) {
        return ControlMessage.decode(message.encoded(), group.worldSize());
    }

    /**
     * Returns why the group has failed.
     *
     * @return failure as it is agreed on now, or null while the group works
     */
    public Failure failure() {
        return told ? first.cause() : null;
    }

    /**
     * Returns the ranks that are known to be dead or lost.
     *
     * @return ranks, ascending; immutable
     */
    public Set<Integer> lostRanks() {
        return deaths.ranks();
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
     * Makes what asks the ranks before a deadline.
     *
     * @return inquiry, for one waiter
     */
    public Inquiry inquiry() {
        return new Inquiry(this);
    }

    /**
     * Fails the group, and tells the other ranks. What this rank sees later than 50 ms after the first cause is a
     * consequence and changes nothing.
     *
     * @param cause why
     */
    public void fail(Failure cause) {
        changed(first.seen(cause.asSeenByOthers(), context.nanoTime()), true);
    }

    /**
     * Fails the group by weak evidence, such as a rank that has closed its end, or by the user's word: whatever else is known
     * explains it, even if it is being told to the others just now.
     *
     * @param cause why
     */
    public void failUnlessFailed(Failure cause) {
        changed(first.guessed(cause.asSeenByOthers(), context.nanoTime()), true);
    }

    private void changed(Failure agreed, boolean own) {
        if (agreed == null) {
            return;
        }
        ByteBuffer abort = first.message(agreed, context.nanoTime()).encoded();
        for (int peer = 0; peer < group.worldSize(); peer++) {
            if (peer != group.rank() && (own ? rules.floods(agreed, peer) : rules.forwards(agreed, peer))) {
                transport.control(peer, abort.duplicate());
            }
        }
        told = true;
        agreement.wake();
        if (ownerTold.compareAndSet(false, true)) {
            owner.failed();
            event(GroupEvent.Kind.FAILED, agreed.blamed(), agreed.code() + ": " + agreed.text());
        }
        leaves.failed();
    }

    /**
     * Notes that this rank calls an operation.
     *
     * @param sequence its number
     * @param call     what it is
     */
    public void called(long sequence, CallHeader.Call call) {
        history.add(sequence, call);
    }

    /**
     * Returns who has left.
     *
     * @return leaves
     */
    public Leaves leaves() {
        return leaves;
    }

    /**
     * Asks all ranks where they stand, and about an operation that this one waits for.
     *
     * @param call header of the operation, or null
     * @return number of the question
     */
    public long ask(CallHeader call) {
        // those that have left answer by what they said then
        leaves.compare();
        long ask = board.ask();
        tellAll(Query.about(ask, call));
        return ask;
    }

    /** Asks some ranks again about an operation. */
    void ask(CallHeader call, BitSet ranks) {
        ControlMessage again = Query.about(board.ask(), call);
        ranks.stream().forEach(rank -> tell(rank, again));
    }

    /**
     * Asks all ranks, and waits for their answers.
     *
     * @param nanos waits so long for those that do not answer
     * @return ranks that have not answered; none once the group has failed
     */
    public Set<Integer> silentRanks(long nanos) {
        return new RollCall(this).silent(nanos);
    }

    BitSet silentTo(long ask) {
        return board.silentTo(ask);
    }

    boolean hasAnswered(int peer, long ask) {
        return !board.silentTo(ask).get(peer);
    }

    boolean isAnySilent(long ask, BitSet among) {
        BitSet silent = board.silentTo(ask);
        if (among != null) {
            silent.and(among);
        }
        return !silent.isEmpty();
    }

    /** Makes a diagnosis by the answers to an early question; who has not answered the last one may be slow. */
    Diagnosis diagnosis(long early, long last, long sequence) {
        return new Diagnosis(machines, board.answers(early), board.silentTo(last), sequence);
    }

    /**
     * Returns the ranks that have not said that they have called an operation.
     *
     * @param sequence operation
     * @return ranks
     */
    public BitSet missingAt(long sequence) {
        return board.missingAt(sequence);
    }

    /**
     * Returns how long this process stood still.
     *
     * @param sinceNanos on the context's clock
     * @return nanoseconds
     */
    public long pausedSince(long sinceNanos) {
        return owner.pausedSince(sinceNanos);
    }

    /**
     * Tells the other ranks that this one leaves: what it has called it has done, and it calls nothing more. Questions are
     * answered until the medium is closed.
     *
     * @param losers ranks that need this one until they have ended its last collective
     * @param until  when it is over
     * @return leave, over when no other rank can lose anything any more
     */
    public Leaving leave(BitSet losers, Leaving.Until until) {
        closed = true;
        whereabouts.leave();
        timers.close();
        return leaves.leave(history.find(history.last()), losers, until);
    }

    @Override
    public void lost(int peer, FerroException cause) {
        leaves.lost(peer);
        if (!closed) {
            deaths.lost(peer, cause);
        }
    }

    @Override
    public void lostTogether(int peer, BitSet ranks, FerroException cause) {
        leaves.lost(peer);
        if (!closed) {
            deaths.silent(peer, ranks, cause);
        }
    }

    @Override
    public void found(int peer) {
        deaths.found(peer);
    }

    @Override
    public void broken(int peer, FerroException cause) {
        if (!closed && !told) {
            losses.broken(peer, cause);
        }
    }

    @Override
    public void event(GroupEvent.Kind kind, int rank, String text) {
        event(kind, List.of(rank), text);
    }

    /**
     * Tells the listeners of the group.
     *
     * @param kind  what
     * @param ranks whom it is about
     * @param text  for people
     */
    public void event(GroupEvent.Kind kind, List<Integer> ranks, String text) {
        owner.event(new GroupEvent(kind, group.name(), group.rank(), ranks, text));
    }

    @Override
    public void heartbeat() {
        CallHeader last = history.find(history.last());
        if (last == null || told) {
            return;
        }
        ByteBuffer sample = Called.of(last).encoded();
        for (int step = 1; step <= Math.min(SAMPLED_MOST, group.worldSize() - 1); step++) {
            transport.control((group.rank() + step) % group.worldSize(), sample.duplicate());
        }
    }

    @Override
    public void mismatched(int peer, CallHeader expected, CallHeader found) {
        mismatches.suspected(peer, expected, found);
    }

    @Override
    public void control(int peer, ByteBuffer message) {
        inbox.read(peer, message);
    }

    /** A rank tells that the group has failed. */
    void told(int peer, Abort said) {
        losses.toldAbort(peer);
        changed(first.told(said.failure(), context.nanoTime() - said.ageNanos()), false);
    }

    /** Sends to one rank; for {@link Agreement}. */
    void tell(int peer, ControlMessage message) {
        transport.control(peer, message.encoded());
    }

    private void tellAll(ControlMessage message) {
        ByteBuffer bytes = message.encoded();
        for (int peer = 0; peer < group.worldSize(); peer++) {
            if (peer != group.rank()) {
                transport.control(peer, bytes.duplicate());
            }
        }
    }

    /** Does something later, by a timer: nobody may be driving. */
    void later(Runnable task, long nanos) {
        timers.later(task, nanos);
    }

    int self() {
        return group.rank();
    }

    long nanoTime() {
        return context.nanoTime();
    }

    /** Says where this rank stands. */
    void answer(int peer, long ask, long sequence) {
        Failure known = failure();
        if (known != null) {
            // whoever asks may have missed it: it was told before the asker had made the group
            tell(peer, first.message(known, context.nanoTime()));
        }
        tell(peer, whereabouts.status(ask, sequence));
    }

    private Standing standing() {
        Standing standing = owner.standing();
        return standing.isIdle() ? agreement.standing() : standing;
    }

    /** Compares the last call of a rank that has left with this rank's; where they differ, the group ends with that soon. */
    boolean differsFromLeaver(int peer, Goodbye said) {
        return mismatches.heard(peer, said.lastSequence(), said.fingerprint(), said.call());
    }

    /** Ends the group now if ranks that have left have made other calls than this one, which is to leave. */
    public void settleWithLeavers() {
        leaves.compare();
        mismatches.settleNow();
    }

    /** A rank has left. */
    void left(int peer, Goodbye said) {
        leaves.left(peer, said);
        board.left(peer, Status.left(said.lastSequence(), said.call()));
        if (differsFromLeaver(peer, said) && closed) {
            mismatches.settleNow();
        }
        agreement.wake();
        transport.wakeup();
    }
}
