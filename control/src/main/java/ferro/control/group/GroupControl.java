package ferro.control.group;

import ferro.FerroException;
import ferro.FerroException.Code;
import ferro.GroupEvent;
import ferro.RankEnd;
import ferro.control.failure.AnswerTable;
import ferro.control.failure.ControlMessage;
import ferro.control.failure.ControlMessage.Abort;
import ferro.control.failure.ControlMessage.Cancellation;
import ferro.control.failure.ControlMessage.Goodbye;
import ferro.control.failure.ControlMessage.GoodbyeAck;
import ferro.control.failure.ControlMessage.GoodbyeRequest;
import ferro.control.failure.ControlMessage.GroupProposal;
import ferro.control.failure.ControlMessage.LastCall;
import ferro.control.failure.ControlMessage.LeaveReport;
import ferro.control.failure.ControlMessage.Query;
import ferro.control.failure.ControlMessage.SuspectReport;
import ferro.control.failure.Diagnosis;
import ferro.control.failure.Failure;
import ferro.control.failure.FailureFactory;
import ferro.control.failure.FailurePolicy;
import ferro.control.failure.GoAhead;
import ferro.control.failure.Machines;
import ferro.control.failure.MergedCause;
import ferro.control.failure.Overlay;
import ferro.control.failure.StatusAnswer;
import ferro.control.membership.Membership;
import ferro.control.wire.RankSetFormat;
import ferro.recorder.ThreadStack;
import ferro.spi.CallHeader;
import ferro.spi.ControlLane;
import ferro.spi.GroupSpec;
import ferro.spi.RankContext;
import ferro.spi.Transport;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.Collection;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.locks.LockSupport;
import java.util.function.LongSupplier;

/**
 * The control of a group on one rank. The control records whether and why the group has failed, which ranks have left,
 * and which calls were made. The control does not handle the data of calls.
 *
 * <p>All ranks agree on one cause of a failure. This rank merges every cause that it detects or receives ({@link
 * Failure#merged}). This rank sends every change of code or culprits to its neighbours ({@link Overlay}), which forward
 * the change. A change is sent before any caller of this rank receives the failure. A rank that waits asks other ranks
 * for their state ({@link #ask}), so that a timeout can name the missing ranks. If two ranks have made different calls,
 * the group ends with MISMATCH and the texts of all calls.
 *
 * <p>Thread-safe. No method waits except {@link #silentRanks} and {@link #failUnlessFailed}, and no message is sent
 * while a lock is held. The medium calls this class from its background thread or from the thread that makes progress.
 */
public final class GroupControl implements Transport.Events, Membership.RankListener {
    /**
     * The largest number of ranks to which a heartbeat sends the last call. The receivers of a heartbeat are the next
     * ranks around the ring, so every rank receives the calls of other ranks.
     */
    private static final int SAMPLED_MOST = 32;
    /** The largest number of ranks for which {@link #warm} runs the code for a failure. */
    private static final int MAX_WARMED = 4;
    /** The time between two checks for answers of other ranks while a caller waits. */
    private static final long LOOK_NANOS = 1_000_000L;
    /** The largest number of rounds of questions while a caller waits. */
    private static final int ASKED_MOST = 4;

    private final ControlLane lane;
    private final GroupSpec group;
    private final ControlledGroup owner;
    private final FailurePolicy rules;
    private final Machines machines;
    private final ControlSender sender;
    private final AgreedFailure failure;
    private final StatusInquiry inquiry;
    private final Timers timers;
    private final StatusResponder responder;
    private final CallHistory history = new CallHistory();
    private final GracefulExits exits;
    private final LinkLossJudge linkJudge;
    private final RankLossJudge deaths;
    /** Ranks about whose ends the launcher was asked. No thread waits for the answer, which may come late. */
    private final Set<Integer> askedEnds = ConcurrentHashMap.newKeySet();

    private final Map<Integer, RankEnd> ends = new ConcurrentSkipListMap<>();
    private final AnswerTable board;
    private final MismatchJudge mismatches;
    private final SubgroupAgreement agreement;
    private volatile boolean closed;

