package ferro.tck;

import ferro.FerroException;
import ferro.FerroException.Code;
import ferro.FerroException.Where;
import ferro.dispatch.DeviceMemory;
import ferro.tck.HeapDeviceMemory.CopyEvent;
import ferro.tck.HeapDeviceMemory.CopyFault;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.concurrent.TimeUnit;

/** A copy from or to a device of {@link HeapDeviceMemory}. The lock of the device memory guards the copy's state. */
final class HeapDeviceCopy implements DeviceMemory.Copy {
    private final HeapDeviceMemory memory;
    private final CopyEvent started;
    private final ByteBuffer host;
    private final Runnable work;
    private CopyFault fault;
    private boolean done;
    private RuntimeException failure;

    /** Creates a copy. {@code fault} is the fault that the test injects into it; null if the copy must succeed. */
    HeapDeviceCopy(HeapDeviceMemory memory, CopyEvent started, ByteBuffer host, Runnable work, CopyFault fault) {
        this.memory = memory;
        this.started = started;
        this.host = host;
        this.work = work;
        this.fault = fault;
    }

    boolean uses(ByteBuffer buffer) {
        return host == buffer;
    }

    CopyEvent started() {
        return started;
    }

    boolean isStalled() {
        return fault == CopyFault.STALL;
    }

    void endStall() {
        fault = isStalled() ? null : fault;
    }

    /** Copies the bytes, or records the failure of the copy. The caller holds the lock of the device memory. */
    void execute() {
        try {
            if (fault == CopyFault.FAIL) {
                throw failure(started, "failed by the test");
            }
            work.run();
        } catch (RuntimeException failed) {
            failure = failed;
        }
        done = true;
    }

    /** Creates the exception for a failed copy. */
    static FerroException failure(CopyEvent of, String why) {
        String text = "copy " + of.direction() + " on device " + of.device() + ": " + why;
        return new FerroException(Code.NATIVE, Where.of("heap", -1), text);
    }

    @Override
    public boolean await(Duration timeout) {
        // a timeout of centuries must not overflow
        long deadline = System.nanoTime() + Math.min(TimeUnit.NANOSECONDS.convert(timeout), Long.MAX_VALUE / 2);
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
}
