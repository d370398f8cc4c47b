package ferro.training;

import ferro.ReduceOp;
import ferro.group.ProcessGroup;
import ferro.training.TerminationGuard.EndingOfThisJvm;
import ferro.training.TerminationGuard.ProcessEnding;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.Objects;

/**
 * Turns SIGTERM, by which clusters end a job, into a question that the training loop asks once per step: was this the last one? All
 * ranks get the same answer at the same step, also those that got no signal. They save, close what they have opened, and end with
 * exit code 143, as whoever started them expects after SIGTERM.
 *
 * {@snippet file="ferro/examples/snippets/CheckpointSnippetsTest.java" region="termination" :
 *
 * Termination termination = Termination.onSigterm(Duration.ofSeconds(60));
 * try (Checkpoints checkpoints = Checkpoints.open(group, LocalStorage.at(folder))) {
 *     long step = 0;
 *     do {
 *         model.train();
 *         step++;
 *     } while (step < last && !termination.agreed(group));
 *     checkpoints.save(step, state);
 * }
 * termination.exit(); // with code 143 after SIGTERM; else it returns
 * }
 *
 * <p>A process has one. It takes the signal from the JVM, which would run its shutdown hooks at once, that of ferro too, by which
 * open groups fail.
 *
 * <p>The bound holds. A process that has not left shortly before its end (2 s, or a quarter of a bound of less than 8 s) is ended by
 * {@link System#exit}, and at once where a shutdown hook hangs, also after {@link #exit}; a save that is under way is then cut off,
 * which leaves the checkpoint before. A rank that got no signal counts from the step in which all agreed. Whoever sent the signal
 * must wait as long: {@code ferro run} kills after {@code --grace}, which is 10 s unless it is given, so
 * {@code ./ferro run --grace 60s} goes with a bound of 60 s.
 */
public final class Termination {
    /** The exit code of a process that SIGTERM has ended: 128 and the number of the signal. */
    public static final int EXIT_CODE = 143;

    private static final System.Logger LOG = System.getLogger("ferro.training");

    private final ProcessEnding end;
    private final TerminationGuard guard;
    private boolean isGuarded;
    private TerminationSignal signal;
    private boolean isRequested;
    private boolean isAgreed;

    Termination(Duration bound, ProcessEnding end) {
        this.end = end;
        guard = new TerminationGuard(bound, end, EXIT_CODE);
    }

    /**
     * Takes SIGTERM from the JVM.
     *
     * @param bound how long the process may take from the signal on to finish its step, to save and to leave, shutdown hooks
     *     included; it is gone by then
     * @return what the training loop asks
     * @throws IllegalArgumentException if the bound is not positive
     * @throws UnsupportedOperationException if this JVM keeps the signal for itself, as with {@code -Xrs}
     */
    public static Termination onSigterm(Duration bound) {
        if (Objects.requireNonNull(bound, "bound").isZero() || bound.isNegative()) {
            throw new IllegalArgumentException("need a positive time to leave after SIGTERM, found " + bound);
        }
        Termination termination = new Termination(bound, new EndingOfThisJvm());
        termination.signal = TerminationSignal.taken(termination::request);
        return termination;
    }

    /** Does what the signal does. */
    synchronized void request() {
        if (!isRequested) {
            isRequested = true;
            startGuard();
            LOG.log(Level.INFO, "SIGTERM: the step that is under way is the last one");
        }
    }

    private synchronized void startGuard() {
        if (!isGuarded) {
            isGuarded = true;
            guard.start();
        }
    }

    /**
     * Says whether this rank got SIGTERM. It asks no other rank; any thread may call it.
     *
     * @return whether the signal has come
     */
    public synchronized boolean isRequested() {
        return isRequested;
    }

    /**
     * Says whether this step was the last one: whether any rank got SIGTERM. All ranks call it at the same place, once per step; it
     * is an all-reduce of one number.
     *
     * @param group the ranks that train
     * @return the same on all ranks; from then on it is true without asking
     * @throws ferro.FerroException if a rank dies or makes another call
     */
    public boolean agreed(ProcessGroup group) {
        if (!isAgreed) {
            int[] any = {isRequested() ? 1 : 0};
            group.allReduce(any, ReduceOp.MAX);
            isAgreed = any[0] > 0;
            if (isAgreed) {
                startGuard();
            }
        }
        return isAgreed;
    }

    /**
     * Ends the process with exit code 143 if a stop was requested or agreed; else gives the signal back to the JVM, and returns. Call
     * it when everything is saved and closed.
     */
    public void exit() {
        boolean isLast = isAgreed || isRequested();
        if (!isLast && signal != null) {
            signal.giveBack();
            isLast = isRequested(); // it came just before
        }
        if (isLast) {
            end.exit(EXIT_CODE);
        }
    }
}
