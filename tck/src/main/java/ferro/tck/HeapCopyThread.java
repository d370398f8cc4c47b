package ferro.tck;

import java.time.Duration;
import java.util.concurrent.DelayQueue;
import java.util.concurrent.Delayed;
import java.util.concurrent.TimeUnit;

/** A thread that runs the copies of {@link HeapDeviceMemory} with a delay. */
final class HeapCopyThread {
    /** Delay until a stalled copy is tried again. */
    private static final long STALLED_NANOS = 1_000_000;

    private final HeapDeviceMemory memory;
    private final Duration delay;
    private final DelayQueue<Due> queue = new DelayQueue<>();
    private final Thread thread;

    HeapCopyThread(HeapDeviceMemory memory, Duration delay) {
        this.memory = memory;
        this.delay = delay;
        thread = new Thread(this::run, "ferro-tck-heap-copies");
        thread.setDaemon(true);
        thread.start();
    }

    /** A copy and the earliest time at which the copy may run. */
    private record Due(HeapCopy copy, long atNanos) implements Delayed {
        @Override
        public long getDelay(TimeUnit unit) {
            return unit.convert(atNanos - System.nanoTime(), TimeUnit.NANOSECONDS);
        }

        @Override
        public int compareTo(Delayed other) {
            return Long.compare(getDelay(TimeUnit.NANOSECONDS), other.getDelay(TimeUnit.NANOSECONDS));
        }
    }

    void started(HeapCopy copy) {
        queue.add(new Due(copy, System.nanoTime() + delay.toNanos()));
    }

    private void run() {
        try {
            while (true) {
                HeapCopy copy = queue.take().copy;
                if (!memory.execute(copy)) {
                    queue.add(new Due(copy, System.nanoTime() + STALLED_NANOS));
                }
            }
        } catch (InterruptedException closed) {
            Thread.currentThread().interrupt();
        }
    }

    void close() {
        thread.interrupt();
    }
}
