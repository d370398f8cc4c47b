package ferro.backend.simulated;

import java.time.Duration;
import java.util.Objects;

/**
 * A fault in a seeded simulation. A fault happens before a given step, which means between two events. If the run ends
 * before the step of a fault, the fault does not happen.
 */
public sealed interface Fault {
    /** {@return the step of the run before which the fault happens, from 0} */
    long step();

    /**
     * The process of a rank dies without a goodbye. Of the control messages of the dead rank in flight, some peers
     * receive fewer messages than other peers. Each peer is notified of the loss of the rank after a separate delay of
     * at most 100 ms.
     *
     * @param step step before which the fault happens
     * @param rank rank that dies
     */
    record Crash(long step, int rank) implements Fault {}

    /**
     * A rank stands still, as during a garbage collection or a SIGSTOP. The rank makes no progress and runs no
     * background work. Messages for the rank wait, and are delivered together at the end of the pause.
     *
     * @param step   step before which the fault happens
     * @param rank   rank that stands still
     * @param length duration of the pause
     */
    record Pause(long step, int rank, Duration length) implements Fault {
        /**
         * Refuses null and a negative length.
         *
         * @param step   step before which the fault happens
         * @param rank   rank that stands still
         * @param length duration of the pause
         */
        public Pause {
            if (Objects.requireNonNull(length, "length").isNegative()) {
                throw new IllegalArgumentException("rank " + rank + " cannot pause for " + length + ": need 0 or more");
            }
        }
    }

    /**
     * From the step of the fault on, everything that {@code from} sends to {@code to} is lost: data, acknowledgements,
     * control messages, and even the end of connections. No rank is notified. The direction from {@code to} to
     * {@code from} still works.
     *
     * @param step step before which the fault happens
     * @param from rank whose messages are lost
     * @param to   rank that receives nothing more from {@code from}
     */
    record OneWayPartition(long step, int from, int to) implements Fault {}

    /**
     * The data links between two ranks break. Data in flight is lost. Each of the two ranks is notified after a
     * separate delay. Control messages still arrive.
     *
     * @param step  step before which the fault happens
     * @param one   first rank of the links
     * @param other second rank of the links
     */
    record Drop(long step, int one, int other) implements Fault {}

    /**
     * The last control messages of one rank to another rank arrive a second time, as after a connection that was
     * replaced too early.
     *
     * @param step step before which the fault happens
     * @param from rank that sent the messages
     * @param to   rank that receives the messages again
     */
    record Duplicate(long step, int from, int to) implements Fault {}
}