    /**
     * Creates the control of a group. The caller must {@link #open} the control later.
     *
     * @param lane    lane that carries the control messages
     * @param group   name, rank and size of the group
     * @param context context with the clock and the timers
     * @param owner   engine of the group, which is notified of the failure and of events
     * @param place   position of this rank and its group in the joined group
     */
    public GroupControl(
            ControlLane lane, GroupSpec group, RankContext context, ControlledGroup owner, JoinedGroupView place) {
        this.lane = lane;
        this.group = group;
        this.owner = owner;
        this.rules = owner.rules();
        this.machines = new Machines(group.rank(), place.joinedRanks(), place.processes());
        OverlayNeighbours neighbours =
                new OverlayNeighbours(new Overlay(group.rank(), group.worldSize(), owner.maxMesh(), Overlay.ALL_STEPS));
        this.sender = new ControlSender(lane, group, neighbours);
        LongSupplier clock = context::nanoTime;
        this.timers = new Timers(context::background, clock, this::exhausted);
        this.failure = new AgreedFailure(sender, rules, clock, new FailureHandler());
        Leavers leavers = new Leavers(sender, timers, machines, rules);
        this.exits = new GracefulExits(sender, failure, timers, leavers, new LeaverHandler());
        this.board = new AnswerTable(group.rank(), group.worldSize());
        // the goodbye of a rank that has left is its answer
        this.inquiry = new StatusInquiry(sender, board, machines, owner, exits::compare);
        this.responder = new StatusResponder(
                place.statuses(),
                new RankStatuses.GroupStatus(group.name(), machines, this::status, history::last, this::callers),
                history,
                owner,
                clock);
        FailureContext tools = new FailureContext(inquiry, failure, timers, responder, owner::left);
        this.linkJudge = new LinkLossJudge(tools, exits, machines);
        this.deaths = new RankLossJudge(failure, linkJudge, exits, rules, machines);
        this.mismatches = new MismatchJudge(tools, history, linkJudge, rules, group.worldSize());
        this.agreement = new SubgroupAgreement(tools, sender, exits, owner, group);
    }

    /** The handling of the leaves of other ranks in this group. */
    private final class LeaverHandler implements GracefulExits.OwnCollectives {
        @Override
        public boolean differs(LeaveReport leaver) {
            return mismatches.heard(leaver.rank(), leaver.lastSequence(), leaver.fingerprint(), leaver.call());
        }

        @Override
        public void hasLeft(int peer) {
            board.left(peer, StatusAnswer.left());
        }

        @Override
        public long ended() {
            return owner.ended();
        }
    }

    /**
     * Opens this control. The owner must be able to report its state. From now on, answers of this rank in other groups
     * also describe its calls in this group.
     */
    public void open() {
        responder.enter();
    }

    /**
     * Runs the code for a failure once without a failure. The first run of this code takes 20 ms. Without this method,
     * the first run would come after a real failure, and the other ranks would wait. A few ranks are enough to run the
     * code.
     */
    public void warm() {
        Failure sample = new Failure(Code.ABORTED, group.rank(), -1, Set.of(0), "warm", null);
        Abort read = (Abort) readBack(Abort.of(sample, sample.culprits(), 0));
        MergedCause none = new MergedCause(rules);
        none.seen(sample, 0);
        none.told(read.failure(), 0);
        Machines few = machines.sample(MAX_WARMED);
        StatusAnswer[] answers = new StatusAnswer[few.joinedRanks().length];
        answers[answers.length - 1] = (StatusAnswer) readBack(responder.status(0, 0));
        new Diagnosis(few, answers, new BitSet(), 1).ofCollective(new BitSet());
        new RankLossJudge(failure, linkJudge, exits, rules, few).warm();
    }

    private ControlMessage readBack(ControlMessage message) {
        return ControlMessage.decode(message.encoded(), group.worldSize());
    }

    /** Returns the failure of the group on which ranks have agreed so far, or null if the group has not failed. */
    public Failure failure() {
        return failure.cause();
    }

    /** Returns the ranks that are known to be dead or lost, ascending; immutable. */
    public Set<Integer> lostRanks() {
        return deaths.ranks();
    }

    /** Returns the ends of dead ranks that launchers have reported so far, by rank; empty before a failure. */
    public Map<Integer, RankEnd> ends() {
        return Collections.unmodifiableMap(ends);
    }

    /** Returns the agreement through which ranks create subgroups. */
    public SubgroupAgreement agreement() {
        return agreement;
    }

    /** Returns the name, rank and size of the group. */
    GroupSpec group() {
        return group;
    }

    /** Returns the machines of the ranks. The machines also give the names of ranks for texts. */
    public Machines machines() {
        return machines;
    }

    FailurePolicy rules() {
        return rules;
    }

    /** Returns the name of this rank for texts of failures. */
    public String self() {
        return machines.named(group.rank());
    }

    /** Returns the time on the clock of the context. */
    long nanoTime() {
        return timers.nanoTime();
    }

    StatusInquiry inquiry() {
        return inquiry;
    }

