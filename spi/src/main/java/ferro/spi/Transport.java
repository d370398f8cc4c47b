package ferro.spi;

import ferro.FerroException;
import ferro.Medium;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.Optional;

/**
 * A medium, implemented by TCP, shared memory and the simulator. Any thread may make progress on it, one at a time (the
 * engine holds the progress lock): the caller of a blocking call, the progress thread, or the simulator. None of these
 * methods but {@link #park} waits. Any thread may call {@link #wakeup}, {@link #control} and {@link #close}.
 *
 * <p>Ranks make a group, and leave it, at different times. Data and control messages for a rank that has not made the
 * group yet wait until it has. {@code ferro.examples.files} in module examples is a short implementation to start from.
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
     * Returns a lane, connected on first use; lanes of different peers, groups and kinds never wait for each other.
     * Called by the thread that makes progress, after {@link #events}. After {@link #abandon} or {@link #leave} the lane
     * ignores all posts.
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
     * @return transport; closing one of the two does not close the other
     */
    Transport subgroup(int[] ranks, long group);

    /**
     * Moves all data that can be moved now.
     *
     * @return whether anything moved
     */
    boolean poll();

    /**
     * Waits until data may move, until {@link #wakeup}, until the deadline, or until an interrupt (the flag is kept). May
     * return earlier; returns within 10 ms of an interrupt.
     *
     * @param deadlineNanos on the context's clock
     */
    void park(long deadlineNanos);

    /** Ends the {@link #park} of any thread. */
    void wakeup();

    /**
     * Ends the {@link #park} of the thread that makes progress on this group on another rank, without a thread in between
     * if the medium can do that. A thread in between needs a processor first, and ranks wait for it when there are more
     * ranks than processors. Called by the thread that makes progress. May have no effect if that rank does not park now.
     *
     * @param peer rank
     * @return false if the medium cannot signal, or not yet; a control message may be used instead
     */
    default boolean signal(int peer) {
        return false;
    }

    /**
     * Sends a small message that never waits behind data; for abort, heartbeat and agreement.
     *
     * @param peer    rank
     * @param message at most 4 KiB, copied
     */
    void control(int peer, ByteBuffer message);

    /**
     * Runs a task once the control messages of a peer that have arrived here before this call have been given to their
     * receivers, within some bound: TCP looks 50 times at most, and the engine waits 100 ms. The engine asks this before it blames a process that has exited: the last messages of that process may
     * say that it has left, or who else is to blame. The task is called on a background thread and must not wait.
     *
     * @param peer rank
     * @param task called at most once
     * @return false if the medium cannot tell; the task is not called then
     */
    default boolean afterControl(int peer, Runnable task) {
        return false;
    }

    /**
     * Sets the receiver of losses and control messages. The receiver is called on a background thread, also when no
     * thread makes progress on the links. This method is called once, before the first link is requested. Events from
     * before this call are delivered then, in order.
     *
     * @param events receiver
     */
    void events(Events events);

    /**
     * Drops all links of this group at once. Posted memory is free when this method returns, later posts are ignored, and
     * control messages continue. Called by the thread that makes progress, after a failure; idempotent.
     */
    void abandon();

    /**
     * Returns whether data sent to a peer may be lost if this process ends before the peer has received it. Called before
     * {@link #leave}, by the thread that makes progress.
     *
     * @param peer rank
     * @param lane which link
     * @return false if the data is kept elsewhere, or nothing was sent
     */
    default boolean mayLose(int peer, Lane lane) {
        return false;
    }

    /**
     * Returns whether other ranks need this process apart from its groups, because it serves the store. Its last group
     * then waits until the other ranks have left too.
     *
     * @return false unless this process serves something
     */
    default boolean servesOthers() {
        return false;
    }

    /**
     * Ends all links of this group in an orderly way. Sent data arrives, data that still arrives here is discarded, and
     * no connection is reset. Later posts are ignored; control messages continue until {@link #close}. Called by the
     * thread that makes progress, when the only posts left are receives that no thread waits for; idempotent, never
     * waits.
     *
     * @return whether control messages reach the other ranks, so that they can answer a goodbye; false if the transport
     *     can be closed at once
     */
    default boolean leave() {
        abandon();
        return false;
    }

    /**
     * Returns a description of the machine that a rank is on, for messages. Ranks of one machine have equal descriptions,
     * and all ranks get the same one.
     *
     * @param rank any, this one included
     * @return for example {@code node 1 (host b, 10.99.0.2)}; empty if it is unknown
     */
    default String machine(int rank) {
        return "";
    }

    /**
     * Returns the provider of shared memory for the ranks of this group that are on one host. The engine then uses shared
     * memory where it can, and links for the rest.
     *
     * @return empty if they cannot or should not share memory
     */
    default Optional<SharedMemoryProvider> sharedMemory() {
        return Optional.empty();
    }

    /**
     * Returns why there is no {@link #sharedMemory} for ranks of one host, for messages.
     *
     * @return text, equal on all ranks; used if {@link #sharedMemory} is empty
     */
    default String noSharedMemoryBecause() {
        return "this back end has none";
    }

    /**
     * Returns a description of the links of this group, without shared memory: the name of the medium, such as
     * {@code TCP}, and the addresses by which ranks are reached.
     *
     * @return description, equal on all ranks; {@link Medium#UNKNOWN} unless the medium overrides this method
     */
    default Medium medium() {
        return Medium.UNKNOWN;
    }

    /**
     * Closes the transport as {@link #close()} does, within a time: the last control messages and the last changes in the
     * store are given that time to leave. The default ignores the time.
     *
     * @param within maximum time
     */
    default void close(Duration within) {
        close();
    }

    /** Drops all links at once, as {@link #abandon} does, and releases the resources of control messages; idempotent. */
    @Override
    void close();

    /** Kind of lane. */
    enum Lane {
        /** Collectives, ordered by sequence number. */
        COLLECTIVE,
        /** Messages, matched by tag. */
        POINT_TO_POINT
    }

    /** Events that a medium reports. None of these methods waits. */
    interface Events {
        /**
         * Called when a control connection has ended without a word and the peer may live: something between the ranks may
         * have ended the connection. {@link #lost} follows if the peer turns out to be dead. A medium that cannot tell calls
         * only {@link #lost}, as this method does by default.
         *
         * @param peer  rank
         * @param cause PEER_LOST
         */
        default void cutOff(int peer, FerroException cause) {
            lost(peer, cause);
        }

        /**
         * Called when the process of a peer is gone or its control connection has ended. With PEER_LOST the peer is dead; with any
         * other code it lives, and only its connection has been given up. A medium that cannot see this leaves it to the
         * engine, which watches the processes of its host and notices missing heartbeats of others.
         *
         * @param peer  rank
         * @param cause PEER_LOST, PARTITION, or what one side refused of the other, as PROTOCOL
         */
        void lost(int peer, FerroException cause);

        /**
         * Called when a link ended with posts on it, or cannot be made. Called once per link, by the thread that makes
         * progress or in background. Data that the peer sent before the end is delivered first.
         *
         * @param peer  rank
         * @param cause PEER_LOST, PARTITION, or PROTOCOL if what the peer sent was changed on its way, which ends the group at
         *     once; its place has the number of the collective whose data was
         *     awaited, 0 if none was, -1 for a link of messages
         */
        void broken(int peer, FerroException cause);

        /**
         * Called when an unexpected header arrived: it is not the one that a receive was posted with. None of its data is
         * delivered. Called by the thread that makes progress.
         *
         * @param peer     rank that sent it
         * @param expected header of the posted receive
         * @param found    header that arrived; a medium does not know its group and text
         */
        void mismatched(int peer, CallHeader expected, CallHeader found);

        /**
         * Called when a control message arrived.
         *
         * @param peer    rank
         * @param message valid during the call
         */
        void control(int peer, ByteBuffer message);
    }
}
