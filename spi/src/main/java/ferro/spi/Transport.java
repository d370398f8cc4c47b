package ferro.spi;

import ferro.FerroException;
import ferro.Medium;
import java.util.Optional;

/**
 * A medium that carries data between ranks: a {@link ControlLane} with data links. TCP, shared memory and the simulator
 * implement this interface. Any thread may make progress on a transport: the caller of a blocking call, the progress
 * thread, or the simulator. Only one thread at a time makes progress, since the engine holds the progress lock. Only
 * {@link #park} waits; all other methods return immediately. Any thread may call {@link #wakeup}, {@link #control} and
 * {@link #close}.
 *
 * <p>Ranks create and leave a group at different times. Data and control messages for a rank that has not created the
 * group yet wait until the rank has created the group. {@code ferro.examples.files} in module examples is a short
 * implementation to start from.
 */
public interface Transport extends ControlLane {
    /**
     * Returns a lane to a peer. The lane is connected at its first use. Lanes of different peers, groups and kinds
     * never wait for each other. The thread that makes progress calls this method, after {@link #events} has been
     * called. After {@link #abandon} or {@link #leave} the lane ignores all posts.
     *
     * @param peer rank of the peer
     * @param lane kind of lane: collectives or point-to-point
     * @return link
     */
    Link link(int peer, Lane lane);

    /**
     * Returns whether a peer may have sent data on a lane that this rank has not opened by {@link #link}. A receive
     * from any rank opens only lanes for which this method returns true. The thread that makes progress calls this
     * method.
     *
     * @param peer another rank
     * @param lane kind of lane
     * @return false if the peer has not opened the lane; true, the default, from a medium that cannot detect an
     *     opened lane, or on which an unused lane costs nothing
     */
    default boolean isOpenedBy(int peer, Lane lane) {
        return true;
    }

    /**
     * Returns the transport of another group over the same processes. No lane is connected yet.
     *
     * @param ranks ranks of this transport, in the order of the new group
     * @param group 64 bits of the new group's identity
     * @return transport of the new group; closing one of the two transports does not close the other transport
     */
    @Override
    Transport subgroup(int[] ranks, long group);

    /**
     * Moves all data that can be moved now.
     *
     * @return whether any data moved
     */
    boolean poll();

    /**
     * Waits until data may move, until {@link #wakeup}, until the deadline, or until this thread is interrupted. This
     * method may return earlier. After an interrupt, this method returns within 10 ms, and the interrupt flag stays
     * set.
     *
     * @param deadlineNanos deadline on the context's clock
     */
    void park(long deadlineNanos);

    /**
     * Wakes the thread that waits in {@link #park}. If no thread waits, the next call of {@link #park} returns at once,
     * since a thread may be about to wait, and no timer repairs a lost wake-up.
     */
    void wakeup();

    /**
     * {@return whether a virtual thread that waits in {@link #park} releases its carrier thread; false by default} If
     * this method returns false, the engine does not call {@link #park} on a virtual thread, but polls at growing
     * intervals of at most 10 ms.
     */
    default boolean parksVirtualThreads() {
        return false;
    }

    /**
     * Wakes the thread of another rank that makes progress on this group and waits in {@link #park}. A medium that can
     * wake the waiting thread directly uses no background thread. A background thread would first need a processor,
     * which delays the rank on a host with more ranks than processors. The thread that makes progress calls this
     * method. The call may have no effect if the other rank is not parked.
     *
     * @param peer rank of the peer
     * @return false if the medium cannot signal, or cannot signal yet; the caller may then use a control message
     */
    default boolean signal(int peer) {
        return false;
    }

    /**
     * Sets the receiver of losses and control messages. The receiver is called on a background thread, even while no
     * thread makes progress on the links. This method is called once, before the first call of {@link #link}. Events
     * that happened before this call are delivered after this call, in order.
     *
     * @param events receiver of the events
     */
    void events(Events events);

    /**
     * Sets a receiver that uses no data links, as {@link #events(Events)} does. Events of links are dropped.
     *
     * @param events receiver of losses and control messages
     */
    @Override
    default void events(PeerEvents events) {
        events(new PeerEventsAdapter(events));
    }

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
     * {@return the provider of shared memory for the ranks of this group that are on one host; empty if the ranks
     * cannot or should not share memory} If this method returns a provider, the engine uses shared memory between ranks
     * that can share memory, and links between all other ranks.
     */
    default Optional<SharedMemoryProvider> sharedMemory() {
        return Optional.empty();
    }

    /**
     * {@return why {@link #sharedMemory} is empty, equal on all ranks; not used if {@link #sharedMemory} returns a
     * provider} Messages contain this reason.
     */
    default String noSharedMemoryBecause() {
        return "this back end has no shared memory";
    }

    /**
     * {@return a description of the links of this group, equal on all ranks; {@link Medium#UNKNOWN} by default} The
     * description contains the name of the medium, such as {@code TCP}, and the addresses of the ranks. The description
     * does not include shared memory.
     */
    default Medium medium() {
        return Medium.UNKNOWN;
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
    interface Events extends PeerEvents {
        /**
         * Receives the loss of a link that ended while it had posts, or that could not be created. A medium calls this
         * method once per link, on the thread that makes progress or on a background thread. Data that the peer sent
         * before the end is delivered first.
         *
         * @param peer  rank of the peer
         * @param cause failure of code PEER_LOST or PARTITION; or PROTOCOL if data of the peer was changed in transit,
         *     which ends the group immediately. The location of the failure has the sequence number of the collective
         *     whose data was expected, 0 if no data was expected, and -1 for a link of sends and receives
         */
        void broken(int peer, FerroException cause);

        /**
         * Receives an unexpected header, which differs from the header of the posted receive. The data after the
         * unexpected header is not delivered. The thread that makes progress calls this method.
         *
         * @param peer     rank that sent the header
         * @param expected header of the posted receive
         * @param found    header that arrived; only its sequence number and fingerprint are valid, because a medium
         *     does not receive the group and the text
         */
        void mismatched(int peer, CallHeader expected, CallHeader found);
    }
}
