package ferro.backend.nccl.comm;

import ferro.DeviceTensor;
import ferro.InvalidRankException;
import ferro.ReduceOp;
import ferro.backend.nccl.NcclDevice;
import ferro.backend.nccl.NcclRedOp;
import ferro.backend.nccl.device.CudaStream;
import ferro.backend.nccl.ffi.Cuda;
import ferro.backend.nccl.queue.CommIdentity;
import ferro.backend.nccl.queue.NcclOperation;
import ferro.spi.Deadlines;
import ferro.spi.LeakReport;
import ferro.spi.PlainLoggers;
import ferro.spi.RankContext;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/**
 * One rank of an NCCL communicator, for one process or thread per GPU. {@link NcclComms#split} also creates such ranks.
 *
 * <p>Every rank must make the same calls in the same order, at about the same time. A call fails with TIMED_OUT if
 * another rank does not make the same call within {@code ferro.timeout}. Any thread may call the methods. A separate
 * thread makes the native calls one after the other, and the caller's current device is never changed. After a call
 * that a timeout, an interrupt, an abort or a failure of NCCL has ended, the communicator cannot be used on any rank:
 * close it and join again.
 */
public final class NcclRankComm implements AutoCloseable {
    private static final System.Logger LOG = PlainLoggers.logger("ferro.backend.nccl");

    private static final String GROUP = "nccl";
    private static final int LEAST_WORLD = 2;

    private final Communicator comm;
    private final DirectCaller calls;
    private final LeakReport leak;
    private final NcclAbortHandle abortHandle;
    private CudaStream stream;

    NcclRankComm(DirectCaller calls) {
        this.calls = calls;
        this.comm = calls.comm();
        this.abortHandle = new NcclAbortHandle(comm.handle());
        this.leak = LeakReport.watchAndFree(this, toString(), LOG, comm::close);
    }

    /**
     * Joins as one rank. All ranks must join at the same time.
     *
     * @param context   settings that name the libraries, and {@code ferro.timeout}, which applies to this and every
     *     later call
     * @param rank      this rank
     * @param worldSize number of ranks, at least 2
     * @param id        id that one rank has created, equal on all ranks
     * @param device    ordinal of this rank's device; each rank must have a different device
     * @return communicator
     * @throws InvalidRankException     if {@code rank} is negative or not below {@code worldSize}
     * @throws IllegalArgumentException if {@code worldSize} is below 2
     * @throws ferro.FerroException     NATIVE if a library is missing or NCCL fails, TIMED_OUT if ranks are missing at
     *     the deadline, INTERRUPTED
     */
    public static NcclRankComm init(RankContext context, int rank, int worldSize, NcclUniqueId id, int device) {
        checkWorld(rank, worldSize);
        NcclDevice own = NcclDevice.cuda(device);
        Duration timeout = Deadlines.ofCalls(context);
        CommFactory factory = CommFactory.of(context);
        Communicator comm =
                factory.rank(new CommIdentity(GROUP, rank, worldSize, own.ordinal()), id, factory.deadline(timeout));
        return new NcclRankComm(new DirectCaller(comm, factory.libraries(), timeout));
    }

    private static void checkWorld(int rank, int worldSize) {
        if (rank >= worldSize) {
            throw new InvalidRankException("rank " + rank + " >= world size " + worldSize, rank, worldSize);
        }
        if (worldSize < LEAST_WORLD) {
            throw new IllegalArgumentException("a rank communicator requires world size >= " + LEAST_WORLD + ", found "
                    + worldSize + ": a single rank needs no communicator");
        }
        InvalidRankException.check(rank, worldSize);
    }

    /** {@return this rank, from 0} */
    public int rank() {
        return comm.handle().identity().rank();
    }

    /** {@return the number of ranks, at least 2} */
    public int worldSize() {
        return comm.handle().identity().worldSize();
    }

    /** {@return the ordinal of the device of this rank} */
    public int device() {
        return comm.handle().identity().device();
    }

    /**
     * Returns a non-blocking stream of this communicator that nothing else uses. The first call creates the stream, and
     * {@link #close} frees it.
     *
     * @return handle
     * @throws ferro.FerroException NATIVE if CUDA cannot create the stream
     */
    public synchronized long stream() {
        if (stream == null) {
            stream = comm.makeStream(calls.deadline());
        }
        return stream.handle();
    }

