package ferro.backend.nccl.queue;

import ferro.backend.nccl.CudaException;
import ferro.backend.nccl.ffi.Cuda;
import ferro.backend.nccl.ffi.ResultChecker;
import java.util.ArrayDeque;
import java.util.Deque;

/** Events of one device, which are reused. Only the thread of the device may call this class. */
public final class EventPool {
    private final Deque<Long> idle = new ArrayDeque<>();

    /**
     * Records an event on a stream; 0 is the default stream of the current device. The caller must call {@link
     * #giveBack} later.
     */
    public long record(long stream) {
        long event = idle.isEmpty() ? make() : idle.pop();
        try {
            ResultChecker.cuda(Cuda.cudaEventRecord(event, stream), "cudaEventRecord");
        } catch (CudaException e) {
            idle.push(event);
            throw e;
        }
        return event;
    }

    /** Makes later work of stream {@code later} wait for the work that is now on stream {@code before}. */
    public void order(long before, long later) {
        if (before == later) {
            return;
        }
        long event = record(before);
        try {
            ResultChecker.cuda(Cuda.cudaStreamWaitEvent(later, event, 0), "cudaStreamWaitEvent");
        } finally {
            // the stream waits for the current recording of the event, so the event may be recorded again at once
            giveBack(event);
        }
    }

    private static long make() {
        long[] event = new long[1];
        ResultChecker.cuda(Cuda.cudaEventCreateWithFlags(event, Cuda.EVENT_DISABLE_TIMING), "cudaEventCreateWithFlags");
        return event[0];
    }

    /** Returns whether the stream has completed the event. */
    public boolean passed(long event) {
        int code = Cuda.cudaEventQuery(event);
        if (code == Cuda.NOT_READY) {
            // clears the code: otherwise it would be the last error of this thread, which NCCL reads
            Cuda.cudaGetLastError();
            return false;
        }
        ResultChecker.cuda(code, "cudaEventQuery");
        return true;
    }

    /** Takes an event back, even if it has not completed: the next recording replaces the current recording. */
    public void giveBack(long event) {
        idle.push(event);
    }

    /**
     * Frees all events. If freeing an event fails, the remaining events are not freed, because the device is then
     * faulty.
     */
    public void close() {
        while (!idle.isEmpty()) {
            ResultChecker.cuda(Cuda.cudaEventDestroy(idle.pop()), "cudaEventDestroy");
        }
    }
}
