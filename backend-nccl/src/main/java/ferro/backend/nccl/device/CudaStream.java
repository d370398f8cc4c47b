package ferro.backend.nccl.device;

import ferro.FerroException;
import ferro.FerroException.Code;
import ferro.FerroException.Where;
import ferro.backend.nccl.CudaException;
import ferro.backend.nccl.ffi.Cuda;
import ferro.backend.nccl.ffi.DeviceGuard;
import ferro.backend.nccl.ffi.LibraryLoader;
import ferro.backend.nccl.ffi.ResultChecker;
import ferro.spi.Deadlines;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;

/**
 * A stream of a device. An own stream is a stream that this class has created. All other streams belong to the caller
 * or are the device's default stream, and this class never destroys them.
 *
 * <p>Work on an own stream does not wait for work on the default stream. Events order the two streams if needed. Any
 * thread may call, and the current device of the calling thread does not change. Work that is queued on a stream
 * finishes even if the stream is closed.
 */
public final class CudaStream implements AutoCloseable {
    private static final Logger LOG = System.getLogger("ferro.backend.nccl");
    /** Number of polls before the first sleep. These polls take about as long as a small kernel. */
    private static final int EAGER_LOOKS = 64;

    private static final long NAP_NANOS = 50_000;

    private final long handle;
    private final int device;
    private final boolean owned;
    private final AtomicBoolean closed = new AtomicBoolean();

    private CudaStream(long handle, int device, boolean owned) {
        this.handle = handle;
        this.device = device;
        this.owned = owned;
    }

    /**
     * Creates an own stream. Its work does not wait for work on the default stream.
     *
     * @param device ordinal
     * @return stream, destroyed by {@link #close}
     * @throws CudaException if the runtime cannot create the stream
     * @throws IllegalStateException if no runtime is loaded yet
     */
    public static CudaStream create(int device) {
        LibraryLoader.requireRuntime();
        long[] stream = new long[1];
        ResultChecker.cuda(
                DeviceGuard.call(device, () -> Cuda.cudaStreamCreateWithFlags(stream, Cuda.STREAM_NON_BLOCKING)),
                "cudaStreamCreateWithFlags");
        return new CudaStream(stream[0], device, true);
    }

    /**
     * Returns a view of a stream that the caller has created. The caller must also destroy the stream.
     *
     * @param handle {@code cudaStream_t}; 0 is the default stream
     * @param device ordinal of the device on which the stream was created
     * @return view
     */
    public static CudaStream ofCaller(long handle, int device) {
        return new CudaStream(handle, device, false);
    }

    /**
     * {@return a view of the default stream}
     *
     * @param device ordinal
     */
    public static CudaStream ofDefault(int device) {
        return ofCaller(Cuda.DEFAULT_STREAM, device);
    }

    /** {@return the handle, a {@code cudaStream_t}; 0 is the default stream} */
    public long handle() {
        return handle;
    }

    /** {@return the ordinal of the device} */
    public int device() {
        return device;
    }

    /** {@return whether closing destroys the stream; true for an own stream} */
    public boolean owned() {
        return owned;
    }

    /**
     * Waits for all work that is on the stream now. The stream may be the default stream. This method polls, so that a
     * stuck device cannot block the caller.
     *
     * @param timeout longest wait; zero polls once
     * @return whether the work is complete; false means that work is still in progress
     * @throws CudaException  if the work failed
     * @throws FerroException INTERRUPTED, with the interrupt flag set again
     * @throws IllegalStateException if this is an own stream that is closed
     */
    public boolean await(Duration timeout) {
        long longest = Deadlines.nanos(timeout);
        long start = System.nanoTime();
        for (int looks = 0; !passed(); looks++) {
            long waited = System.nanoTime() - start;
            if (waited >= longest) {
                return false;
            }
            if (Thread.currentThread().isInterrupted()) {
                throw new FerroException(
                        Code.INTERRUPTED,
                        Where.of("", -1),
                        "interrupted after " + waited / 1_000_000 + " ms of waiting for " + this);
            }
            if (looks >= EAGER_LOOKS) {
                LockSupport.parkNanos(NAP_NANOS);
            }
        }
        return true;
    }

    private boolean passed() {
        if (closed.get()) {
            throw new IllegalStateException(this + " is closed: wait before closing");
        }
        int code = DeviceGuard.call(device, () -> Cuda.cudaStreamQuery(handle));
        if (code == Cuda.NOT_READY) {
            return false;
        }
        ResultChecker.cuda(code, "cudaStreamQuery");
        return true;
    }

    /**
     * Destroys an own stream, and does nothing for another stream. Idempotent. A failure is only logged, since the
     * caller cannot react to it.
     */
    @Override
    public void close() {
        if (!owned || !closed.compareAndSet(false, true)) {
            return;
        }
        try {
            ResultChecker.cuda(DeviceGuard.call(device, () -> Cuda.cudaStreamDestroy(handle)), "cudaStreamDestroy");
        } catch (CudaException e) {
            LOG.log(Level.DEBUG, "a stream of device " + device + " could not be destroyed", e);
        }
    }

    @Override
    public String toString() {
        String kind = owned ? "own" : handle == Cuda.DEFAULT_STREAM ? "default" : "caller's";
        return kind + " stream 0x" + Long.toHexString(handle) + " of device " + device;
    }
}