    /**
     * Reduces each tensor over all ranks, in place, in one NCCL group. Starts after the work on the default stream of
     * the device, and returns when the results may be read.
     *
     * @param tensors tensors on this rank's device. Number, types, lengths and order must be the same on every rank. An
     *     empty list does nothing
     * @param op      sum, product, min, max or avg
     * @throws IllegalArgumentException      if a tensor is on another device
     * @throws UnsupportedOperationException if NCCL has no such op or type, or the average of integers would overflow
     * @throws ferro.FerroException          TIMED_OUT, INTERRUPTED, ABORTED or NATIVE
     * @throws IllegalStateException         if this object is closed
     */
    public void allReduce(List<DeviceTensor> tensors, ReduceOp op) {
        reduce(List.copyOf(tensors), op, Cuda.DEFAULT_STREAM, true);
    }

    /**
     * Reduces like {@link #allReduce(List, ReduceOp)}, but on a stream, so that it can overlap with compute on another
     * stream. Returns as soon as NCCL has accepted the call. The tensors must stay alive and unchanged until the stream
     * has finished the call.
     *
     * @param tensors see {@link #allReduce(List, ReduceOp)}
     * @param op      sum, product, min, max or avg
     * @param on      handle of a stream of this rank's device
     * @throws IllegalArgumentException      if a tensor is on another device
     * @throws UnsupportedOperationException if NCCL has no such op or type, or the average of integers would overflow
     * @throws ferro.FerroException          TIMED_OUT, INTERRUPTED, ABORTED or NATIVE
     * @throws IllegalStateException         if this object is closed
     */
    public void allReduce(List<DeviceTensor> tensors, ReduceOp op, long on) {
        reduce(List.copyOf(tensors), op, on, false);
    }

    private void reduce(List<DeviceTensor> tensors, ReduceOp op, long on, boolean wait) {
        String name = NcclOperation.ALL_REDUCE.label();
        // throws for an operation that NCCL lacks, even if the list of tensors is empty
        NcclRedOp.of(op);
        List<CommStream.StreamCaller> made = new ArrayList<>();
        for (DeviceTensor tensor : tensors) {
            made.add(calls.inPlace(NcclOperation.ALL_REDUCE, tensor, op, -1));
            NcclCallChecker.onDevice(name, made.size() - 1, tensor, device());
        }
        comm.checkUsable(NcclOperation.ALL_REDUCE);
        if (!made.isEmpty()) {
            calls.run(
                    NcclOperation.ALL_REDUCE,
                    tensors,
                    (member, handle) -> made.forEach(each -> each.make(handle, on)),
                    wait ? new long[] {on} : null);
        }
    }

    /**
     * Waits until a stream has finished the work that is on it now.
     *
     * @param on handle of a stream of this rank's device; 0 is the default stream
     * @throws ferro.FerroException TIMED_OUT, which aborts the communicator, INTERRUPTED, ABORTED or NATIVE
     */
    public void synchronize(long on) {
        comm.synchronize(new long[] {on}, calls.deadline());
    }

    /** {@return the handle that aborts this communicator from any thread, always the same object} */
    public NcclAbortHandle abortHandle() {
        return abortHandle;
    }

    /** {@return whether an abort has begun, because of the abort handle, a timeout, an interrupt or a failure} */
    public boolean isAborted() {
        return abortHandle().isAborted();
    }

    /** {@return whether this object was closed before an abort; true as soon as the close has begun} */
    public boolean isClosed() {
        return abortHandle().isClosed();
    }

    /** {@return whether this object cannot be used any more; true after an abort and after a close} */
    public boolean isDefunct() {
        return abortHandle().isDefunct();
    }

    /** Closes within limited time. A failure is logged, not thrown. Idempotent; also required after an abort. */
    @Override
    public void close() {
        leak.closed();
        comm.close();
    }

    /** Returns rank and world size only. */
    @Override
    public String toString() {
        return "NcclRankComm[rank " + rank() + " of " + worldSize() + "]";
    }
}
