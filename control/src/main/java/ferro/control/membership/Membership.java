package ferro.control.membership;

import ferro.FerroException;
import ferro.FerroException.Code;
import ferro.GroupEvent;
import ferro.control.failure.RankProcesses;
import ferro.control.membership.MembershipMessage.Beat;
import ferro.control.membership.MembershipMessage.Found;
import ferro.control.membership.MembershipMessage.Leave;
import ferro.control.membership.MembershipMessage.Lost;
import ferro.control.membership.MembershipMessage.Present;
import ferro.control.membership.MembershipMessage.Watch;
import ferro.spi.ControlLane;
import ferro.spi.GroupSpec;
import ferro.spi.ProcessTable;
import ferro.spi.RankContext;
import java.nio.ByteBuffer;
import java.util.BitSet;
import java.util.concurrent.Future;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;

/**
 * Watches the processes behind a joined group: detects ranks that are silent, that stand still or that have exited.
 * There is one per joined group and rank, shared with all its subgroups; it lives until the last of them has left.
 *
 * <p>It has its own control messages, as a group of all ranks that moves no data. So it neither ends with the joined
 * group nor waits for any rank. Messages only update their {@code Peer}. Ticks of a timer of the context (virtual in a
 * simulation) read these updates and judge: silence in {@code SilenceWatch}, processes of this host in
 * {@code ExitWatch}, pauses of this process in {@code PauseWatch}. In worlds of more than 33 ranks each rank watches
 * the next 32 that are there, and some of the ranks that watch a lost rank send the loss to the others
 * ({@code WatchCircle}).
 */
public final class Membership implements RankProcesses {
    /** Distinguishes its messages from those of all groups; any number that no group mixes in. */
    private static final long PURPOSE = 0x686561727462656aL;

    private static final long TICK_MOST_NANOS = 100_000_000L;
    /** Shorter pauses are kept for {@link #pausedSince} only. */
    private static final long PAUSE_TOLD_NANOS = 250_000_000L;

    private final ControlLane joined;
    private final GroupSpec group;
    private final boolean answers;
    private final RankContext context;
    private final long identity;
    private final HeartbeatTimes times;
    private final Members members;
    private final PauseWatch pauses = new PauseWatch();
    private final WatchCircle circle;
    private final Peer[] peers;
    private final SilenceWatch silence;
    private final ExitWatch exits;
    private boolean over;
    private volatile ControlLane control;
    private Future<?> timer;
    private volatile long periodNanos;
    private volatile boolean pauseHeard;
    private long nextBeatNanos;
    private long beats;
    private long pausesTold;
    private long lastPauseNanos;

    /** One rank's side of a group that hears of its ranks, on the context's background thread; no method may block. */
    public interface Member {
        /**
         * Handles the loss of a rank of the group: it is dead (PEER_LOST) or sent an invalid message (PROTOCOL).
         *
         * @param rank  in the numbers of that group
         * @param cause what the group fails with
         */
        void gone(int rank, FerroException cause);

        /**
         * Handles ranks that were silent for too long: one, or all remaining ranks of a machine; called for each of them.
         *
         * @param rank  one of them, in the numbers of that group
         * @param ranks all of them that are in that group
         * @param cause PARTITION
         */
        default void silent(int rank, BitSet ranks, FerroException cause) {
            gone(rank, cause);
        }

        /**
         * Receives an event about a rank, this one included.
         *
         * @param kind SUSPECTED, RECOVERED or PAUSED
         * @param rank in the numbers of that group
         * @param text for people
         */
        void event(GroupEvent.Kind kind, int rank, String text);

        /**
         * Logs an event about another rank. Of all groups with that rank, only the oldest one is asked to.
         *
         * @param kind SUSPECTED or RECOVERED
         * @param rank in the numbers of that group
         * @param text for people
         */
        default void log(GroupEvent.Kind kind, int rank, String text) {
            // only an engine writes a log
        }

