package ferro.spi;

import ferro.FerroException;
import ferro.Medium;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.Optional;

/**
 * A medium that carries data between ranks. TCP, shared memory and the simulator implement this interface. Any thread
 * may make progress on a transport: the caller of a blocking call, the progress thread, or the simulator. Only one
 * thread at a time makes progress, since the engine holds the progress lock. Only {@link #park} waits; all other
 * methods return immediately. Any thread may call {@link #wakeup}, {@link #control} and {@link #close}.
 *
 * <p>Ranks create a group, and leave it, at different times. Data and control messages for a rank that has not created
 * the group yet wait until the rank has created it. {@code ferro.examples.files} in module examples is a short
 * implementation to start from.
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
     * Returns a lane to a peer, which is connected on first use. Lanes of different peers, groups and kinds never wait
     * for each other. The thread that makes progress calls this method, after {@link #events} has been called. After
     * {@link #abandon} or {@link #leave} the lane ignores all posts.
     *
     * @param peer rank of the peer
     * @param lane kind of lane: collectives or point-to-point
     * @return link
     */
    Link link(int peer, Lane lane);

    /**
     * Returns the transport of another group over the same processes. No lane is connected yet.
     *
     * @param ranks ranks of this transport, in the order of the new group
     * @param group 64 bits of the new group's identity
     * @return transport of the new group; closing one of the two transports does not close the other
     */
    Transport subgroup(int[] ranks, long group);

    /**
     * Moves all data that can be moved now.
     *
     * @return whether any data moved
     */
    boolean poll();

    /**
     * Waits until data may move, until {@link #wakeup}, until the deadline, or until an interrupt, whose flag stays
     * set. This method may return earlier. Returns within 10 ms of an interrupt.
     *
     * @param deadlineNanos deadline on the context's clock
     */
    void park(long deadlineNanos);

    /** Wakes the thread that waits in {@link #park}. */
    void wakeup();

    /**
     * Wakes a thread of another rank that waits in {@link #park}: the thread that makes progress on this group on that
     * rank. If the medium can do so, it wakes the thread of the other rank directly, without a background thread. A
     * background thread needs a processor first, which delays the rank if there are more ranks than processors. The
     * thread that makes progress calls this method. The call may have no effect if the other rank is not parked.
     *
     * @param peer rank of the peer
     * @return false if the medium cannot signal, or cannot signal yet; the caller may then use a control message
     */
    default boolean signal(int peer) {
        return false;
    }

    /**
     * Sends a small message, which never waits behind data. Aborts, heartbeats and agreements use such messages.
     *
     * @param peer    rank of the peer
     * @param message message of at most 4 KiB, which is copied
     */
    void control(int peer, ByteBuffer message);

    /**
     * Runs a task after the control messages of a peer that have already arrived have been passed to their receivers.
     * The wait is limited: TCP polls at most 50 times, and the engine waits at most 100 ms. The engine calls this
     * method before it blames a process that has exited. The last messages of an exited process may say that it has
     * left the group, or which other rank is to blame. The task runs on a background thread and must not wait.
     *
     * @param peer rank of the peer
     * @param task task, which runs at most once
     * @return false if the medium does not support this; the task then does not run
     */
    default boolean afterControl(int peer, Runnable task) {
        return false;
    }

    /**
     * Sets the receiver of losses and control messages. The receiver is called on a background thread, also while no
     * thread makes progress on the links. This method is called once, before the first call of {@link #link}. Events
     * that happened before this call are then delivered in order.
     *
     * @param events receiver of the events
     */
    void events(Events events);

    /**
     * Drops all links of this group immediately. When this method returns, the memory of all posts is free again. Later
     * posts are ignored. Control messages continue to work. The thread that makes progress calls this method after a
     * failure. Idempotent.
     */
    void abandon();

    /**
     * Returns whether data that was sent to a peer may be lost if this process ends before the peer has received it.
     * The thread that makes progress calls this method before {@link #leave}.
     *
     * @param peer rank of the peer
     * @param lane kind of lane
     * @return false if the data does not depend on this process, or if no data was sent
     */
    default boolean mayLose(int peer, Lane lane) {
        return false;
    }

    /**
     * Returns whether other ranks need this process for more than its groups, because it serves the store. If other
     * ranks need this process, the close of its last group waits until the other ranks have left too.
     *
     * @return false unless this process serves the store
     */
    default boolean servesOthers() {
        return false;
    }

    /**
     * Ends all links of this group in an orderly way. Data that was already sent arrives at the peers. Data that still
     * arrives at this rank is discarded. No connection is reset. Later posts are ignored, and control messages continue
     * to work until {@link #close}. The thread that makes progress calls this method when the only posts left are
     * receives that no thread waits for. Idempotent. Never waits.
     *
     * @return whether control messages still reach the other ranks, so that the other ranks can reply to the closing
     *     message of this rank; false if the transport can be closed immediately
     */
    default boolean leave() {
        abandon();
        return false;
    }

    /**
     * Returns a description of the machine that a rank is on, for messages. Ranks on one machine have equal
     * descriptions, and every rank returns the same description for a given rank.
     *
     * @param rank any rank, including this one
     * @return for example {@code node 1 (host b, 10.99.0.2)}; empty if it is unknown
     */
    default String machine(int rank) {
        return "";
    }

    /**
     * Returns the provider of shared memory for the ranks of this group that are on one host. If there is a provider,
     * the engine uses shared memory between ranks that can share memory, and links between all other ranks.
     *
     * @return provider; empty if the ranks cannot or should not share memory
     */
    default Optional<SharedMemoryProvider> sharedMemory() {
        return Optional.empty();
    }

    /**
     * Returns why {@link #sharedMemory} is empty. Messages contain this reason.
     *
     * @return text, equal on all ranks; used only if {@link #sharedMemory} is empty
     */
    default String noSharedMemoryBecause() {
        return "this back end has no shared memory";
    }

    /**
     * Returns a description of the links of this group. The description contains the name of the medium, such as
     * {@code TCP}, and the addresses of the ranks. The description does not include shared memory.
     *
     * @return description, equal on all ranks; {@link Medium#UNKNOWN} by default
     */
    default Medium medium() {
        return Medium.UNKNOWN;
    }

    /**
     * Closes the transport as {@link #close()} does, within a time limit. The last control messages and the last
     * changes in the store have this time to be sent. The default implementation ignores the limit.
     *
     * @param within time limit
     */
    default void close(Duration within) {
        close();
    }

    /**
     * Drops all links immediately, as {@link #abandon} does, and releases the resources of control messages.
     * Idempotent.
     */
    @Override
    void close();

    /** The kind of a lane. */
    enum Lane {
        /** Lane for collectives, which are ordered by sequence number. */
        COLLECTIVE,
        /** Lane for sends and receives, which are matched by tag. */
        POINT_TO_POINT
    }

    /** The receiver of events that a medium reports. The methods of a receiver never wait. */
    interface Events {
        /**
         * Receives the end of a control connection that ended without a closing message. The peer may live, because the
         * network between the ranks may have ended the connection. A call of {@link #lost} follows if the peer turns
         * out to be dead. A medium that cannot distinguish a dead peer from an ended connection calls only {@link
         * #lost}. By default this method calls {@link #lost} too.
         *
         * @param peer  rank of the peer
         * @param cause failure of code PEER_LOST
         */
        default void cutOff(int peer, FerroException cause) {
            lost(peer, cause);
        }

        /**
         * Receives the loss of a peer: its process is gone, or its control connection has ended. With PEER_LOST the
         * peer is dead. With any other code the peer lives, and only its connection has ended. A medium that cannot
         * detect the loss of a peer reports none: the engine also monitors the processes of its host and the heartbeats
         * of the other ranks.
         *
         * @param peer  rank of the peer
         * @param cause failure of code PEER_LOST, PARTITION, or another code, such as PROTOCOL if one side rejected a
         *     message of the other
         */
        void lost(int peer, FerroException cause);

        /**
         * Receives the loss of a link: it ended while it had posts, or could not be created. A medium calls this method
         * once per link, on the thread that makes progress or on a background thread. Data that the peer sent before
         * the end is delivered first.
         *
         * @param peer  rank of the peer
         * @param cause failure of code PEER_LOST or PARTITION; or PROTOCOL if data of the peer was changed in transit,
         *     which ends the group immediately. The location of the failure has the sequence number of the collective
         *     whose data was expected, 0 if none was, and -1 for a link of sends and receives
         */
        void broken(int peer, FerroException cause);

        /**
         * Receives an unexpected header, which differs from the header of the posted receive. The data after the
         * unexpected header is not delivered. The thread that makes progress calls this method.
         *
         * @param peer     rank that sent the header
         * @param expected header of the posted receive
         * @param found    header that arrived; a medium does not know the group and the text of this header
         */
        void mismatched(int peer, CallHeader expected, CallHeader found);

        /**
         * Receives a control message.
         *
         * @param peer    rank of the peer
         * @param message message, which is valid only during the call
         */
        void control(int peer, ByteBuffer message);
    }
}
