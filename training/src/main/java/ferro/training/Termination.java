package ferro.training;

import ferro.ReduceOp;
import ferro.group.ProcessGroup;
import ferro.spi.PlainLoggers;
import ferro.training.TerminationGuard.JvmTerminator;
import ferro.training.TerminationGuard.ProcessTerminator;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.Objects;

/**
 * Handling of SIGTERM, with which clusters stop a job. All ranks of a training stop after the same step.
 *
 * <p>The training loop calls {@link #agreed} once per step. All ranks get the same result in the same step, even ranks
 * that got no signal. The ranks then save a checkpoint, close what they have opened, and end with exit code 143. The
 * starter of a process expects exit code 143 after SIGTERM.
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
 * <p>Create one object per process. The object replaces the JVM's handler of SIGTERM, which would run all shutdown
 * hooks at once. One shutdown hook belongs to ferro and makes open groups fail.
 *
 * <p>The process ends within a time limit. If the process still runs 2 s before the end of the time limit, a thread
 * calls {@link System#exit}. With a time limit of less than 8 s, the thread calls {@link System#exit} when a quarter of
 * the time limit is left. If a shutdown hook hangs, the thread halts the JVM 1 s before the end of the time limit. With
 * a time limit of less than 8 s, the thread halts the JVM when an eighth of the time limit is left. The thread halts a
 * JVM whose shutdown hook hangs even after a call of {@link #exit}. A save that is not complete when the process ends
 * does not replace the previous checkpoint. On a rank that got no signal, the time limit begins with the step in which
 * all ranks agreed.
 *
 * <p>The sender of SIGTERM must wait at least as long as the time limit. {@code ferro run} kills ranks after
 * {@code --grace}, which is 10 s by default. For a time limit of 60 s, start {@code ./ferro run --grace 60s}.
 */
public final class Termination {
    /** Exit code of a process that SIGTERM has ended: 128 plus the number of the signal. */
    public static final int EXIT_CODE = 143;

    private static final System.Logger LOG = PlainLoggers.logger("ferro.training");

    private final ProcessTerminator end;
    private final TerminationGuard guard;
    private boolean isGuarded;
    private TerminationHandler signal;
    private boolean isRequested;
    private boolean isAgreed;

    Termination(Duration bound, ProcessTerminator end) {
        this.end = end;
        guard = new TerminationGuard(bound, end, EXIT_CODE);
    }

    /**
     * Replaces the JVM's handler of SIGTERM.
     *
     * @param bound maximum time from the signal to the end of the process; the last step, the save and the shutdown
     *     hooks must fit into this time
     * @return object whose method {@link #agreed} the training loop calls after each step
     * @throws IllegalArgumentException if {@code bound} is not positive
     * @throws UnsupportedOperationException if this JVM does not allow another handler, for example with {@code -Xrs}
     */
    public static Termination onSigterm(Duration bound) {
        if (Objects.requireNonNull(bound, "bound").isZero() || bound.isNegative()) {
            throw new IllegalArgumentException(
                    "need a positive time from SIGTERM to the end of the process, found " + bound);
        }
        Termination termination = new Termination(bound, new JvmTerminator());
        termination.signal = TerminationHandler.taken(termination::request);
        return termination;
    }

    /** Requests a stop, as the signal does. */
    synchronized void request() {
        if (!isRequested) {
            isRequested = true;
            startGuard();
            LOG.log(Level.INFO, "SIGTERM: the current step is the last one");
        }
    }

    private synchronized void startGuard() {
        if (!isGuarded) {
            isGuarded = true;
            guard.start();
        }
    }

    /** {@return whether this rank got SIGTERM, without communication. Any thread may call this method} */
    public synchronized boolean isRequested() {
        return isRequested;
    }

    /**
     * Returns whether this step was the last step, because some rank got SIGTERM. All ranks must call this method once
     * per step, at the same position among their calls. The call is an all-reduce of one number.
     *
     * @param group the ranks that train
     * @return whether the step was the last step, the same on all ranks; after the first true, all further calls return
     *     true without communication
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
     * Ends the process with exit code 143 if this rank got SIGTERM or the ranks agreed to stop. Otherwise restores the
     * JVM's handler and returns. Call this method after all state is saved and all groups are closed.
     */
    public void exit() {
        boolean isLast = isAgreed || isRequested();
        if (!isLast && signal != null) {
            signal.giveBack();
            isLast = isRequested(); // the signal arrived just before the old handler was restored
        }
        if (isLast) {
            end.exit(EXIT_CODE);
        }
    }
}
