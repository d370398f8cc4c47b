package ferro.control.membership;

import ferro.FerroException;
import ferro.FerroException.Code;
import ferro.GroupEvent;
import ferro.control.failure.RankProcesses;
import ferro.control.membership.MembershipMessage.Heartbeat;
import ferro.control.membership.MembershipMessage.Leave;
import ferro.control.membership.MembershipMessage.LossReport;
import ferro.control.membership.MembershipMessage.ProcessHello;
import ferro.control.membership.MembershipMessage.RecoveryReport;
import ferro.control.membership.MembershipMessage.WatchRequest;
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
 * The watch over the processes behind a joined group. The watch detects ranks that are silent, paused or ended. Each
 * rank has one membership per joined group, which all its subgroups share. The membership lives until the joined group
 * and all its subgroups have left.
 *
 * <p>A membership has its own control messages, like a group of all ranks that moves no data. Therefore a membership
 * does not end with the joined group, and waits for no rank. A message only updates the {@code PeerState} of its
 * sender. The ticks of a timer read and judge the updated peers. The timer belongs to the context, and is virtual in a
 * simulation. {@code SilenceWatch} judges silence, {@code ExitWatch} watches the processes of this host, and {@code
 * PauseWatch} measures the pauses of this process. In groups of more than 33 ranks, each rank watches the next 32 ranks
 * that are not gone. Some of the ranks that watch a lost rank send the loss to the other ranks ({@code
 * WatchAssignment}).
 */
public final class Membership implements RankProcesses {
    /** A part of the identity of each membership, so that messages of memberships differ from messages of groups. */
    private static final long PURPOSE = 0x686561727462656aL;

    private static final long TICK_MOST_NANOS = 100_000_000L;
    /** The shortest pause that this rank reports to other ranks. Shorter pauses count only in {@link #pausedSince}. */
    private static final long PAUSE_TOLD_NANOS = 250_000_000L;

    private final ControlLane joined;
    private final GroupSpec group;
    private final boolean answers;
    private final RankContext context;
    private final long identity;
    private final HeartbeatLimits times;
    private final NotifiedGroups members;
    private final PauseWatch pauses = new PauseWatch();
    private final WatchAssignment circle;
    private final PeerState[] peers;
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

    /**
     * The part of a group on one rank that is notified about the ranks of the group. Notifications come on the
     * background executor of the context. No method may block.
     */
    public interface RankListener {
        /**
         * Handles the loss of a rank of the group. The rank is dead (PEER_LOST) or sent an invalid message (PROTOCOL).
         *
         * @param rank  number of the rank in this group
         * @param cause cause with which the group fails
         */
        void gone(int rank, FerroException cause);

        /**
         * Handles ranks that were silent for too long: one rank, or all remaining ranks of a machine. This method is
         * called once for each silent rank.
         *
         * @param rank  number of one of the silent ranks in this group
         * @param ranks numbers of all silent ranks that are in this group
         * @param cause exception with code PARTITION
         */
        default void silent(int rank, BitSet ranks, FerroException cause) {
            gone(rank, cause);
        }

        /**
         * Handles an event about a rank, which may be this rank.
         *
         * @param kind SUSPECTED, RECOVERED or PAUSED
         * @param rank number of the rank in this group
         * @param text text for people
         */
        void event(GroupEvent.Kind kind, int rank, String text);

        /**
         * Logs an event about another rank. If several groups contain that rank, only the oldest of these groups logs
         * the event.
         *
         * @param kind SUSPECTED or RECOVERED
         * @param rank number of the rank in this group
         * @param text text for people
         */
        default void log(GroupEvent.Kind kind, int rank, String text) {
            // only an engine writes a log
        }

        /**
         * Handles a rank that was lost because of its silence and sends messages again.
         *
         * @param rank number of the rank in this group
         */
        default void found(int rank) {
            // needed only by members that keep the lost ranks
        }

        /** Sends the last call of this rank to other ranks at each heartbeat, so that ranks soon find a mismatch. */
        void heartbeat();
    }

