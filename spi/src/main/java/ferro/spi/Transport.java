package ferro.spi;

import ferro.FerroException;
import ferro.Medium;
import java.nio.ByteBuffer;
import java.util.Optional;

/**
 * A medium: what TCP, shared memory and the simulator supply. Any thread may drive it, one at a time (the engine holds
 * the lock): the caller of a blocking call, the progress thread, or the simulator; none of these methods but
 * {@link #park} waits. {@link #wakeup}, {@link #control} and {@link #close} are called by any thread.
 *
 * <p>Ranks make a group, and leave it, at different times: data and control messages for a rank that has not made it yet wait until
 * it has. {@code ferro.examples.files} in module examples is a short one to start from.
 */
public interface Transport extends AutoCloseable {
    /**
     * Returns this rank.
     *
     * @return rank
     */
    int rank();

    /**
     * Returns the number of ranks.
     *
     * @return size
     */
    int worldSize();

    /**
     * Returns a lane, connected on first use; lanes of different peers, groups and kinds never wait for each other. Called by
     * whoever drives, after {@link #events}; after {@link #abandon} or {@link #leave} the lane ignores all posts.
     *
     * @param peer rank
     * @param lane collectives or point-to-point
     * @return link
     */
    Link link(int peer, Lane lane);

    /**
     * Returns the lanes of another group over the same processes; nothing is connected yet.
     *
     * @param ranks ranks of this transport, in the order of the new one
     * @param group 64 bits of the new group's identity
     * @return transport; closing either leaves the other alone
     */
    Transport subgroup(int[] ranks, long group);

    /**
     * Moves what can be moved now.
     *
     * @return whether anything moved
     */
    boolean poll();

    /**
     * Waits until something may move, {@link #wakeup}, the time, or an interrupt (flag kept); may return earlier, and
     * within 10 ms of an interrupt.
     *
     * @param deadlineNanos on the context's clock
     */
    void park(long deadlineNanos);

    /** Ends a {@link #park} of any thread. */
    void wakeup();

    /**
     * Ends a {@link #park} of whoever drives this group on another rank, without a thread in between where the medium can: a
     * thread that has to be given a processor first is what ranks wait for where they are more than processors. Called by
     * whoever drives; may come to nothing if that rank does not park now.
     *
     * @param peer rank
     * @return false if there is no such way, or not yet: then a control message may do it
     */
    default boolean ring(int peer) {
        return false;
    }

    /**
     * Sends a small message that never waits behind data; for abort, heartbeat, agreement.
     *
     * @param peer    rank
     * @param message at most 4 KiB, copied
     */
    void control(int peer, ByteBuffer message);

    /**
     * Names who hears of losses and control messages; on a background thread, also when nobody drives the links. Called once,
     * before a link is asked for. What has come before that is told then, in order.
     *
     * @param events receiver
     */
    void events(Events events);

    /**
     * Drops all links of this group at once; posted memory is free when this returns; later posts are ignored; control
     * messages go on. Called by whoever drives, after a failure; idempotent.
     */
    void abandon();

    /**
     * Returns whether what was sent to a peer may be lost if this process ends before the peer has taken it; asked before
     * {@link #leave}, by whoever drives.
     *
     * @param peer rank
     * @param lane which link
     * @return false where it is kept elsewhere, or nothing was sent
     */
    default boolean mayLose(int peer, Lane lane) {
        return false;
    }

    /**
     * Returns whether other ranks need this process beside its groups, as it serves the store; its last group then waits until
     * they have left as well.
     *
     * @return false unless it serves something
     */
    default boolean servesOthers() {
        return false;
    }

    /**
     * Ends all links of this group in good order: what was sent arrives, what still comes is discarded, and no connection is
     * reset; later posts are ignored; control messages go on until {@link #close}. Called by whoever drives, when nothing is
     * posted but receives that nobody waits for; idempotent, never waits.
     *
     * @return whether control messages reach the other ranks, so that they can answer a goodbye; false if it can be closed at
     *     once
     */
    default boolean leave() {
        abandon();
        return false;
    }

    /**
     * Returns what people call the machine that a rank is on, for messages; equal for ranks of one machine, and the same on
     * all ranks.
     *
     * @param rank any, this one included
     * @return for example {@code node 1 (host b, 10.99.0.2)}; empty if it is unknown
     */
    default String machine(int rank) {
        return "";
    }

    /**
     * Returns how ranks of this group that are on one host can share memory; the engine then runs what it can over that, and
     * links for the rest.
     *
     * @return empty if they cannot, or should not
     */
    default Optional<SharedMemoryProvider> sharedMemory() {
        return Optional.empty();
    }

    /**
     * Returns why there is no {@link #sharedMemory} for ranks of one host, for people.
     *
     * @return equal on all ranks; used where {@link #sharedMemory} is empty
     */
    default String noSharedMemoryBecause() {
        return "this back end has none";
    }

    /**
     * Says what the links of this group are, shared memory left aside: a word for what they are made of, such as {@code TCP}, and
     * by which addresses ranks are reached.
     *
     * @return equal on all ranks; {@link Medium#UNKNOWN} unless the medium says
     */
    default Medium medium() {
        return Medium.UNKNOWN;
    }

    /** Drops all links at once as {@link #abandon} does and gives back what control messages need; idempotent. */
    @Override
    void close();

    /** Which lane. */
    enum Lane {
        /** In sequence. */
        COLLECTIVE,
        /** By tag. */
        POINT_TO_POINT
    }

    /** What a medium reports; nothing here waits. */
    interface Events {
        /**
         * The process of a peer is gone, or its control connection has ended. A medium that cannot see this leaves it to the
         * engine, which watches the processes of its host and misses the heartbeats of others.
         *
         * @param peer  rank
         * @param cause PEER_LOST, PARTITION or PROTOCOL
         */
        void lost(int peer, FerroException cause);

        /**
         * A link ended while something was posted on it, or cannot be made; told once per link, by whoever drives, or in
         * background. What the peer sent before the end is delivered first.
         *
         * @param peer  rank
         * @param cause PEER_LOST, PARTITION or PROTOCOL; its place has the number of the collective whose data was waited for,
         *              0 if none was, -1 for a link of messages
         */
        void broken(int peer, FerroException cause);

        /**
         * A header came that is not the one a receive was posted with; nothing of it is delivered. Told by whoever
         * drives.
         *
         * @param peer     rank that sent it
         * @param expected what was posted
         * @param found    what came; its group and text are unknown to a medium
         */
        void mismatched(int peer, CallHeader expected, CallHeader found);

        /**
         * A control message came.
         *
         * @param peer    rank
         * @param message valid during the call
         */
        void control(int peer, ByteBuffer message);
    }
}
