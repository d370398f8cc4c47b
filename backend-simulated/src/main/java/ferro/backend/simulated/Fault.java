package ferro.backend.simulated;

import java.time.Duration;
import java.util.Objects;

/**
 * A fault in a seeded simulation. It happens before one of the steps, that is, between any two events. A fault whose step
 * the run never reaches does not happen.
 */
public sealed interface Fault {
    /** {@return the step of the run before which the fault happens, from 0} */
    long step();

    /**
     * The process of a rank dies without a goodbye. Of the control messages that it had on the way, some peers get fewer
     * than others. Each peer is told of the loss after a time of its own, at most 100 ms.
     *
     * @param step step before which it happens
     * @param rank which rank
     */
    record Crash(long step, int rank) implements Fault {}

    /**
     * A rank stands still, as in a garbage collection or a stop. It takes no turns and runs nothing in the background.
     * What comes for it waits, and then comes all at once.
     *
     * @param step   step before which it happens
     * @param rank   which rank
     * @param length duration of the pause
     */
    record Pause(long step, int rank, Duration length) implements Fault {
        /**
         * Refuses null and a negative length.
         *
         * @param step   step before which it happens
         * @param rank   which rank
         * @param length duration of the pause
         */
        public Pause {
            if (Objects.requireNonNull(length, "length").isNegative()) {
                throw new IllegalArgumentException("rank " + rank + " cannot pause for " + length + ": need 0 or more");
            }
        }
    }

    /**
     * From now on everything that one rank sends to another is lost: data, acknowledgements, control messages, and even
     * the end of its connections. No rank is told. The other direction works on.
     *
     * @param step step before which it happens
     * @param from rank whose messages are lost
     * @param to   rank that receives nothing from it any more
     */
    record OneWayPartition(long step, int from, int to) implements Fault {}

    /**
     * The data links between two ranks break. What is on the way is lost, and both ranks are told, each after a time of
     * its own. Control messages still arrive.
     *
     * @param step  step before which it happens
     * @param one   rank
     * @param other rank
     */
    record Drop(long step, int one, int other) implements Fault {}

    /**
     * The last control messages of one rank to another arrive once more, as after a connection that was made anew too
     * early.
     *
     * @param step step before which it happens
     * @param from rank that sent them
     * @param to   rank that receives them again
     */
    record Duplicate(long step, int from, int to) implements Fault {}
}
