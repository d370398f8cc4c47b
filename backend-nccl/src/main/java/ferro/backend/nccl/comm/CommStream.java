package ferro.backend.nccl.comm;

import ferro.backend.nccl.ffi.Cuda;
import ferro.backend.nccl.queue.DeviceThread;
import ferro.backend.nccl.queue.NcclOperation;

/**
 * One communicator and the stream of its operations, used by the jobs of the queue. All methods run on the {@link
 * DeviceThread}.
 *
 * @param comm   communicator of one member
 * @param stream handle; 0 is the default stream
 */
record CommStream(Communicator comm, long stream) {
    private static final int MEMBER = 0;

    /** Native calls of NCCL on this stream. */
    @FunctionalInterface
    interface StreamCaller {
        /** Makes the calls of an ncclComm_t on a stream. */
        void make(long comm, long stream);
    }

    /** Makes native calls, if the communicator may still be used. */
    void call(NcclOperation operation, StreamCaller body) {
        CommHandle handle = comm.handle();
        long address = handle.enter(operation);
        try {
            comm.thread().use(handle.identity().device());
            body.make(address, stream);
        } finally {
            handle.leave();
        }
    }

    /**
     * Makes the stream wait for the work that is now on the device's default stream. A kernel on the default stream may
     * still be filling the tensors, and a non-blocking stream is not ordered with the default stream.
     */
    void afterDefaultStream() {
        comm.thread().use(comm.handle().identity().device());
        order(Cuda.DEFAULT_STREAM, stream);
    }

    /** Makes later work of stream {@code later} wait for the work that is now on stream {@code before}. */
    void order(long before, long later) {
        comm.events(MEMBER).order(before, later);
    }

    /** Records an event on the stream. The caller must call {@link #giveBack} later. */
    long recordEvent() {
        return comm.events(MEMBER).record(stream);
    }

    boolean passed(long event) {
        return comm.events(MEMBER).passed(event);
    }

    void giveBack(long event) {
        comm.events(MEMBER).giveBack(event);
    }
}