        /**
         * Handles a rank that was lost because of its silence and is heard of again.
         *
         * @param rank in the numbers of that group
         */
        default void found(int rank) {
            // needed only by members that keep the lost ranks
        }

        /**
         * Called when a heartbeat is sent: the member sends others this rank's last call, so a mismatch is found soon.
         */
        void heartbeat();
    }

    /**
     * Returns a membership that will watch the ranks of a joined group; the watch begins when the first group enters.
     *
     * @param joined   its medium; the membership makes a subgroup of all ranks of it
     * @param group    the joined group and this rank
     * @param context  clock, timers, processes, settings of the heartbeats
     * @param identity of the joined group
     * @return membership, to be entered
     * @throws IllegalArgumentException if the settings of the heartbeats are inconsistent
     */
    public static Membership watching(ControlLane joined, GroupSpec group, RankContext context, long identity) {
        HeartbeatTimes times = HeartbeatTimes.of(context);
        boolean nothingToSee = !times.areOn() && context.processes().self().isEmpty();
        return group.worldSize() == 1 || nothingToSee
                ? unwatched(group)
                : new Membership(joined, group, context, identity, times);
    }

    /** Returns a membership, to be entered, that watches no rank: for media without a control lane. */
    public static Membership unwatched(GroupSpec group) {
        return new Membership(group, true);
    }

    /** Returns a membership as {@link #unwatched}, for a medium without control messages: no rank answers a question. */
    public static Membership unreachable(GroupSpec group) {
        return new Membership(group, false);
    }

    private Membership(GroupSpec group, boolean answers) {
        joined = null;
        this.group = group;
        this.answers = answers;
        context = null;
        identity = 0;
        times = null;
        members = null;
        circle = null;
        peers = new Peer[0];
        silence = null;
        exits = null;
        over = true;
    }

    private Membership(ControlLane joined, GroupSpec group, RankContext context, long identity, HeartbeatTimes times) {
        this.joined = joined;
        this.answers = true;
        this.group = group;
        this.context = context;
        this.identity = identity;
        this.times = times;
        members = new Members(group, this::reportLoss, this::reportFound);
        peers = new Peer[group.worldSize()];
        for (int rank = 0; rank < peers.length; rank++) {
            peers[rank] = new Peer(rank);
        }
        circle = new WatchCircle(group.rank(), peers, context.processes().self());
        Peer[] next = circle.first();
        silence = new SilenceWatch(times, pauses, members, next, new JobMachines(peers, group.rank(), this::machine));
        exits = new ExitWatch(members, context, next);
    }

    /**
     * Adds a group; the first one begins the watch. Does nothing if no rank is watched, or when the last group has
     * left.
     *
     * @param member is told about its ranks
     * @param ranks  ranks of the joined group, in the order of that group
     */
    public synchronized void enter(Member member, int[] ranks) {
        if (over) {
            return;
        }
        members.add(member, ranks);
        if (control == null) {
            begin();
        } else if (members.anyLost()) {
            inBackground(() -> members.tellLosses(member));
        }
    }

    /** Removes a group; the last one ends the watch. A member that has not entered is ignored. */
    public synchronized void leave(Member member) {
        if (over || !members.remove(member)) {
            return;
        }
        over = true;
        if (timer != null) {
            timer.cancel(false);
        }
        exits.close();
        sendToWatchers(new Leave(), control);
        control.close();
    }

    /**
     * Returns how many nanoseconds this process itself stood still since a time on the context's clock, for example in a
     * garbage collection or a stop; 0 if no rank is watched. Includes a pause that has only just ended.
     */
    public long pausedSince(long sinceNanos) {
        return context == null ? 0 : pauses.since(sinceNanos, context.nanoTime());
    }

    @Override
    public String group() {
        return group.name();
    }

    @Override
    public boolean answer() {
        return answers;
    }

