package ferro.tck;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** The threads of ranks, one for each rank. A close interrupts the threads that still run. */
final class RankThreads implements AutoCloseable {
    /** Time that other ranks may still run after an unexpected failure of one rank. */
    private static final Duration GRACE = Duration.ofMillis(1500);

    private final int first;
    private final Thread[] threads;
    private final Throwable[] failures;
    private final List<Integer> order = new ArrayList<>();
    private int running;

    /** The code of a rank. */
    @FunctionalInterface
    interface RankAction {
        /** Runs the code of a rank. {@code rank} counts from 0, the first rank that these threads run. */
        void run(int rank) throws Exception;
    }

    /** Starts the threads of {@code count} ranks, from rank {@code first} on. */
    RankThreads(int first, int count, RankAction body) {
        this.first = first;
        threads = new Thread[count];
        failures = new Throwable[count];
        running = count;
        for (int index = 0; index < count; index++) {
            int own = index;
            threads[index] = new Thread(() -> run(own, body), "ferro-tck-rank-" + (first + index));
            threads[index].setDaemon(true);
        }
        for (Thread thread : threads) {
            thread.start();
        }
    }

    /** Waits for all ranks and returns the failure of each rank. The failure is null for a rank that did not fail. */
    synchronized List<Throwable> end(Duration limit) {
        if (!awaitEnd(System.nanoTime() + limit.toNanos(), false)) {
            throw withFailures(new AssertionError(hanging("have not ended within " + limit.toMillis() + " ms")));
        }
        return Arrays.asList(failures.clone());
    }

    /** Waits until all ranks have ended without a failure. After a failure, other ranks have {@link #GRACE} to end. */
    synchronized void endWell(Duration limit) {
        boolean ended = awaitEnd(System.nanoTime() + limit.toNanos(), true);
        if (!ended && order.isEmpty()) {
            throw new AssertionError(hanging("have not ended within " + limit.toMillis() + " ms"));
        }
        if (!order.isEmpty()) {
            awaitEnd(System.nanoTime() + GRACE.toNanos(), false);
            int failed = order.get(0);
            String rest = running == 0 ? "" : "\n" + hanging("still run after this failure");
            String what = "rank " + (first + failed) + " failed: " + failures[failed] + rest;
            throw withFailures(new AssertionError(what));
        }
    }

    /** Interrupts the threads that still run. Threads of ranks are daemons and end when their waits are interrupted. */
    @Override
    public void close() {
        for (Thread thread : threads) {
            if (thread.isAlive()) {
                thread.interrupt();
            }
        }
    }

    private AssertionError withFailures(AssertionError error) {
        for (int rank : order) {
            if (error.getCause() == null) {
                error.initCause(failures[rank]);
            } else if (failures[rank] != error.getCause()) {
                error.addSuppressed(failures[rank]);
            }
        }
        return error;
    }

    private void run(int rank, RankAction body) {
        Throwable failure = null;
        try {
            body.run(rank);
        } catch (Throwable thrown) {
            failure = thrown;
        }
        synchronized (this) {
            failures[rank] = failure;
            if (failure != null) {
                order.add(rank);
            }
            running--;
            notifyAll();
        }
    }

    private boolean awaitEnd(long deadline, boolean orFailure) {
        while (running > 0 && !(orFailure && !order.isEmpty())) {
            long left = deadline - System.nanoTime();
            if (left <= 0) {
                return false;
            }
            try {
                TimeUnit.NANOSECONDS.timedWait(this, left);
            } catch (InterruptedException interrupted) {
                Thread.currentThread().interrupt();
                throw new AssertionError("interrupted while waiting for " + running + " ranks", interrupted);
            }
        }
        return running == 0;
    }

    private String hanging(String what) {
        List<Integer> ranks = new ArrayList<>();
        StringBuilder stacks = new StringBuilder();
        for (int rank = 0; rank < threads.length; rank++) {
            StackTraceElement[] stack = threads[rank].getStackTrace();
            if (stack.length > 0) {
                ranks.add(first + rank);
                stacks.append("\n  rank ").append(first + rank);
                for (StackTraceElement frame : stack) {
                    stacks.append("\n    at ").append(frame);
                }
            }
        }
        return "ranks " + ranks + " of " + threads.length + " " + what + stacks;
    }
}