    /** Creates a probe that asks the ranks for their state before a deadline. */
    public TimeoutProbe timeoutProbe() {
        return new TimeoutProbe(inquiry);
    }

    /**
     * Fails the group and notifies the other ranks. A cause that this rank detects more than 50 ms after the first
     * cause is a consequence and changes nothing.
     */
    public void fail(Failure cause) {
        failure.fail(cause);
    }

    /**
     * Fails the group if no cause is known. This method is for weak evidence, such as a rank that has closed the group,
     * and for a failure at the user's request. Any known cause explains the evidence, even a cause that another thread
     * is just sending.
     */
    public void failUnlessFailed(Failure cause) {
        failure.failUnlessFailed(cause);
        failure.awaitTold();
    }

    private void exhausted(OutOfMemoryError noThread) {
        failure.fail(FailureFactory.inside(group, self(), noThread));
    }

    /** The handling of a failure of this group. */
    private final class FailureHandler implements AgreedFailure.FailureListener {
        @Override
        public void died(Set<Integer> ranks) {
            deaths.died(ranks);
        }

        @Override
        public Set<Integer> blamed(Failure cause) {
            return deaths.blamed(cause);
        }

        @Override
        public void beforeCallersHear() {
            responder.record("failure of group " + group.name());
        }

        @Override
        public void failed(Failure agreed, boolean isFirst) {
            agreement.wake();
            if (isFirst) {
                owner.failed();
                deaths.failed();
                event(GroupEvent.Kind.FAILED, List.copyOf(agreed.culprits()), agreed.code() + ": " + agreed.text());
            }
            exits.failed();
            // ranks that are lost after the failure have ended because of the failure
            askForEnds(agreed.culprits());
            askForEnds(deaths.ranks());
        }
    }

    /** Asks the launcher how each of the given ranks ended, except this rank. Asks once for each rank. */
    private void askForEnds(Collection<Integer> ranks) {
        for (int rank : ranks) {
            if (rank != group.rank() && askedEnds.add(rank)) {
                lane.whenEnded(rank, end -> ends.put(rank, end));
            }
        }
    }

    /** Records that this rank calls an operation. */
    public void called(long sequence, CallHeader.Call call) {
        history.add(sequence, call);
    }

    /**
     * Sends once more the go-ahead for a message that a receive of this rank has matched.
     *
     * @param peer         rank that sends the message
     * @param announcement number under which the message was announced
     */
    public void repeatGoAhead(int peer, long announcement) {
        sender.tell(peer, new GoAhead(announcement));
    }

    /** Returns the leaves of the ranks of this group. */
    public GracefulExits exits() {
        return exits;
    }

    /**
     * Asks ranks for their state and for their call of an operation that this rank waits for. In a small group this
     * method asks all ranks.
     *
     * @param call  header of the operation, or null
     * @param ranks ranks to ask in a large group
     */
    void ask(CallHeader call, BitSet ranks) {
        inquiry.ask(call, ranks);
    }

    /**
     * Asks all ranks about calls of this rank. If a rank has made another call with the same number, the group soon
     * ends with MISMATCH.
     *
     * @param first sequence number of the first call
     * @param count largest number of calls
     */
    public void compareCalls(long first, int count) {
        long last = Math.min(history.last(), first + count - 1);
        for (long sequence = Math.max(1, first); sequence <= last; sequence++) {
            CallHeader call = history.find(sequence);
            if (call != null) {
                inquiry.ask(call);
            }
        }
    }

    /**
     * Asks all ranks for their state and waits for their answers. If this process was paused during the wait, this
     * method asks the ranks again, because answers that have arrived may not have been read yet.
     *
     * @param nanos longest wait for ranks that do not answer, in nanoseconds
     * @return ranks that have not answered; none once the group has failed
     */
    public Set<Integer> silentRanks(long nanos) {
        BitSet silent = new BitSet();
        for (int round = 0; round < ASKED_MOST; round++) {
            long ask = inquiry.ask(null);
            boolean stoodStill = hasStoodStill(ask, nanos);
            silent = inquiry.silentTo(ask);
            if (!stoodStill || silent.isEmpty()) {
                break;
            }
        }
        return failure.isKnown() ? new TreeSet<>() : RankSetFormat.numbers(silent);
    }

    /**
     * Waits until all ranks have answered, the time is over, the group has failed, or this process was paused. Returns
     * whether this process was paused.
     */
    private boolean hasStoodStill(long ask, long nanos) {
        long begun = nanoTime();
        long last = begun;
        while (last - begun < nanos && !failure.isKnown() && inquiry.isAnySilent(ask, null)) {
            LockSupport.parkNanos(this, LOOK_NANOS);
            long now = nanoTime();
            if (now - last > TimeoutProbe.STOOD_STILL_NANOS) {
                return true;
            }
            last = now;
        }
        return false;
    }

