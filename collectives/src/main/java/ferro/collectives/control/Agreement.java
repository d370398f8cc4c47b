package ferro.collectives.control;

import ferro.FerroException;
import ferro.FerroException.Code;
import ferro.FerroException.Where;
import ferro.GroupEvent;
import ferro.collectives.control.ControlMessage.Agree;
import ferro.collectives.control.ControlMessage.Cancel;
import ferro.collectives.control.Proposals.Given;
import ferro.collectives.control.Proposals.Proposal;
import ferro.spi.Deadlines;
import ferro.spi.GroupSpec;
import ferro.spi.RankContext;
import java.time.Duration;
import java.util.Arrays;
import java.util.BitSet;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.stream.LongStream;

/**
 * How the members of a new group agree on it: each tells the others the ranks and the number of its attempt, and waits to
 * hear the same ranks from all.
 *
 * <p>The identity of the group is made from parent, ranks and all members' attempts, so that no store is needed and no
 * attempt is taken for an earlier one. Between two ranks the k-th attempt of one that includes the other meets the k-th of
 * the other ("turn"): a member that makes another list there disagrees, which fails at once. Whoever fails takes back what
 * it told, which ends the attempts that met it, also those still to come; the parent stays as it was, and the next attempts
 * may succeed.
 *
 * <p>A step machine: an attempt goes on by what is heard and by {@link Attempt#look}; nothing but {@link #reach} waits.
 */
public final class Agreement {
    /** A waiter looks at least so often: this bounds how long a clock that jumps could hide a deadline. */
    private static final long LOOK_NANOS = 100_000_000L;
    /** Between the first look after a deadline and the judgement. */
    private static final long JUDGE_NANOS = 5_000_000L;

    private final GroupControl control;
    private final GroupSpec group;
    private final RankContext context;
    private final Proposals proposals = new Proposals();
    private long attempts;
    private volatile Attempt current;

    /** What this rank makes now. */
    public final class Attempt {
        private final String list;
        private final long hash;
        private final int[] ranks;
        private final long parent;
        private final long number;
        private final long begunNanos;
        private final long timeoutNanos;
        private final BitSet open = new BitSet();
        private final Map<Integer, Long> heard = new HashMap<>();
        private final Map<Integer, Long> turns = new HashMap<>();
        private final Inquiry inquiry = control.inquiry();
        private final CompletableFuture<Long> end = new CompletableFuture<>();
        private final Inquiry warning = control.inquiry();
        private Given ended;
        private FerroException given;
        private boolean announced;
        private boolean warned;

        private Attempt(long parent, int[] ranks, Duration timeout) {
            this.list = Arrays.toString(ranks);
            this.hash = Hashing.of(list);
            this.ranks = ranks.clone();
            this.parent = parent;
            this.number = ++attempts;
            this.begunNanos = context.nanoTime();
            this.timeoutNanos = Deadlines.nanos(timeout);
            this.warned = !Inquiry.isWarnedOf(timeoutNanos);
            for (int member : ranks) {
                if (member != group.rank()) {
                    open.set(member);
                    turns.put(member, proposals.nextTurn(member));
                }
            }
        }

        /**
         * Returns the end.
         *
         * @return identity of the new group, 64 bits, equal on all members; or a FerroException: MISMATCH if a member makes
         *     another group, TIMED_OUT naming the members that never called, what ended it on another member, or whatever
         *     the parent fails with
         */
        public CompletionStage<Long> end() {
            return end;
        }

        /**
         * Returns whether it has ended, well or badly.
         *
         * @return never goes back to false
         */
        public boolean hasEnded() {
            return end.isDone();
        }

        /**
         * Looks at the deadline.
         *
         * @return when to look again, on the context's clock
         */
        public long look() {
            long now = context.nanoTime();
            long deadline = begunNanos + timeoutNanos;
            long lead = Inquiry.leadNanos(timeoutNanos);
            BitSet missing = missing();
            if (!end.isDone() && inquiry.mayJudge(null, missing, deadline, lead, now)) {
                Diagnosis.Verdict verdict = inquiry.missing(missing);
                finish(failure(
                        Code.TIMED_OUT,
                        Names.list(verdict.culprits()),
                        "gave up on " + Names.ranks(verdict.culprits()) + " after "
                                + TimeUnit.NANOSECONDS.toMillis(timeoutNanos) + " ms: " + Names.ranks(missing)
                                + " never called newGroup(" + list + "): " + verdict.text()));
            }
            warnIfLate(missing, now);
            long next = nextLook(deadline, lead, now);
            inquiry.nextLookAt(next);
            warning.nextLookAt(next);
            return next;
        }

