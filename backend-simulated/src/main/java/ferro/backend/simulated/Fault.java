package ferro.backend.simulated;

import java.time.Duration;
import java.util.Objects;

/**
 * Something that goes wrong in a seeded simulation, before one of its steps: between any two things that happen. A fault whose
 * step the run never reaches does not happen.
 */
public sealed interface Fault {
    /**
     * Returns before which step of the run it happens.
     *
     * @return step, from 0
     */
    long step();

    /**
     * The process of a rank is gone: no goodbye; of the control messages that it had on the way, some peers get fewer than
     * others; each peer hears of the loss after a time of its own, at most 100 ms.
     *
     * @param step when
     * @param rank who
     */
    record Crash(long step, int rank) implements Fault {}

    /**
     * A rank stands still, as in a garbage collection or a stop: it takes no turns and runs nothing in background; what comes
     * for it waits, and then comes all at once.
     *
     * @param step   when
     * @param rank   who
     * @param length how long
     */
    record Pause(long step, int rank, Duration length) implements Fault {
        /**
         * Refuses null, and a length below zero.
         *
         * @param step   when
         * @param rank   who
         * @param length how long
         */
        public Pause {
            if (Objects.requireNonNull(length, "length").isNegative()) {
                throw new IllegalArgumentException("rank " + rank + " cannot pause for " + length + ": need 0 or more");
            }
        }
    }

    /**
     * Everything that one rank sends to another vanishes from now on: data, acknowledgements, control messages, even the end of
     * its connections. Nobody is told. The other direction goes on.
     *
     * @param step when
     * @param from whose messages
     * @param to   who hears nothing any more
     */
    record Cut(long step, int from, int to) implements Fault {}

    /**
     * The data links between two ranks break: what is on the way is lost, both are told, each after a time of its own. Control
     * messages go on.
     *
     * @param step  when
     * @param one   rank
     * @param other rank
     */
    record Drop(long step, int one, int other) implements Fault {}

    /**
     * The last control messages of one rank to another come once more, as after a connection that was made anew too early.
     *
     * @param step when
     * @param from who sent them
     * @param to   who hears them again
     */
    record Duplicate(long step, int from, int to) implements Fault {}
}
