package ferro.tck;

import ferro.FerroException;
import ferro.FerroException.Code;
import ferro.FerroException.Where;
import ferro.dispatch.DeviceMemory;
import ferro.tck.HeapDeviceMemory.Direction;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.concurrent.DelayQueue;
import java.util.concurrent.Delayed;
import java.util.concurrent.TimeUnit;

/** A copy from or to a device of {@link HeapDeviceMemory}. The device memory's lock guards the state of the copy. */
final class HeapCopy implements DeviceMemory.Copy {
    private final HeapDeviceMemory memory;
    private final HeapDeviceMemory.CopyEvent started;
    private final ByteBuffer host;
    private final Runnable work;
    private boolean stalled;
    private boolean fails;
    private boolean done;
    private FerroException failure;

    HeapCopy(HeapDeviceMemory memory, HeapDeviceMemory.CopyEvent started, ByteBuffer host, Runnable work) {
        this.memory = memory;
        this.started = started;
        this.host = host;
        this.work = work;
    }

    boolean uses(ByteBuffer buffer) {
        return host == buffer;
    }

    HeapDeviceMemory.CopyEvent started() {
        return started;
    }

    boolean isStalled() {
        return stalled;
    }

    void stalled(boolean now) {
        stalled = now;
    }

    void fails() {
        fails = true;
    }

    /** Copies the bytes, or records the failure that the test requested. The caller holds the device memory's lock. */
    void execute() {
        if (fails) {
            failure = failure(started.direction(), started.device(), "failed by the test");
        } else {
            work.run();
        }
        done = true;
    }

    /** Creates the exception for a failed copy. */
    static FerroException failure(Direction direction, int device, String why) {
        String text = "copy " + direction + " on device " + device + ": " + why;
        return new FerroException(Code.NATIVE, Where.of("heap", -1), text);
    }

    @Override
    public boolean await(Duration timeout) {
        long deadline = System.nanoTime() + nanos(timeout);
        synchronized (memory) {
            memory.awaited(this);
            while (!done) {
                long left = deadline - System.nanoTime();
                if (left <= 0) {
                    return false;
                }
                pause(left);
                memory.awaited(this);
            }
            if (failure != null) {
                throw failure;
            }
            return true;
        }
    }

    private void pause(long nanos) {
        try {
            TimeUnit.NANOSECONDS.timedWait(memory, nanos);
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
            String text = "interrupted while waiting for a copy " + started.direction();
            throw new FerroException(Code.INTERRUPTED, Where.of("heap", -1), text, interrupted);
        }
    }

    private static long nanos(Duration timeout) {
        try {
            return timeout.toNanos();
        } catch (ArithmeticException centuries) {
            return Long.MAX_VALUE / 2;
        }
    }

    /** A thread that runs the copies of {@link HeapDeviceMemory} with a delay. */
    static final class CopyThread {
        /** Delay until a stalled copy is tried again. */
        private static final long STALLED_NANOS = 1_000_000;

        private final HeapDeviceMemory memory;
        private final Duration delay;
        private final DelayQueue<Due> queue = new DelayQueue<>();
        private final Thread thread;

        CopyThread(HeapDeviceMemory memory, Duration delay) {
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
}
