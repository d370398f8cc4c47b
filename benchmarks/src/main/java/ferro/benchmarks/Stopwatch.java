package ferro.benchmarks;

import ferro.ReduceOp;
import ferro.group.ProcessGroup;
import java.lang.management.CompilationMXBean;
import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.util.Arrays;
import java.util.concurrent.locks.LockSupport;

/**
 * A stopwatch that times an operation on all ranks together. The warm-up has a minimum duration, and continues until
 * the JIT compilers of all ranks have been idle for some time. Then 5 to 64 blocks run. A block is a barrier and up to
 * 1000 consecutive calls. A sample is the slowest rank's time for a block, divided by the number of calls. The benches
 * of other libraries measure in the same way.
 */
final class Stopwatch {
    /** Duration of a block. A block is so long that the cost of the clock and the barrier does not matter. */
    private static final double BLOCK_NANOS = Duration.ofMillis(4).toNanos();

    /** Longest warm-up in multiples of {@code firstWarmUp}. At the limit, a warm-up ends even if compilers are busy. */
    private static final int LONGEST_WARM_UP = 8;

    /**
     * Longest pause of the ranks after a batch during which code was compiled. If a polling rank and a compiler run on
     * the same core, rank and compiler get half of the core each, and wait for time slices of the scheduler.
     */
    private static final long LONGEST_PAUSE_NANOS = Duration.ofMillis(20).toNanos();

    private static final Duration LONG_WARM_UP = Duration.ofMillis(1500);
    private static final Duration SHORT_WARM_UP = Duration.ofMillis(200);

    /** Share of the time of a batch. If compilers take a smaller share, the measured code is already compiled. */
    private static final double COMPILERS_AT_REST = 0.05;

    private final CompilationMXBean compilers = ManagementFactory.getCompilationMXBean();
    private final boolean isCounted =
            !Double.isNaN(BackgroundLoadDetector.compilerNanos(BackgroundLoadDetector.THREADS));
    private final ProcessGroup group;
    private final PhaseDurations pace;
    private boolean warm;

    Stopwatch(ProcessGroup group, PhaseDurations pace) {
        this.group = group;
        this.pace = pace;
    }

    /**
     * The times of warm-up and measurement.
     *
     * @param firstWarmUp warm-up before the first operation, in which a JVM compiles the code of a call
     * @param warmUp      warm-up before every further operation; also the time for which the compilers must be idle
     * @param measure     time for the samples of one operation
     */
    record PhaseDurations(Duration firstWarmUp, Duration warmUp, Duration measure) {
        /**
         * Returns the times for a measurement of the length {@code time}. The first warm-up is six times as long as the
         * measurement, but at most 1.5 s, so that a short measurement has a short warm-up.
         */
        static PhaseDurations measuring(Duration time) {
            return new PhaseDurations(shorter(time.multipliedBy(6), LONG_WARM_UP), shorter(time, SHORT_WARM_UP), time);
        }

        private static Duration shorter(Duration one, Duration other) {
            return one.compareTo(other) < 0 ? one : other;
        }
    }

    /**
     * Times of one call, in microseconds.
     *
     * @param min    time of a call in the fastest block
     * @param median time of a call in the median block
     * @param p99    time of a call in the slowest block after the slowest hundredth is left out; with fewer than a
     *     hundred blocks, in the slowest block
     */
    record CallTimes(double min, double median, double p99) {
        /** Returns the times of one operation if a call has several operations. */
        CallTimes dividedBy(int operations) {
            return new CallTimes(min / operations, median / operations, p99 / operations);
        }
    }

    /** Decides when a warm-up is over. */
    static final class WarmUpTracker {
        private final double leastNanos;
        private final double restNanos;
        private final double maxNanos;
        private double spent;
        private double atRest;

        WarmUpTracker(PhaseDurations pace, boolean isFirst) {
            leastNanos = (isFirst ? pace.firstWarmUp() : pace.warmUp()).toNanos();
            restNanos = pace.warmUp().toNanos();
            maxNanos = LONGEST_WARM_UP * (double) pace.firstWarmUp().toNanos();
        }

        /**
         * Adds a batch of calls.
         *
         * @param nanos time of the batch in nanoseconds
         * @param compilerNanos longest time that the compilers of a rank were busy during the batch
         * @return whether the compilers were busy for at most {@code COMPILERS_AT_REST} of the batch
         */
        boolean add(double nanos, double compilerNanos) {
            boolean isAtRest = compilerNanos <= COMPILERS_AT_REST * nanos;
            spent += nanos;
            atRest = isAtRest ? atRest + nanos : 0;
            return isAtRest;
        }

        /**
         * Returns whether the warm-up was long enough, and ended with a long enough time without compilations. Also
         * returns true if the limit of the warm-up is reached.
         */
        boolean isOver() {
            return spent >= leastNanos && atRest >= restNanos || spent >= maxNanos;
        }

        /** Returns whether a batch is so short that the next batch gets twice as many calls. */
        boolean isShort(double batchNanos) {
            return batchNanos < leastNanos / 8;
        }
    }

    CallTimes time(Runnable operation) {
        double callNanos = warmUp(operation, new WarmUpTracker(pace, !warm));
        warm = true;
        int calls = (int) Math.max(1, Math.min(1000, BLOCK_NANOS / callNanos));
        int blocks = (int) Math.max(5, Math.min(64, pace.measure().toNanos() / (calls * callNanos)));
        double[] samples = new double[blocks];
        for (int block = 0; block < blocks; block++) {
            samples[block] = block(operation, calls) / calls / 1000;
        }
        group.allReduce(samples, ReduceOp.MAX);
        Arrays.sort(samples);
        int p99 = (int) Math.ceil(0.99 * blocks) - 1;
        return new CallTimes(samples[0], samples[blocks / 2], samples[p99]);
    }

    /**
     * Runs batches of doubling length until they are long. Returns the last batch's time per call, the same on every
     * rank.
     */
    private double warmUp(Runnable operation, WarmUpTracker warmUp) {
        int calls = 1;
        while (true) {
            double compiledBefore = compilerNanos();
            double[] batch = {block(operation, calls), 0};
            batch[1] = compilerNanos() - compiledBefore;
            group.allReduce(batch, ReduceOp.MAX);
            boolean isAtRest = warmUp.add(batch[0], batch[1]);
            if (warmUp.isOver()) {
                return Math.max(1, batch[0] / calls);
            }
            if (!isAtRest) {
                LockSupport.parkNanos((long) Math.min(batch[0], LONGEST_PAUSE_NANOS));
            }
            if (warmUp.isShort(batch[0])) {
                calls *= 2;
            }
        }
    }

    private double compilerNanos() {
        if (isCounted) {
            // the time is NaN if a thread ends during the batch, and NaN does not count as rest
            return BackgroundLoadDetector.compilerNanos(BackgroundLoadDetector.THREADS);
        }
        // null if everything is interpreted
        return compilers == null
                ? 0
                : Duration.ofMillis(compilers.getTotalCompilationTime()).toNanos();
    }

    private double block(Runnable operation, int calls) {
        group.barrier();
        long start = System.nanoTime();
        for (int call = 0; call < calls; call++) {
            operation.run();
        }
        return System.nanoTime() - start;
    }
}