    @Override
    public BitSet sharing(int rank) {
        BitSet ranks = new BitSet();
        ranks.set(rank);
        String process = peers.length == 0 ? "" : peers[rank].identity();
        for (Peer peer : process.isEmpty() ? new Peer[0] : peers) {
            if (peer.identity().equals(process)) {
                ranks.set(peer.rank());
            }
        }
        return ranks;
    }

    @Override
    public String placed(int rank) {
        return peers.length == 0 ? "" : peers[rank].placed();
    }

    @Override
    public String machine(int rank) {
        return joined == null ? "" : joined.machine(rank);
    }

    private void begin() {
        long now = context.nanoTime();
        int[] all = new int[group.worldSize()];
        for (int rank = 0; rank < all.length; rank++) {
            all[rank] = rank;
        }
        ControlLane lane = joined.subgroup(all, Hashing.mix(identity, PURPOSE));
        control = lane;
        exits.begin(lane);
        lane.events(new Inbox());
        sendToWatchers(present(), lane);
        silence.begin(now);
        nextBeatNanos = now + times.intervalNanos();
        tickEvery(times.areOn() ? Math.min(TICK_MOST_NANOS, times.intervalNanos()) : 0);
    }

    private Present present() {
        ProcessTable own = context.processes();
        return new Present(times.intervalNanos(), own.self(), own.place());
    }

    private void sendToWatchers(MembershipMessage message, ControlLane lane) {
        ByteBuffer bytes = message.encoded();
        BitSet watchers = circle.watchers();
        for (int rank = watchers.nextSetBit(0); rank >= 0; rank = watchers.nextSetBit(rank + 1)) {
            lane.control(rank, bytes.duplicate());
        }
    }

    /** Changes the time between ticks; 0 means no ticks. */
    private synchronized void tickEvery(long nanos) {
        if (over || nanos == periodNanos) {
            return;
        }
        Future<?> before = timer;
        if (nanos == 0) {
            timer = null;
            pauses.stop();
        } else {
            // the new timer first: if this throws, the old one must still run
            timer = context.background().scheduleWithFixedDelay(this::tick, nanos, nanos, TimeUnit.NANOSECONDS);
            pauses.expect(context.nanoTime() + nanos);
        }
        periodNanos = nanos;
        if (before != null) {
            before.cancel(false);
        }
    }

    /** Runs a tick and catches what it throws: a throw stops the timer, and a rank without heartbeats is lost. */
    private void tick() {
        try {
            watch();
        } catch (RuntimeException | Error broken) {
            members.trouble(broken);
        }
    }

    private void watch() {
        if (isOver()) {
            return;
        }
        long now = context.nanoTime();
        long pause = pauses.tick(now);
        if (pause > 0) {
            resumed(pause, now);
        }
        if (times.areOn() && now - nextBeatNanos >= 0) {
            beat(now);
        }
        if (pauseHeard) {
            pauseHeard = false;
            tellPauses();
        }
        silence.judge(now);
        pauses.expect(now + periodNanos);
        lookAtProcesses();
    }

    private synchronized boolean isOver() {
        return over;
    }

    private void lookAtProcesses() {
        if (isOver()) {
            return;
        }
        for (Peer next = circle.replacement(); next != null; next = circle.replacement()) {
            silence.add(next, context.nanoTime());
            exits.add(next);
            control.control(next.rank(), new Watch().encoded());
        }
        long slow = times.areOn() ? Math.min(TICK_MOST_NANOS, times.intervalNanos()) : 0;
        boolean any = exits.look();
        tickEvery(any ? Math.min(ExitWatch.LOOK_NANOS, slow == 0 ? ExitWatch.LOOK_NANOS : slow) : slow);
    }

    private void resumed(long pause, long now) {
        silence.paused(pause, now);
        if (pause >= PAUSE_TOLD_NANOS) {
            pausesTold++;
            lastPauseNanos = pause;
            beat(now);
            members.event(GroupEvent.Kind.PAUSED, group.rank(), pausedText(pause, " (this process)"));
        }
    }

