package ferro.integration;

import java.lang.management.ManagementFactory;
import java.time.Duration;

/** A thread that computes for a known time of a core, and so tells how long a thread waits for one on this machine now. */
final class BusyThread extends Thread {
    private final long workNanos;
    private final long fromNanos = System.nanoTime();
    private volatile long computedNanos;
    private volatile long tookNanos;
    private volatile boolean ending;

    private BusyThread(Duration work) {
        super("busy");
        workNanos = work.toNanos();
        setDaemon(true);
    }

    /** Starts to compute for this long, as the processor counts, or until asked what it has measured. */
    static BusyThread start(Duration work) {
        BusyThread made = new BusyThread(work);
        made.start();
        return made;
    }

    @Override
    public void run() {
        while (!ending && computedNanos < workNanos) {
            computedNanos = ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime();
            tookNanos = System.nanoTime() - fromNanos;
        }
    }

    /** Ends it, and returns for how long of its life it was not on a core. */
    Duration waitedForACore() throws InterruptedException {
        ending = true;
        join();
        return Duration.ofNanos(tookNanos - computedNanos);
    }
}
