package ferro.spi;

import ferro.FerroException;
import ferro.RankEnd;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.function.Consumer;

/**
 * The control messages and events between the ranks of a group. A control lane carries no data. {@link Transport} adds
 * data links. A back end that moves its data by a library can have a control lane alone, and handles failures through
 * this lane as all other back ends do. No method waits except {@link #close(Duration)}, and any thread may call any
 * method.
 *
 * <p>Ranks create and leave a group at different times. Control messages for a rank that has not created the group yet
 * wait until the rank has created the group.
 */
public interface ControlLane extends AutoCloseable {
    /** {@return this rank} */
    int rank();

    /** {@return the number of ranks} */
    int worldSize();

    /**
     * Returns the lane of another group over the same processes.
     *
     * @param ranks ranks of this lane, in the order of the new group
     * @param group 64 bits of the new group's identity
     * @return lane of the new group; closing one of the two lanes does not close the other lane
     */
    ControlLane subgroup(int[] ranks, long group);

    /**
     * Sends a small message, which never waits behind data. Aborts, heartbeats and agreements use control messages. If
     * the peer has closed its lane of this group, the medium drops the message and calls {@link PeerEvents#closed}.
     *
     * @param peer    rank of the peer
     * @param message message of at most 4 KiB, which is copied
     */
    void control(int peer, ByteBuffer message);

    /**
     * Runs a task after the control messages of a peer that have already arrived have been passed to their receivers.
     * The wait is limited: TCP polls at most 50 times, and the engine waits at most 100 ms. The engine calls this
     * method before it blames a process that has exited. The last messages of an exited process may announce that the
     * process has left the group, or blame another rank. The task runs on a background thread and must not wait.
     *
     * @param peer rank of the peer
     * @param task task, which runs at most once
     * @return false if the medium does not support this method, so that the task does not run
     */
    default boolean afterControl(int peer, Runnable task) {
        return false;
    }

    /**
     * Sets the receiver of losses and control messages. The receiver is called on a background thread. This method is
     * called once. Events that happened before this call are delivered after this call, in order.
     *
     * @param events receiver of the events
     */
    void events(PeerEvents events);

    /**
     * Returns whether other ranks need this process for more than its groups, because this process serves the store. If
     * this method returns true, the close of the last group of this process waits until the other ranks have left too.
     *
     * @return false unless this process serves the store
     */
    default boolean servesOthers() {
        return false;
    }

    /**
     * Returns a description of the machine that a rank is on, for messages. Ranks on one machine have equal
     * descriptions, and every rank returns the same description for a given rank.
     *
     * @param rank any rank, which may be this rank
     * @return for example {@code node 1 (host b, 10.99.0.2)}; empty if the machine is unknown
     */
    default String machine(int rank) {
        return "";
    }

    /**
     * Requests the report on the end of the process of a dead rank. A medium has the report only if the launcher of the
     * rank sends a report. The default implementation never has a report.
     *
     * @param peer     rank of the peer
     * @param receiver receives the end once, when the report has arrived; runs on any thread, which may be the calling
     *     thread; must not wait
     */
    default void whenEnded(int peer, Consumer<RankEnd> receiver) {
        // no launcher reports the ends of its ranks
    }

    /**
     * Closes the lane as {@link #close()} does, within a time limit. The time limit is for sending the last control
     * messages and the last changes in the store. The default implementation ignores the limit.
     *
     * @param within time limit
     */
    default void close(Duration within) {
        close();
    }

    /**
     * Releases the resources of this group's control messages. Before the release, the last control messages are sent.
     * Idempotent.
     */
    @Override
    void close();

    /** The receiver of losses of peers and of control messages. The methods of a receiver never wait. */
    interface PeerEvents {
        /**
         * Receives the end of a control connection that ended without a closing message. The process of the peer may
         * still run, because the network between the ranks may have ended the connection. If the peer is later found to
         * be dead, a call of {@link #lost} follows. A medium that cannot distinguish a dead peer from an ended
         * connection calls only {@link #lost}. By default this method calls {@link #lost} too.
         *
         * @param peer  rank of the peer
         * @param cause failure of code PEER_LOST
         */
        default void cutOff(int peer, FerroException cause) {
            lost(peer, cause);
        }

        /**
         * Receives the loss of a peer whose process is gone, or whose control connection has ended. With PEER_LOST the
         * peer is dead. With any other code the process of the peer still runs, and only its connection has ended. A
         * medium that cannot detect the loss of a peer does not call this method. The engine also monitors the
         * processes of its host and the heartbeats of the other ranks.
         *
         * @param peer  rank of the peer
         * @param cause failure of code PEER_LOST, PARTITION, or another code, such as PROTOCOL if one side rejected a
         *     message of the other side
         */
        void lost(int peer, FerroException cause);

        /**
         * Receives the end of a peer that has closed in good order. Either the peer has closed its lane of this group
         * and dropped a control message of this rank, or the peer has closed all its lanes. All control messages of the
         * peer have been received before this call. This method is called again for each message that is dropped. By
         * default this method calls {@link #lost}.
         *
         * @param peer  rank of the peer
         * @param cause failure of code PEER_LOST
         */
        default void closed(int peer, FerroException cause) {
            lost(peer, cause);
        }

        /**
         * Receives a control message.
         *
         * @param peer    rank of the peer
         * @param message message, which is valid only during the call
         */
        void control(int peer, ByteBuffer message);
    }
}