    /** Sends a heartbeat. The next one is due an interval later, also if this one reports a pause. */
    private void beat(long now) {
        nextBeatNanos = now + times.intervalNanos();
        sendToWatchers(new Beat(++beats, pausesTold, lastPauseNanos), control);
        if (times.areOn()) {
            members.heartbeat();
        }
    }

    private void tellPauses() {
        for (Peer peer : peers) {
            long pause = peer.takePause();
            if (pause > 0) {
                members.event(GroupEvent.Kind.PAUSED, peer.rank(), pausedText(pause, peer.placed()));
            }
        }
    }

    private static String pausedText(long pause, String who) {
        return Members.RANK + " was paused " + HeartbeatTimes.words(pause) + who;
    }

    private void reportLoss(Lost loss) {
        circle.report(loss, control, silence::isSuspected);
    }

    private void reportFound(int rank) {
        circle.reportFound(rank, control);
    }

    private void heardOf(Lost loss) {
        Peer lost = peers[loss.rank()];
        if (loss.rank() == group.rank() || lost.isOver()) {
            return;
        }
        if (loss.code() != Code.PARTITION) {
            end(lost);
        }
        members.heardOf(loss);
    }

    private void tellNonsense(Peer peer, String what) {
        if (!peer.isOver()) {
            peer.end();
            members.lost(
                    peer.rank(), Code.PROTOCOL, Members.RANK + peer.placed() + " sent an invalid message: " + what);
        }
    }

    /** Ends the watch over a rank; another rank may replace it. */
    private void end(Peer peer) {
        peer.end();
        if (circle.hasReplacements()) {
            inBackground(this::lookAtProcesses);
        }
    }

    private void inBackground(Runnable task) {
        try {
            context.background().execute(task);
        } catch (RejectedExecutionException ended) {
            // the context is closed, and nothing is watched any more
        }
    }

    /** Receives the messages of the memberships of the other ranks; on a thread of the medium. */
    private final class Inbox implements ControlLane.PeerEvents {
        @Override
        public void control(int rank, ByteBuffer message) {
            Peer peer = peers[rank];
            long now = context.nanoTime();
            try {
                MembershipMessage read = MembershipMessage.decode(message, peers.length);
                if (read instanceof Beat beaten) {
                    if (peer.heard(beaten, now)) {
                        pauseHeard = true;
                    }
                } else if (read instanceof Leave) {
                    end(peer);
                } else if (read instanceof Watch) {
                    circle.watchedBy(rank);
                    control.control(rank, present().encoded());
                } else if (read instanceof Lost loss) {
                    inBackground(() -> heardOf(loss));
                } else if (read instanceof Found found) {
                    inBackground(() -> members.isFound(found.rank()));
                } else if (read instanceof Present present
                        && peer.heard(present, now)
                        && !present.identity().isEmpty()) {
                    inBackground(Membership.this::lookAtProcesses);
                }
            } catch (IllegalArgumentException nonsense) {
                inBackground(() -> tellNonsense(peer, nonsense.getMessage()));
            } catch (RuntimeException | Error broken) {
                // an exception passed on would end the connection to a rank that has done nothing wrong
                members.trouble(broken);
            }
        }

        /** Ends the watch over the silence of the rank: its process is still watched, because it may live. */
        @Override
        public void cutOff(int rank, FerroException cause) {
            peers[rank].cutOff();
        }

        /**
         * Ends the watch over the rank. The groups hear of the loss from their own medium. If the rank lives, and only its
         * connection has been given up, its process is still watched: nothing else shows its death.
         */
        @Override
        public void lost(int rank, FerroException cause) {
            if (cause.code() == Code.PEER_LOST) {
                end(peers[rank]);
            } else {
                peers[rank].cutOff();
            }
        }
    }
}