    /**
     * Creates a membership that watches the ranks of a joined group. The watch begins when the first group enters.
     *
     * @param joined   control lane of the joined group; the membership creates a subgroup of all its ranks
     * @param group    name, rank and size of the joined group
     * @param context  context with the clock, the timers, the processes and the settings of the heartbeats
     * @param identity identity of the joined group
     * @return membership that groups have to enter
     * @throws IllegalArgumentException if the settings of the heartbeats are inconsistent
     */
    public static Membership watching(ControlLane joined, GroupSpec group, RankContext context, long identity) {
        HeartbeatLimits times = HeartbeatLimits.of(context);
        boolean nothingToSee = !times.areOn() && context.processes().self().isEmpty();
        return group.worldSize() == 1 || nothingToSee
                ? unwatched(group)
                : new Membership(joined, group, context, identity, times);
    }

    /** Creates a membership that groups have to enter but that watches no rank, for media without a control lane. */
    public static Membership unwatched(GroupSpec group) {
        return new Membership(group, true);
    }

    /** Creates an {@link #unwatched} membership for a medium without control messages. No rank answers questions. */
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
        peers = new PeerState[0];
        silence = null;
        exits = null;
        over = true;
    }

    private Membership(ControlLane joined, GroupSpec group, RankContext context, long identity, HeartbeatLimits times) {
        this.joined = joined;
        this.answers = true;
        this.group = group;
        this.context = context;
        this.identity = identity;
        this.times = times;
        members = new NotifiedGroups(group, this::reportLoss, this::reportFound);
        peers = new PeerState[group.worldSize()];
        for (int rank = 0; rank < peers.length; rank++) {
            peers[rank] = new PeerState(rank);
        }
        circle = new WatchAssignment(group.rank(), peers, context.processes().self());
        PeerState[] next = circle.first();
        silence = new SilenceWatch(times, pauses, members, next, new JobMachines(peers, group.rank(), this::machine));
        exits = new ExitWatch(members, context, next);
    }

    /**
     * Adds a group. The first group begins the watch. Does nothing if no rank is watched, or the last group has left.
     *
     * @param member group that is notified about its ranks
     * @param ranks  ranks of the joined group, in the order of that group
     */
    public synchronized void enter(RankListener member, int[] ranks) {
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

    /** Removes a group. The last group ends the watch. A group that has not entered is ignored. */
    public synchronized void leave(RankListener member) {
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
     * Returns for how many nanoseconds this process was paused since a time on the context's clock, for example in a
     * garbage collection or after a stop signal. Returns 0 if no rank is watched. The result includes a pause that has
     * only just ended.
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
        for (PeerState peer : process.isEmpty() ? new PeerState[0] : peers) {
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
        lane.events(new PeerHandler());
        sendToWatchers(present(), lane);
        silence.begin(now);
        nextBeatNanos = now + times.intervalNanos();
        tickEvery(times.areOn() ? Math.min(TICK_MOST_NANOS, times.intervalNanos()) : 0);
    }

    private ProcessHello present() {
        ProcessTable own = context.processes();
        return new ProcessHello(times.intervalNanos(), own.self(), own.place());
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
            // starts the new timer first, because the old timer must still run if the start throws
            timer = context.background().scheduleWithFixedDelay(this::tick, nanos, nanos, TimeUnit.NANOSECONDS);
            pauses.expect(context.nanoTime() + nanos);
        }
        periodNanos = nanos;
        if (before != null) {
            before.cancel(false);
        }
    }

    /** Runs a tick and catches all exceptions, which would stop the timer. A rank without heartbeats counts as lost. */
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
        for (PeerState next = circle.replacement(); next != null; next = circle.replacement()) {
            silence.add(next, context.nanoTime());
            exits.add(next);
            control.control(next.rank(), new WatchRequest().encoded());
        }
        long slow = times.areOn() ? Math.min(TICK_MOST_NANOS, times.intervalNanos()) : 0;
        tickEvery(exits.look() ? Math.min(ExitWatch.LOOK_NANOS, slow == 0 ? ExitWatch.LOOK_NANOS : slow) : slow);
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

    /** Sends a heartbeat. The next heartbeat is due an interval later, even if the heartbeat reports a pause. */
    private void beat(long now) {
        nextBeatNanos = now + times.intervalNanos();
        sendToWatchers(new Heartbeat(++beats, pausesTold, lastPauseNanos), control);
        if (times.areOn()) {
            members.heartbeat();
        }
    }

    private void tellPauses() {
        for (PeerState peer : peers) {
            long pause = peer.takePause();
            if (pause > 0) {
                members.event(GroupEvent.Kind.PAUSED, peer.rank(), pausedText(pause, peer.placed()));
            }
        }
    }

    private static String pausedText(long pause, String who) {
        return NotifiedGroups.RANK + " was paused " + HeartbeatLimits.words(pause) + who;
    }

    private void reportLoss(LossReport loss) {
        circle.report(loss, control, silence::isSuspected);
    }

    private void reportFound(int rank) {
        circle.reportFound(rank, control);
    }

    private void heardOf(LossReport loss) {
        PeerState lost = peers[loss.rank()];
        if (loss.rank() == group.rank() || lost.isOver()) {
            return;
        }
        if (loss.code() != Code.PARTITION) {
            end(lost);
        }
        members.heardOf(loss);
    }

    private void tellNonsense(PeerState peer, String what) {
        if (!peer.isOver()) {
            peer.end();
            members.lost(
                    peer.rank(),
                    Code.PROTOCOL,
                    NotifiedGroups.RANK + peer.placed() + " sent an invalid message: " + what);
        }
    }

    /** Ends the watch over a rank. This rank may watch another rank in its place. */
    private void end(PeerState peer) {
        peer.end();
        if (circle.hasReplacements()) {
            inBackground(this::lookAtProcesses);
        }
    }

    private void inBackground(Runnable task) {
        try {
            context.background().execute(task);
        } catch (RejectedExecutionException ended) {
            // the context is closed, so no rank is watched any more
        }
    }

    /** The receiver of messages from the memberships of other ranks. A thread of the medium calls this receiver. */
    private final class PeerHandler implements ControlLane.PeerEvents {
        @Override
        public void control(int rank, ByteBuffer message) {
            PeerState peer = peers[rank];
            long now = context.nanoTime();
            try {
                MembershipMessage read = MembershipMessage.decode(message, peers.length);
                if (read instanceof Heartbeat beaten) {
                    if (peer.heard(beaten, now)) {
                        pauseHeard = true;
                    }
                } else if (read instanceof Leave) {
                    end(peer);
                } else if (read instanceof WatchRequest) {
                    circle.watchedBy(rank);
                    control.control(rank, present().encoded());
                } else if (read instanceof LossReport loss) {
                    inBackground(() -> heardOf(loss));
                } else if (read instanceof RecoveryReport found) {
                    inBackground(() -> members.isFound(found.rank()));
                } else if (read instanceof ProcessHello present
                        && peer.heard(present, now)
                        && !present.identity().isEmpty()) {
                    inBackground(Membership.this::lookAtProcesses);
                }
            } catch (IllegalArgumentException nonsense) {
                inBackground(() -> tellNonsense(peer, nonsense.getMessage()));
            } catch (RuntimeException | Error broken) {
                // a rethrown exception would end the connection to the sender, which has not caused the error
                members.trouble(broken);
            }
        }

        /** Ends the watch over a rank's silence. The rank's process is still watched, because the rank may be alive. */
        @Override
        public void cutOff(int rank, FerroException cause) {
            peers[rank].cutOff();
        }

        /**
         * Ends the watch over a rank. The medium of each group notifies the group of the loss. If the rank is alive and
         * only its connection was closed, the watch over its process continues. Without this watch, nothing would show
         * a later death of the rank.
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
