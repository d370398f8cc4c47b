package ferro.benchmarks.compare;

import ferro.benchmarks.WireProbe;
import java.io.IOException;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.time.Duration;
import java.util.Arrays;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/** A probe that measures the machine at this moment without any contestant. Two threads exchange flags, then bytes. */
final class MachineProbe implements AutoCloseable {
    /**
     * Half round trip of a flag, in microseconds. The time is clearly shorter if cores share a cache, and clearly
     * longer if they do not.
     */
    private static final double NEAR_BELOW = 0.1;

    /**
     * Half round trip of a flag between two threads on one core, in microseconds. Two different cores are always
     * faster.
     */
    private static final double ONE_CORE = 0.8;

    private static final int BATCHES = 60;
    private static final int TRIPS = 100;
    /**
     * Number of readings until the code is compiled. A reading takes half a second of processor time if both threads
     * share a core.
     */
    private static final int WARM_UP_READINGS = 40;
    /** Shortest measurement that shows a speed. Shorter measurements only show that the program works. */
    private static final Duration WORTH_WARMING_UP = Duration.ofMillis(10);
    /** Number of spins before a thread yields its core, because both threads may share one core. */
    private static final int SPINS = 20_000;
    /**
     * Number of longs between the two flags. The flags must not be in one cache line or in two lines that are fetched
     * together.
     */
    private static final int APART = 32;

    private static final VarHandle FLAG = MethodHandles.arrayElementVarHandle(long[].class);

    private final long[] flags = new long[3 * APART];
    private final WireProbe.ProbePair loopback;
    private final ExecutorService second = Executors.newSingleThreadExecutor(task -> {
        Thread thread = new Thread(task, "probe");
        thread.setDaemon(true);
        return thread;
    });
    private long trips;

    private MachineProbe(WireProbe.ProbePair loopback) {
        this.loopback = loopback;
    }

    /**
     * The state of the machine during a probe.
     *
     * @param flagMicros     half a round trip of a flag between two threads
     * @param loopbackMicros half a round trip of 4 bytes over a plain loopback connection whose two ends spin
     */
    record MachineState(double flagMicros, double loopbackMicros) {
        boolean near() {
            return flagMicros < NEAR_BELOW;
        }
    }

    /** Opens a probe. Warms up the code of the probe if a measurement takes at least {@link #WORTH_WARMING_UP}. */
    static MachineProbe open(Duration measurement) throws IOException, InterruptedException {
        MachineProbe probe = new MachineProbe(WireProbe.pair());
        int readings = measurement.compareTo(WORTH_WARMING_UP) < 0 ? 1 : WARM_UP_READINGS;
        for (int reading = 0; reading < readings; reading++) {
            probe.read();
        }
        return probe;
    }

    MachineState read() throws IOException, InterruptedException {
        double flag = flagMicros();
        for (int tries = 1; tries < 5 && flag > ONE_CORE; tries++) {
            flag = flagMicros();
        }
        Future<?> follower = second.submit(loopback::follow);
        double micros = loopback.lead();
        await(follower);
        return new MachineState(flag, micros);
    }

    private double flagMicros() throws IOException, InterruptedException {
        long first = trips + 1;
        long last = trips + (long) BATCHES * TRIPS;
        trips = last;
        Future<?> follower = second.submit(() -> follow(first, last));
        double[] micros = new double[BATCHES];
        long trip = first;
        for (int batch = 0; batch < BATCHES; batch++) {
            long start = System.nanoTime();
            for (int i = 0; i < TRIPS; i++, trip++) {
                FLAG.setRelease(flags, APART, trip);
                awaitFlag(2 * APART, trip);
            }
            micros[batch] = (System.nanoTime() - start) / 2000.0 / TRIPS;
        }
        await(follower);
        Arrays.sort(micros);
        return micros[BATCHES / 2];
    }

    private void follow(long first, long last) {
        for (long trip = first; trip <= last; trip++) {
            awaitFlag(APART, trip);
            FLAG.setRelease(flags, 2 * APART, trip);
        }
    }

    private void awaitFlag(int index, long value) {
        for (int spins = 0; (long) FLAG.getAcquire(flags, index) != value; spins++) {
            if (spins > SPINS) {
                Thread.yield();
            } else {
                Thread.onSpinWait();
            }
        }
    }

    private static void await(Future<?> follower) throws IOException, InterruptedException {
        try {
            follower.get();
        } catch (ExecutionException failure) {
            throw new IOException(
                    "the probe of the machine failed: " + failure.getCause().getMessage(), failure);
        }
    }

    @Override
    public void close() throws IOException {
        second.shutdownNow();
        loopback.close();
    }
}