    /** Returns the ranks that have not reported a call of the given operation. */
    public BitSet missingAt(long sequence) {
        return board.missingAt(sequence);
    }

    /** Returns for how many nanoseconds this process was paused since a time on the context's clock. */
    public long pausedSince(long sinceNanos) {
        return owner.pausedSince(sinceNanos);
    }

    /**
     * Announces that this rank leaves. A rank that leaves has completed all its calls, and makes no further call. This
     * rank still answers questions until the medium is closed.
     *
     * @param losers ranks that need this rank until they have ended the last collective of this rank
     * @param until  condition for the end of the leave
     * @return the leave, which is over when no other rank can lose data any more
     */
    public GracefulExit leave(BitSet losers, GracefulExit.ExitCondition until) {
        closed = true;
        responder.leave();
        deaths.sendDead();
        timers.close();
        GracefulExit leaving = exits.leave(history.find(history.last()), losers, until);
        agreement.waiting().stream().forEach(exits::answer);
        return leaving;
    }

    @Override
    public void closed(int peer, FerroException cause) {
        exits.gone(peer);
        if (!closed && !exits.has(peer) && exits.neighbours().isNeighbour(peer)) {
            // a rank that leaves sends a goodbye to its neighbours before it closes
            deaths.lost(peer, machines.named(peer, cause));
        } else if (!closed && !exits.has(peer)) {
            exits.closed(peer);
            changed();
        }
    }

    /** Continues the tasks that depend on the set of ranks that have left. */
    private void changed() {
        agreement.wake();
        owner.left();
        if (!closed) {
            deaths.reportUnjudged();
        }
    }

    @Override
    public void cutOff(int peer, FerroException cause) {
        exits.gone(peer);
        if (!closed) {
            deaths.cutOff(peer, machines.named(peer, cause));
        }
    }

    @Override
    public void lost(int peer, FerroException cause) {
        gone(peer, machines.named(peer, cause));
    }

    @Override
    public void gone(int peer, FerroException cause) {
        exits.gone(peer);
        if (!closed) {
            deaths.lost(peer, cause);
        }
    }

    @Override
    public void silent(int peer, BitSet ranks, FerroException cause) {
        exits.lost(peer);
        if (!closed) {
            deaths.silent(peer, ranks, cause);
        }
    }

    @Override
    public void found(int peer) {
        deaths.found(peer);
    }

    @Override
    public void broken(int peer, FerroException ended) {
        if (closed) {
            return;
        }
        FerroException cause = machines.named(peer, ended);
        if (cause.code() == Code.PROTOCOL) {
            // no message in flight can explain this failure better
            failure.fail(new Failure(cause.code(), group.rank(), -1, Set.of(peer), cause.getMessage(), cause));
        } else if (cause.code() == Code.RESOURCE) {
            // a rank that lacks a resource is alive, and sends its failure itself
            Set<Integer> culprits = cause.where().culprits();
            Set<Integer> blamed = culprits.isEmpty() ? Set.of(peer) : culprits;
            failure.fail(new Failure(cause.code(), group.rank(), -1, blamed, cause.getMessage(), cause));
        } else if (!failure.isKnown()) {
            linkJudge.broken(peer, cause);
        }
    }

    @Override
    public void event(GroupEvent.Kind kind, int rank, String text) {
        event(kind, List.of(rank), text);
    }

    @Override
    public void log(GroupEvent.Kind kind, int rank, String text) {
        String line = self() + " of \"" + group.name() + "\": " + text;
        owner.log(GroupEvent.of(kind, group.name(), group.rank(), List.of(rank), line));
    }

    private void event(GroupEvent.Kind kind, List<Integer> ranks, String text) {
        owner.event(GroupEvent.of(kind, group.name(), group.rank(), ranks, text));
    }

    /** Notifies the listeners of the group that a call of this rank is late. */
    public void late(Diagnosis.Blame verdict, String text) {
        owner.event(verdict.late(group, text));
    }

    @Override
    public void heartbeat() {
        CallHeader last = history.find(history.last());
        if (last == null || failure.isKnown()) {
            return;
        }
        sender.tellNext(LastCall.of(last), SAMPLED_MOST);
    }

    @Override
    public void mismatched(int peer, CallHeader expected, CallHeader found) {
        mismatches.suspected(peer, expected, found);
    }

