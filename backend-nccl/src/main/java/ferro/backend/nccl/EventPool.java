package ferro.backend.nccl;

import ferro.backend.nccl.ffi.Cuda;
import java.util.ArrayDeque;
import java.util.Deque;

/** Events of one device, made once and used again; only for the thread of that device. */
final class EventPool {
    private final Deque<Long> idle = new ArrayDeque<>();

    /**
     * Marks where a stream is now.
     *
     * @param stream handle; 0 is the default stream of the current device
     * @return event, to be given back
     */
    long record(long stream) {
        long event = idle.isEmpty() ? make() : idle.pop();
        try {
            Checks.cuda(Cuda.cudaEventRecord(event, stream), "cudaEventRecord");
        } catch (CudaException e) {
            idle.push(event);
            throw e;
        }
        return event;
    }

    private static long make() {
        long[] event = new long[1];
        Checks.cuda(Cuda.cudaEventCreateWithFlags(event, Cuda.EVENT_DISABLE_TIMING), "cudaEventCreateWithFlags");
        return event[0];
    }

    /** Returns whether the stream has come past the mark. */
    boolean passed(long event) {
        int code = Cuda.cudaEventQuery(event);
        if (code == Cuda.NOT_READY) {
            // it stays behind as the last error of this thread, where NCCL would find it
            Cuda.cudaGetLastError();
            return false;
        }
        Checks.cuda(code, "cudaEventQuery");
        return true;
    }

    /** Takes back an event, passed or not: recording it again moves the mark. */
    void giveBack(long event) {
        idle.push(event);
    }

    /** Frees all; a failure leaves the rest, the device is in trouble then. */
    void close() {
        while (!idle.isEmpty()) {
            Checks.cuda(Cuda.cudaEventDestroy(idle.pop()), "cudaEventDestroy");
        }
    }
}
