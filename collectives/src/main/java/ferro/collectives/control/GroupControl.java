package ferro.collectives.control;

import ferro.FerroException;
import ferro.FerroException.Code;
import ferro.GroupEvent;
import ferro.collectives.control.failure.ControlMessage;
import ferro.collectives.control.failure.ControlMessage.Abort;
import ferro.collectives.control.failure.ControlMessage.Called;
import ferro.collectives.control.failure.ControlMessage.Goodbye;
import ferro.collectives.control.failure.ControlMessage.Query;
import ferro.collectives.control.failure.Diagnosis;
import ferro.collectives.control.failure.Failure;
import ferro.collectives.control.failure.FailurePolicy;
import ferro.collectives.control.failure.FirstCause;
import ferro.collectives.control.failure.Machines;
import ferro.collectives.control.failure.RankProcesses;
import ferro.collectives.control.failure.Status;
import ferro.collectives.control.failure.StatusBoard;
import ferro.collectives.control.membership.Membership;
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
 * What one rank knows of its group beside the data: whether it has failed and why, which ranks have left, which calls
 * were made.
 *
 * <p>All ranks agree on one cause. Everything that this rank sees or is told is merged ({@link Failure#merged}), and
 * every change is told to all ranks before any caller of this rank hears of it. A rank that waits asks the others
 * ({@link #ask}), and each answers with its state. So a time-out names the ranks that are missing. If two ranks have
 * made different calls, the group ends with MISMATCH and all texts.
 *
 * <p>Thread-safe; nothing waits, and no message is sent with a lock held. The medium calls this class from its
 * background thread or from the thread that makes progress.
 */
public final class GroupControl implements Transport.Events, Membership.Member {
    /** The most ranks that a heartbeat tells of the last call: the next ones in a circle, which is enough for all. */
    private static final int SAMPLED_MOST = 32;

    private final Transport transport;
    private final GroupSpec group;
    private final RankContext context;
    private final ControlOwner owner;
    private final FailurePolicy rules;
    private final Machines machines;
    private final StatusResponder whereabouts;
    private final History history = new History();
    private final GracefulExits leaves;
    private final Timers timers;
    private final FirstCause first;
    private final PeerFailures losses;
    private final Deaths deaths;
    private final StatusBoard board;
    private final Mismatches mismatches;
    private final Agreement agreement;
    private final ControlInbox inbox;
    private final AtomicBoolean ownerTold = new AtomicBoolean();
    /** Whether callers may hear of the failure: the other ranks were told before. */
    private volatile boolean told;

    private volatile boolean closed;

    /**
     * A rank's place among all groups of one joined group.
     *
     * @param joinedRanks ranks of the joined group, in the order of this group
     * @param standings   state of this rank in all of them
     * @param processes   which ranks of the joined group share a process
     */
    public record JoinedPosition(int[] joinedRanks, RankStatuses standings, RankProcesses processes) {}

    /**
     * Makes the control of a group, to be {@link #open opened}.
     *
     * @param transport medium
     * @param group     name, rank and size
     * @param context   clock, timers
     * @param owner     is told of the failure and of events
     * @param place     ranks of this group in the joined group
     */
    public GroupControl(
            Transport transport, GroupSpec group, RankContext context, ControlOwner owner, JoinedPosition place) {
        this.transport = transport;
        this.group = group;
        this.context = context;
        this.owner = owner;
        this.rules = owner.rules();
        this.machines = new Machines(group.rank(), place.joinedRanks, place.processes);
        this.timers = new Timers(context::background);
        this.first = new FirstCause(rules);
        this.leaves = new GracefulExits(this, group, owner::ended);
        this.losses = new PeerFailures(this, leaves, machines);
        this.deaths = new Deaths(this, losses, leaves, rules, place);
        this.board = new StatusBoard(group.rank(), group.worldSize());
        this.mismatches = new Mismatches(this, history, losses, rules, group.worldSize());
        this.agreement = new Agreement(this, group, context);
        this.inbox = new ControlInbox(this, group.worldSize(), leaves, board, mismatches);
        this.whereabouts = new StatusResponder(
                place.standings,
                new RankStatuses.Seat(group.name(), place.joinedRanks, this::standing),
                history,
                owner);
    }

    /**
     * Opens the control once the owner can report its state: from then on, answers in other groups of this rank include
     * this group.
     */
    public void open() {
        whereabouts.enter();
    }

    /**
     * Runs the code of a failure once without a failure: cold code costs 20 ms, in which the other ranks would wait.
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
        deaths.warm();
        sample.blamed();
    }

    private ControlMessage readBack(ControlMessage message) {
        return ControlMessage.decode(message.encoded(), group.worldSize());
    }

    /**
     * Returns the cause of the group's failure.
     *
     * @return failure as agreed on now, or null while the group works
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
     * Returns the agreement that subgroups are made with.
     *
     * @return agreement
     */
    public Agreement agreement() {
        return agreement;
    }

    /**
     * Makes a probe that asks the ranks before a deadline.
     *
     * @return probe, for one waiter
     */
    public TimeoutProbe inquiry() {
        return new TimeoutProbe(this);
    }

    /**
     * Fails the group and tells the other ranks. Causes that this rank sees more than 50 ms after the first cause are
     * consequences and change nothing.
     *
     * @param cause why
     */
    public void fail(Failure cause) {
        changed(first.seen(cause.asSeenByOthers(), context.nanoTime()), true);
    }

    /**
     * Fails the group because of weak evidence, such as a rank that has closed its end, or at the user's request. Any
     * other known cause explains it, even one that is just being told to the others.
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
     * @param call     the call
     */
    public void called(long sequence, CallHeader.Call call) {
        history.add(sequence, call);
    }

    /**
     * Returns the ranks that have left.
     *
     * @return leaves
     */
    public GracefulExits leaves() {
        return leaves;
    }

    /**
     * Asks all ranks for their state, and about an operation that this rank waits for.
     *
     * @param call header of the operation, or null
     * @return number of the question
     */
    public long ask(CallHeader call) {
        // ranks that have left answer by their goodbye
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
     * @param nanos longest wait for ranks that do not answer
     * @return ranks that have not answered; none once the group has failed
     */
    public Set<Integer> silentRanks(long nanos) {
        return new LivenessProbe(this).silent(nanos);
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

    /**
     * Makes a diagnosis from the answers to an early question; a rank that has not answered the last one may be slow.
     */
    Diagnosis diagnosis(long early, long last, long sequence) {
        return new Diagnosis(machines, board.answers(early), board.silentTo(last), sequence);
    }

    /**
     * Returns the ranks that have not reported that they have called an operation.
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
     * Tells the other ranks that this one leaves: it has completed everything that it called, and calls nothing more.
     * It answers questions until the medium is closed.
     *
     * @param losers ranks that need this one until they have ended its last collective
     * @param until  when the leave is over
     * @return leave, over when no other rank can lose anything any more
     */
    public GracefulExit leave(BitSet losers, GracefulExit.ExitLimit until) {
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
     * @param kind  of event
     * @param ranks that the event is about
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

    /** Handles the message of a rank that the group has failed. */
    void told(int peer, Abort said) {
        losses.toldAbort(peer);
        changed(first.told(said.failure(), context.nanoTime() - said.ageNanos()), false);
    }

    /** Sends a message to one rank; for {@link Agreement}. */
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

    /** Runs a task later, by a timer, because possibly no thread makes progress at that time. */
    void later(Runnable task, long nanos) {
        timers.later(task, nanos);
    }

    int self() {
        return group.rank();
    }

    long nanoTime() {
        return context.nanoTime();
    }

    /** Answers a question about the state of this rank. */
    void answer(int peer, long ask, long sequence) {
        Failure known = failure();
        if (known != null) {
            // the rank that asks may have missed the failure: it was told before that rank had made the group
            tell(peer, first.message(known, context.nanoTime()));
        }
        tell(peer, whereabouts.status(ask, sequence));
    }

    private RankStatus standing() {
        RankStatus standing = owner.standing();
        return standing.isIdle() ? agreement.standing() : standing;
    }

    /**
     * Compares the last call of a rank that has left with this rank's call. If they differ, the group soon ends with
     * MISMATCH.
     */
    boolean differsFromLeaver(int peer, Goodbye said) {
        return mismatches.heard(peer, said.lastSequence(), said.fingerprint(), said.call());
    }

    /** Ends the group now if ranks that have left have made other calls than this rank, which is about to leave. */
    public void settleWithLeavers() {
        leaves.compare();
        mismatches.settleNow();
    }

    /** Handles the goodbye of a rank. */
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