        private void warnIfLate(BitSet missing, long now) {
            long part = timeoutNanos / 4;
            if (warned
                    || end.isDone()
                    || !warning.mayJudge(null, missing, begunNanos + part, Inquiry.leadNanos(part), now)) {
                return;
            }
            warned = true;
            Diagnosis.Verdict verdict = warning.missing(missing);
            control.event(
                    GroupEvent.Kind.LATE,
                    verdict.culprits().stream().boxed().toList(),
                    "rank " + group.rank() + " of \"" + group.name() + "\" waits for " + Names.ranks(missing)
                            + " after "
                            + TimeUnit.NANOSECONDS.toMillis(now - begunNanos) + " ms in newGroup(" + list + "): "
                            + verdict.text());
        }

        private long nextLook(long deadline, long lead, long now) {
            long warnAt = begunNanos + timeoutNanos / 4;
            if (now - deadline >= 0 || !warned && now - warnAt >= 0) {
                return now + JUDGE_NANOS;
            }
            long warnLead = Inquiry.leadNanos(timeoutNanos / 4);
            return LongStream.of(
                            warned ? now : warnAt - Inquiry.firstNanos(warnLead),
                            warned ? now : warnAt - warnLead,
                            warned ? now : warnAt,
                            deadline - Inquiry.firstNanos(lead),
                            deadline - lead,
                            deadline)
                    .filter(at -> now - at < 0)
                    .findFirst()
                    .orElse(deadline);
        }

        private BitSet missing() {
            synchronized (Agreement.this) {
                return (BitSet) open.clone();
            }
        }

        private void interrupted() {
            finish(failure(Code.INTERRUPTED, "", "the thread that waited in newGroup(" + list + ") was interrupted"));
        }

        /** Goes on by what is known; whatever is heard calls it. */
        private void step() {
            if (end.isDone()) {
                return;
            }
            try {
                if (settle(this)) {
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
            forget();
            end.complete(identity);
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
                turns.forEach((member, turn) -> control.tell(member, new Agree(number, turn, hash, list)));
            } finally {
                takeBack(null, true);
            }
        }

        /** What this rank could not begin it has given up: else no other attempt could ever be made. */
        private void broken(Throwable broken) {
            try {
                finish(failure(Code.ABORTED, Integer.toString(group.rank()), "failed inside: " + broken));
            } catch (RuntimeException | Error again) {
                broken.addSuppressed(again);
            }
        }

        /** Takes back what was told, but not before it was told to all: an answer may come meanwhile. */
        private void takeBack(FerroException failure, boolean allTold) {
            synchronized (Agreement.this) {
                announced |= allTold;
                given = failure == null ? given : failure;
                if (!announced || given == null) {
                    return;
                }
            }
            turns.forEach((member, turn) -> control.tell(
                    member, new Cancel(turn, given.code(), given.where().culprits(), given.getMessage())));
        }

        private boolean forget() {
            synchronized (Agreement.this) {
                boolean mine = current == this;
                current = mine ? null : current;
                return mine;
            }
        }

        private FerroException failure(Given given) {
            return failure(given.code(), given.culprits(), given.text());
        }

        private FerroException failure(Code code, String culprits, String text) {
            long elapsed = context.nanoTime() - begunNanos;
            long paused = control.pausedSince(begunNanos);
            Where where = new Where(group.name(), group.rank(), culprits, "newGroup", -1, -1, 0, elapsed, paused);
            return new FerroException(
                    code, where, "newGroup on group \"" + group.name() + "\" rank " + group.rank() + ": " + text);
        }
    }

    Agreement(GroupControl control, GroupSpec group, RankContext context) {
        this.control = control;
        this.group = group;
        this.context = context;
    }

    /**
     * Tells the other members what this rank makes.
     *
     * @param parent  identity of this group
     * @param ranks   ranks of this group, in the order of the new one, this one among them
     * @param timeout until all have called
     * @return attempt, to be looked at until it has ended
     * @throws IllegalStateException if one is under way
     */
    public Attempt begin(long parent, int[] ranks, Duration timeout) {
        Attempt mine;
        synchronized (this) {
            Attempt other = current;
            if (other != null) {
                throw new IllegalStateException("newGroup(" + Arrays.toString(ranks) + ") on group \"" + group.name()
                        + "\" rank " + group.rank() + " while another thread waits in newGroup(" + other.list
                        + "): one at a time, in the same order on all members");
            }
            mine = new Attempt(parent, ranks, timeout);
            current = mine;
        }
        try {
            mine.announce();
            mine.step();
        } catch (RuntimeException | Error broken) {
            mine.broken(broken);
            throw broken;
        }
        return mine;
    }

