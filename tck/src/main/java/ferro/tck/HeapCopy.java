package ferro.tck;

import ferro.FerroException;
import ferro.FerroException.Code;
import ferro.FerroException.Where;
import ferro.dispatch.DeviceMemory;
import ferro.tck.HeapDeviceMemory.Direction;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.concurrent.TimeUnit;

/**
 * A copy from or to a device of {@link HeapDeviceMemory}. The lock of the device memory guards the state of the copy.
 */
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

    /**
     * Copies the bytes, or records the failure that the test requested. The caller holds the lock of the device memory.
     */
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
}