    /**
     * Handles a control message. An invalid message fails the group and blames its sender. An error in this method
     * blames this rank.
     */
    @Override
    public void control(int peer, ByteBuffer message) {
        try {
            handle(peer, ControlMessage.decode(message, group.worldSize()));
        } catch (IllegalArgumentException nonsense) {
            String text = machines.named(peer) + " sent an invalid control message: " + nonsense.getMessage();
            failure.fail(new Failure(Code.PROTOCOL, group.rank(), -1, Set.of(peer), text, nonsense));
        } catch (RuntimeException | Error broken) {
            // a rethrown exception would end the connection to the sender, which has not caused the error
            Code code = broken instanceof OutOfMemoryError ? Code.RESOURCE : Code.ABORTED;
            String text =
                    self() + " failed while it handled a control message of " + machines.named(peer) + ": " + broken;
            failure.fail(new Failure(code, group.rank(), -1, Set.of(group.rank()), text, broken));
        }
    }

    private void handle(int peer, ControlMessage message) {
        if (message instanceof Abort said) {
            linkJudge.toldAbort(peer);
            failure.heard(said);
        } else if (message instanceof Goodbye said) {
            goodbye(peer, said);
        } else if (message instanceof GoodbyeAck said) {
            exits.heard(peer, said);
        } else if (message instanceof Query said) {
            query(peer, said);
        } else if (message instanceof StatusAnswer said) {
            board.answered(peer, said);
            mismatches.answered(peer, said);
        } else if (message instanceof GroupProposal said) {
            agreement.heard(peer, said);
            // after the attempt, because a rank that leaves sends a goodbye to the ranks whose attempts it has received
            exits.answer(peer);
        } else if (message instanceof Cancellation said) {
            agreement.cancelled(peer, said);
        } else if (message instanceof LastCall said) {
            mismatches.heard(peer, said.sequence(), said.fingerprint(), said.call());
        } else if (message instanceof LeaveReport said) {
            if (exits.lower(said)) {
                left(said);
            }
        } else if (message instanceof GoodbyeRequest) {
            // the sender needs the failure of the group, if there is one, and the goodbye of this rank when it leaves
            failure.tell(peer);
            exits.followedBy(peer);
        } else if (message instanceof SuspectReport said) {
            suspect(peer, said);
        } else if (message instanceof GoAhead said) {
            owner.goAhead(peer, said.announcement());
        } else {
            throw new IllegalStateException("no case for " + message);
        }
    }

    private void goodbye(int peer, Goodbye said) {
        exits.left(peer, said);
        if (!sender.isSmall() && !linkJudge.hasToldAbort(peer)) {
            // when this rank sent the failure, the peer seemed to be gone or was not a neighbour; it may wait for this
            // rank
            failure.tell(peer);
        }
        left(said.of(peer));
    }

    private void left(LeaveReport leaver) {
        board.left(leaver.rank(), StatusAnswer.left(leaver.lastSequence(), leaver.call()));
        if (exits.differs(leaver) && closed) {
            mismatches.settleNow();
        }
        changed();
    }

    private void suspect(int peer, SuspectReport said) {
        failure.tell(peer);
        // if this rank leaves before the judgement, its goodbye makes the sender ask another rank
        exits.followedBy(peer);
        if (!closed) {
            deaths.reported(said.loss());
        }
    }

    private void query(int peer, Query said) {
        // the rank that asks may have missed the failure, which was sent before that rank had created the group
        failure.tell(peer);
        exits.answer(peer);
        sender.tell(
                peer,
                said.lines() > 0
                        ? responder.statusWithLine(said.ask(), said.sequence())
                        : responder.status(said.ask(), said.sequence()));
        mismatches.heard(peer, said.sequence(), said.fingerprint(), said.call());
    }

    /** Sets the platform or virtual thread that has joined and whose stack is reported while no call is in flight. */
    public void joinedBy(Thread thread) {
        responder.joinedBy(thread);
    }

    /** Returns the stacks of the threads that are in calls, and of the thread that has joined. */
    public List<ThreadStack> stacks() {
        return responder.stacks();
    }

    private List<Thread> callers() {
        List<Thread> callers = new ArrayList<>(owner.callers());
        callers.addAll(agreement.callers());
        return callers;
    }

    private RankStatus status() {
        RankStatus status = owner.status();
        return status.isIdle() ? agreement.status() : status;
    }

    /** Ends the group now if the calls of ranks that have left differ from this rank's calls. Called before a leave. */
    public void settleWithLeavers() {
        exits.compare();
        mismatches.settleNow();
    }
}
