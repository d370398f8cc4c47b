package ferro.control.group;

import ferro.FerroException;
import ferro.FerroException.Code;
import ferro.FerroException.Where;
import ferro.InvalidRankException;
import ferro.control.failure.ControlMessage.Cancellation;
import ferro.control.failure.ControlMessage.GroupProposal;
import ferro.control.failure.Diagnosis;
import ferro.control.failure.Failure;
import ferro.control.failure.FailureFactory;
import ferro.control.membership.Hashing;
import ferro.control.wire.RankSetFormat;
import ferro.spi.Deadlines;
import ferro.spi.GroupSpec;
import java.time.Duration;
import java.util.Arrays;
import java.util.BitSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * The agreement of the members of a new group. Each member sends the other members the ranks of the group and the
 * number of its attempt. The member then waits until all other members have sent the same ranks.
 *
 * <p>The identity of the group is computed from the parent, the ranks and the attempts of all members. Therefore no
 * store is needed, and no attempt is mistaken for an earlier attempt. Each pair of ranks counts its attempts whose new
 * group includes both ranks. The k-th attempt with both ranks on one rank belongs to the k-th attempt with both ranks
 * on the other rank. The number k is the round. If a member proposes another list in the same round, the attempt fails
 * at once. A rank whose attempt fails cancels the attempt. The cancel ends the attempts of other members in the same
 * round, including attempts that begin later. The parent stays usable, and later attempts may succeed.
 *
 * <p>Received messages and {@link CreationAttempt#look} advance an attempt like a state machine. Only {@link #reach}
 * waits.
 */
public final class SubgroupAgreement {
    /** The longest time between two checks of a waiting caller, and therefore the longest delay after a clock jump. */
    private static final long LOOK_NANOS = 100_000_000L;
    /**
     * The largest distance between the rounds of two ranks. A larger distance is an error of the sender, because even a
     * rank that retries many times is ahead by much less.
     */
    private static final long AHEAD_MOST = 4096;

    /** The value of a rank parameter that stands for all ranks. */
    private static final int ALL = -1;

    private final StatusInquiry inquiry;
    private final AgreedFailure groupFailure;
    private final Timers timers;
    private final ControlSender sender;
    private final Leavers leavers;
    private final ControlledGroup owner;
    private final GroupSpec group;
    /** Proposals of other ranks, by rank and round. The lock of this object guards this and the next two fields. */
    private final Map<Integer, Map<Long, Proposal>> told = new HashMap<>();

    /** The last round of this rank with each member. */
    private final Map<Integer, Long> lastRounds = new HashMap<>();

    private long searches;
    private final CreatedSubgroups made;
    private long attempts;
    private boolean closed;
    private final InFlightCallCount making = new InFlightCallCount();
    private volatile CreationAttempt current;

    /** The group that a rank proposes. {@code given} is the reason why the rank has given up the proposal, or null. */
    private record Proposal(long attempt, long hash, String ranks, Failure given) {}

    /** The attempt of this rank that is in progress. */
    public final class CreationAttempt {
        private final String list;
        private final long hash;
        private final int[] ranks;
        private final long parent;
        private final long number;
        private final Thread caller = Thread.currentThread();
        private final long begunNanos;
        private final long timeoutNanos;
        private final BitSet open = new BitSet();
        private final Map<Integer, Long> heard = new HashMap<>();
        private final Map<Integer, Long> rounds = new HashMap<>();
        private final TimeoutProbe probe = new TimeoutProbe(inquiry);
        private final CompletableFuture<Long> end = new CompletableFuture<>();
        private final TimeoutProbe warning = new TimeoutProbe(inquiry);
        private Failure ended;
        private FerroException given;
        private boolean announced;
        private boolean warned;

        private CreationAttempt(long parent, int[] ranks, Duration timeout) {
            this.list = Arrays.toString(ranks);
            this.hash = Hashing.of(list);
            this.ranks = ranks.clone();
            this.parent = parent;
            this.number = ++attempts;
            this.begunNanos = timers.nanoTime();
            this.timeoutNanos = Deadlines.nanos(timeout);
            this.warned = !TimeoutProbe.isWarnedOf(timeoutNanos);
            for (int member : ranks) {
                if (member != group.rank()) {
                    open.set(member);
                    rounds.put(member, lastRounds.merge(member, 1L, Long::sum));
                }
            }
        }

        /**
         * {@return the future identity of the new group, 64 bits, equal on all members; on failure, a FerroException.
         * The code is MISMATCH if a member proposes another group. The code is TIMED_OUT if members never called, and
         * the exception names these members. An exception with another code has the cause that ended the attempt on
         * another member, or the failure of the parent}
         */
        public CompletionStage<Long> end() {
            return end;
        }

        /** Returns whether the attempt has ended, with success or failure. */
        public boolean hasEnded() {
            return end.isDone();
        }

        /** Checks the deadline. Returns the time of the next check on the context's clock. */
        public long look() {
            long now = timers.nanoTime();
            long deadline = begunNanos + timeoutNanos;
            BitSet missing = missing();
            if (!end.isDone() && probe.mayJudge(null, missing, begunNanos, deadline, now)) {
                Diagnosis.Blame verdict = probe.missing(missing);
                finish(failure(
                        Code.TIMED_OUT,
                        RankSetFormat.numbers(verdict.culprits()),
                        "gave up on " + inquiry.machines().named(verdict.culprits()) + " after "
                                + TimeUnit.NANOSECONDS.toMillis(timeoutNanos) + " ms: "
                                + inquiry.machines().named(missing)
                                + " never called newGroup(" + list + "): " + verdict.text()));
            }
            warnIfLate(missing, TimeoutProbe.warnNanos(begunNanos, deadline), now);
            long next = now + TimeoutProbe.untilCheck(begunNanos, deadline, warned, now);
            probe.nextLookAt(next);
            warning.nextLookAt(next);
            return next;
        }

        private void warnIfLate(BitSet missing, long warnNanos, long now) {
            if (warned || end.isDone() || !warning.mayJudge(null, missing, begunNanos, warnNanos, now)) {
                return;
            }
            warned = true;
            Diagnosis.Blame verdict = warning.missing(missing);
            owner.event(verdict.late(
                    group,
                    self() + " of \"" + group.name() + "\" waits for "
                            + inquiry.machines().named(missing)
                            + " after "
                            + TimeUnit.NANOSECONDS.toMillis(now - begunNanos) + " ms in newGroup(" + list + "): "
                            + verdict.text()));
        }

        private BitSet missing() {
            synchronized (SubgroupAgreement.this) {
                return (BitSet) open.clone();
            }
        }

        private void interrupted() {
            Failure why = FailureFactory.interrupted(
                    group, inquiry.machines().named(group.rank()), "newGroup(" + list + ")", -1);
            finish(failure(why.code(), why.culprits(), why.text()));
        }

        /** Advances the attempt with the messages that one member has sent, or that all members have sent. */
        private void step(int sender) {
            if (end.isDone()) {
                return;
            }
            try {
                if (settle(this, sender)) {
                    finish(identity());
                }
            } catch (FerroException failure) {
                finish(failure);
            }
        }

        private long identity() {
            long identity = parent;
            for (int member : ranks) {
                long attempt = member == group.rank() ? number : heard.get(member);
                identity = Hashing.mix(Hashing.mix(identity, member), attempt);
            }
            return identity;
        }

        private void finish(long identity) {
            if (forget()) {
                made.add(identity, ranks, rounds);
                end.complete(identity);
            }
        }

        private void finish(FerroException failure) {
            if (!forget()) {
                return;
            }
            takeBack(failure, false);
            end.completeExceptionally(failure);
        }

        private void announce() {
            try {
                rounds.forEach((member, round) -> sender.tell(member, new GroupProposal(number, round, hash, list)));
            } finally {
                takeBack(null, true);
            }
        }

        /** Cancels an attempt that this rank could not begin, so that the rank can make other attempts later. */
        private void broken(Throwable broken) {
            try {
                finish(failure(Code.ABORTED, Set.of(group.rank()), "failed with an exception: " + broken));
            } catch (RuntimeException | Error again) {
                broken.addSuppressed(again);
            }
        }

        /**
         * Sends the cancel to the other members, but only after the proposal was sent to all other members. An attempt
         * may fail while its proposal is still being sent, because an answer may already arrive.
         */
        private void takeBack(FerroException failure, boolean allTold) {
            synchronized (SubgroupAgreement.this) {
                announced |= allTold;
                given = failure == null ? given : failure;
                if (!announced || given == null) {
                    return;
                }
            }
            Failure why =
                    new Failure(given.code(), group.rank(), -1, given.where().culprits(), given.getMessage(), null);
            rounds.forEach((member, round) -> sender.tell(member, new Cancellation(round, why)));
        }

        private boolean forget() {
            synchronized (SubgroupAgreement.this) {
                boolean mine = current == this;
                current = mine ? null : current;
                return mine;
            }
        }

        private FerroException failure(Failure why) {
            return failure(why.code(), why.culprits(), why.text());
        }

        private FerroException failure(Code code, Set<Integer> culprits, String text) {
            Duration elapsed = Duration.ofNanos(timers.nanoTime() - begunNanos);
            Duration paused = Duration.ofNanos(inquiry.pausedSince(begunNanos));
            Where where = Where.of(group.name(), group.rank())
                    .blaming(culprits)
                    .during("newGroup", -1)
                    .after(elapsed, paused);
            return new FerroException(
                    code, where, "newGroup on group \"" + group.name() + "\" " + self() + ": " + text);
        }
    }

    /** Returns the name of this rank for texts of failures. */
    public String self() {
        return inquiry.machines().named(group.rank());
    }

    SubgroupAgreement(
            FailureContext tools, ControlSender sender, GracefulExits exits, ControlledGroup owner, GroupSpec group) {
        this.inquiry = tools.inquiry();
        this.groupFailure = tools.failure();
        this.timers = tools.timers();
        this.sender = sender;
        this.leavers = exits.leavers();
        this.owner = owner;
        this.group = group;
        this.made = new CreatedSubgroups(group.name(), groupFailure, leavers::parentFailure);
    }

    /**
     * Returns the position of this rank among the members of a new group.
     *
     * @throws ferro.InvalidRankException if a member is not a rank of the group
     * @throws IllegalArgumentException if this rank is not a member, or a rank is a member twice
     */
    public int position(int[] members) {
        String call = "newGroup on group \"" + group.name() + "\": rank ";
        int position = -1;
        for (int at = 0; at < members.length; at++) {
            InvalidRankException.check("newGroup", "member", members[at], group.worldSize());
            position = members[at] == group.rank() ? at : position;
            for (int before = 0; before < at; before++) {
                if (members[at] == members[before]) {
                    throw new IllegalArgumentException(
                            call + members[at] + " appears twice in " + Arrays.toString(members));
                }
            }
        }
        if (position < 0) {
            throw new IllegalArgumentException(
                    call + group.rank() + " is not among " + Arrays.toString(members) + ": only members may call it");
        }
        return position;
    }

    /**
     * Sends the proposal of this rank to the other members.
     *
     * @param parent  identity of this group
     * @param ranks   ranks of this group in the order of the new group, including this rank
     * @param timeout time within which all members have to make the call
     * @return attempt; the caller calls {@code look} until the attempt has ended
     * @throws IllegalStateException if an attempt is in progress, or the group is closed
     */
    public CreationAttempt begin(long parent, int[] ranks, Duration timeout) {
        CreationAttempt mine;
        synchronized (this) {
            if (closed) {
                throw FailureFactory.closed(group, "newGroup(" + Arrays.toString(ranks) + ")");
            }
            CreationAttempt other = current;
            if (other != null) {
                throw new IllegalStateException("newGroup(" + Arrays.toString(ranks) + ") on group \"" + group.name()
                        + "\" rank " + group.rank() + " while another thread waits in newGroup(" + other.list
                        + "): make one call at a time, in the same order on all members");
            }
            mine = new CreationAttempt(parent, ranks, timeout);
            current = mine;
        }
        try {
            mine.announce();
            mine.step(ALL);
        } catch (RuntimeException | Error broken) {
            mine.broken(broken);
            throw broken;
        }
        return mine;
    }

    /** Makes an attempt as {@link #begin} does, and waits. Returns the new group's identity or throws the failure. */
    public long reach(long parent, int[] ranks, Duration timeout) {
        CreationAttempt mine = begin(parent, ranks, timeout);
        // waits on the future of the attempt, because the threads that receive messages need the lock of this object
        while (!mine.end.isDone()) {
            long wait = Math.min(mine.look() - timers.nanoTime(), LOOK_NANOS);
            try {
                mine.end.get(Math.max(1, wait), TimeUnit.NANOSECONDS);
            } catch (InterruptedException interrupted) {
                Thread.currentThread().interrupt();
                mine.interrupted();
            } catch (TimeoutException | ExecutionException looked) {
                mine.step(ALL);
            }
        }
        return result(mine);
    }

    private static long result(CreationAttempt mine) {
        try {
            return mine.end.join();
        } catch (CompletionException failed) {
            // the stack trace of the waiting thread helps more than that of the thread that has received the message
            throw (FerroException) failed.getCause().fillInStackTrace();
        }
    }

    /** Records the proposal of a rank. */
    void heard(int peer, GroupProposal said) {
        synchronized (this) {
            add(peer, said.round(), new Proposal(said.attempt(), said.hash(), said.list(), null));
        }
        wake(peer);
    }

    /**
     * Records the proposal of a rank for a round. The proposing rank may have finished the round and proposed its next
     * group before this rank reads the message.
     *
     * @throws IllegalArgumentException if the proposing rank cannot have reached {@code round}
     */
    private void add(int peer, long round, Proposal proposal) {
        long last = lastRounds.getOrDefault(peer, 0L);
        if (round < 1 || round - last > AHEAD_MOST) {
            throw new IllegalArgumentException("newGroup proposal for round " + round + " from rank " + peer
                    + ": need a round above 0 and at most " + AHEAD_MOST + " rounds after " + last);
        }
        if (round >= last) {
            told.computeIfAbsent(peer, key -> new HashMap<>()).put(round, proposal);
        }
    }

    /**
     * Records that a rank has given up its proposal for a round. Returns false if no proposal of the rank for this
     * round is known, or if the proposal was already used.
     */
    private boolean giveUp(int peer, long round, Failure why) {
        Map<Long, Proposal> open = told.getOrDefault(peer, Map.of());
        Proposal proposal = open.get(round);
        if (proposal == null) {
            return false;
        }
        open.put(round, new Proposal(proposal.attempt, proposal.hash, proposal.ranks, why));
        return true;
    }

    /** Removes and returns a member's proposal for a round, or null. Also drops proposals for earlier rounds. */
    private Proposal take(int member, long round) {
        searches++;
        Map<Long, Proposal> open = told.get(member);
        if (open == null) {
            return null;
        }
        open.keySet().removeIf(earlier -> earlier < round);
        return open.remove(round);
    }

    /** Records that a rank has given up its proposal. If the message names no culprits, the rank itself is to blame. */
    void cancelled(int peer, Cancellation said) {
        Failure why = said.why();
        Code code = why.code() == Code.INTERRUPTED ? Code.ABORTED : why.code();
        Set<Integer> culprits = why.culprits().isEmpty() ? Set.of(peer) : why.culprits();
        Failure given = new Failure(
                code,
                peer,
                -1,
                culprits,
                inquiry.machines().named(peer) + " gave up this newGroup: " + why.text(),
                null);
        synchronized (this) {
            CreationAttempt mine = current;
            if (!giveUp(peer, said.round(), given)
                    && mine != null
                    && Long.valueOf(said.round()).equals(mine.rounds.get(peer))) {
                mine.ended = given;
            }
        }
        made.cancelled(peer, said.round(), given);
        wake(peer);
    }

    /** Advances the attempt after a change: the parent has failed, or a rank has left. */
    void wake() {
        wake(ALL);
    }

    private void wake(int sender) {
        CreationAttempt mine = current;
        if (mine != null) {
            mine.step(sender);
        }
    }

    /** Returns the ranks that propose a group with this rank for which this rank has not called {@code newGroup}. */
    synchronized BitSet waiting() {
        BitSet ranks = new BitSet();
        told.forEach((peer, open) -> ranks.set(peer, !open.isEmpty()));
        return ranks;
    }

    /** Returns the number of times that this rank has searched for the proposal of a member; for tests. */
    synchronized long searches() {
        return searches;
    }

    /** Returns the groups that this rank has created. */
    public CreatedSubgroups made() {
        return made;
    }

    /** Returns the calls in flight that create a group, from before their attempt until the group is created. */
    public InFlightCallCount making() {
        return making;
    }

    /** Returns whether an attempt of this rank is in progress. */
    public boolean isInProgress() {
        return current != null;
    }

    /**
     * Refuses attempts, because the group closes. Returns whether an attempt is in progress. An attempt in progress
     * ends when the group fails.
     */
    public synchronized boolean close() {
        closed = true;
        return current != null;
    }

    /** Returns the thread that is in a call of this agreement; empty if no thread is in a call. Any thread. */
    List<Thread> callers() {
        CreationAttempt own = current;
        return own == null ? List.of() : List.of(own.caller);
    }

    /** Returns the state of this rank while it creates a group. */
    RankStatus status() {
        CreationAttempt own = current;
        return own == null
                ? RankStatus.IDLE
                : new RankStatus(
                        0, "newGroup(" + own.list + ")", "", RankSetFormat.numbers(own.missing()), own.begunNanos);
    }

    /**
     * Removes a member that has sent its list from the open members, or all members that have sent their lists. Returns
     * whether no open member is left.
     *
     * @throws FerroException if a member has sent another list, or if the group has failed, because members of a failed
     *     group give up and leave
     */
    private synchronized boolean settle(CreationAttempt mine, int from) {
        Failure failed = groupFailure.cause();
        if (failed != null) {
            throw mine.failure(failed);
        }
        if (from == ALL) {
            for (int member = mine.open.nextSetBit(0); member >= 0; member = mine.open.nextSetBit(member + 1)) {
                take(mine, member);
            }
        } else if (mine.open.get(from)) {
            take(mine, from);
        }
        if (mine.open.isEmpty()) {
            return true;
        }
        if (mine.ended != null) {
            throw mine.failure(mine.ended);
        }
        if (from == ALL && leavers.any()) {
            refuseToWait(mine);
        }
        return false;
    }

    private void take(CreationAttempt own, int member) {
        Proposal proposal = take(member, own.rounds.get(member));
        if (proposal == null) {
            return;
        }
        own.heard.put(member, proposal.attempt());
        if (proposal.hash() != own.hash) {
            throw own.failure(
                    Code.MISMATCH,
                    Set.of(member),
                    "members disagree: " + inquiry.machines().named(group.rank()) + " makes " + own.list + ", "
                            + inquiry.machines().named(member) + " makes " + proposal.ranks());
        }
        if (proposal.given() != null) {
            throw own.failure(proposal.given());
        }
        own.open.clear(member);
    }

    private void refuseToWait(CreationAttempt mine) {
        mine.open.stream().filter(leavers::hasSaidGoodbye).findFirst().ifPresent(gone -> {
            String why = leavers.text(gone) + " without taking part in newGroup(" + mine.list + ")";
            throw mine.failure(leavers.cause(Set.of(gone), why));
        });
    }
}
