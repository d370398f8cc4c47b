package ferro.training;

import ferro.ReduceOp;
import ferro.group.ProcessGroup;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.IntConsumer;

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
 * open groups fail. A process that has not left after a while is ended all the same.
 */
public final class Termination {
    /** The exit code of a process that SIGTERM has ended: 128 and the number of the signal. */
    public static final int EXIT_CODE = 143;

    private static final System.Logger LOG = System.getLogger("ferro.training");

    private final Duration bound;
    private final IntConsumer exit;
    private final CountDownLatch left = new CountDownLatch(1);
    private TerminationSignal signal;
    private boolean isRequested;
    private boolean isAgreed;

    Termination(Duration bound, IntConsumer exit) {
        this.bound = bound;
        this.exit = exit;
    }

    /**
     * Takes SIGTERM from the JVM.
     *
     * @param bound how long the process may take from the signal on to finish its step, to save and to leave; then it is ended
     * @return what the training loop asks
     * @throws IllegalArgumentException if the bound is not positive
     * @throws UnsupportedOperationException if this JVM keeps the signal for itself, as with {@code -Xrs}
     */
    public static Termination onSigterm(Duration bound) {
        if (Objects.requireNonNull(bound, "bound").isZero() || bound.isNegative()) {
            throw new IllegalArgumentException("need a positive time to leave after SIGTERM, found " + bound);
        }
        Termination termination = new Termination(bound, System::exit);
        termination.signal = TerminationSignal.taken(termination::request);
        return termination;
    }

    /** Does what the signal does. */
    synchronized void request() {
        if (!isRequested) {
            isRequested = true;
            LOG.log(Level.INFO, "SIGTERM: the step that is under way is the last one");
            Thread guard = new Thread(this::endLate, "ferro-termination");
            guard.setDaemon(true);
            guard.start();
        }
    }

    private void endLate() {
        try {
            if (!left.await(bound.toNanos(), TimeUnit.NANOSECONDS)) {
                LOG.log(Level.WARNING, "the process has not left within " + bound + " of SIGTERM, and is ended");
                exit.accept(EXIT_CODE);
            }
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
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
        }
        return isAgreed;
    }

    /**
     * Ends the process with exit code 143 if a stop was requested or agreed; else gives the signal back to the JVM, and returns. Call
     * it when everything is saved and closed.
     */
    public void exit() {
        left.countDown();
        if (isAgreed || isRequested()) {
            exit.accept(EXIT_CODE);
        } else if (signal != null) {
            signal.giveBack();
        }
    }
}