    /**
     * Tells the other members and waits until all have told the same.
     *
     * @param parent  identity of this group
     * @param ranks   ranks of this group, in the order of the new one, this one among them
     * @param timeout until all have called
     * @return identity of the new group
     * @throws FerroException as {@link Attempt#end}, and INTERRUPTED
     */
    public long reach(long parent, int[] ranks, Duration timeout) {
        Attempt mine = begin(parent, ranks, timeout);
        // a latch of its own: the lock of this object is for whoever hears
        while (!mine.end.isDone()) {
            long wait = Math.min(mine.look() - context.nanoTime(), LOOK_NANOS);
            try {
                mine.end.get(Math.max(1, wait), TimeUnit.NANOSECONDS);
            } catch (InterruptedException interrupted) {
                Thread.currentThread().interrupt();
                mine.interrupted();
            } catch (TimeoutException | ExecutionException looked) {
                mine.step();
            }
        }
        return result(mine);
    }

    private static long result(Attempt mine) {
        try {
            return mine.end.join();
        } catch (CompletionException failed) {
            // made by whoever heard of it: the trace of who waits helps more
            throw (FerroException) failed.getCause().fillInStackTrace();
        }
    }

    /** Hears that a rank makes a group. */
    void heard(int peer, Agree said) {
        synchronized (this) {
            proposals.add(peer, said.turn(), new Proposal(said.attempt(), said.hash(), said.list(), null));
        }
        wake();
    }

    /** Hears that a rank has given up what it made at a turn, and whom it blames; nobody means itself. */
    void cancelled(int peer, Cancel said) {
        synchronized (this) {
            Attempt mine = current;
            Given given = new Given(
                    said.code() == Code.INTERRUPTED ? Code.ABORTED : said.code(),
                    said.culprits().isEmpty() ? Integer.toString(peer) : said.culprits(),
                    "rank " + peer + " gave it up: " + said.text());
            if (!proposals.giveUp(peer, said.turn(), given)
                    && mine != null
                    && Long.valueOf(said.turn()).equals(mine.turns.get(peer))) {
                mine.ended = given;
            }
        }
        wake();
    }

    /** Goes on after something has changed: the parent has failed, a rank has left. */
    void wake() {
        Attempt mine = current;
        if (mine != null) {
            mine.step();
        }
    }

    /** Returns where this rank stands in making a group. */
    Standing standing() {
        Attempt mine = current;
        return mine == null
                ? Standing.IDLE
                : new Standing(0, "newGroup(" + mine.list + ")", "", Names.list(mine.missing()), mine.begunNanos);
    }

    /** Takes the members off the open list that have told the same; a member that told otherwise disagrees. */
    private synchronized boolean settle(Attempt mine) {
        for (int member = mine.open.nextSetBit(0); member >= 0; member = mine.open.nextSetBit(member + 1)) {
            Proposal proposal = proposals.take(member, mine.turns.get(member));
            if (proposal == null) {
                continue;
            }
            mine.heard.put(member, proposal.attempt());
            if (proposal.hash() != mine.hash) {
                throw mine.failure(
                        Code.MISMATCH,
                        Integer.toString(member),
                        "members disagree: rank " + group.rank() + " makes " + mine.list + ", rank " + member
                                + " makes " + proposal.ranks());
            }
            if (proposal.given() != null) {
                throw mine.failure(proposal.given());
            }
            mine.open.clear(member);
        }
        if (mine.open.isEmpty()) {
            return true;
        }
        refuseToWait(mine);
        return false;
    }

    private void refuseToWait(Attempt mine) {
        if (mine.ended != null) {
            throw mine.failure(mine.ended);
        }
        Failure failed = control.failure();
        if (failed != null) {
            throw mine.failure(failed.code(), failed.culprits(), failed.text());
        }
        int gone = mine.open.stream().filter(control.leaves()::has).findFirst().orElse(-1);
        if (gone >= 0) {
            throw mine.failure(
                    Code.PEER_LOST,
                    Integer.toString(gone),
                    control.leaves().text(gone) + " and makes no group " + mine.list + " with the others");
        }
    }
}
