package ferro.backend.nccl.comm;

import ferro.DeviceTensor;
import ferro.InvalidRankException;
import ferro.ReduceOp;
import ferro.backend.nccl.NcclDevice;
import ferro.backend.nccl.queue.NcclOperation;
import ferro.spi.Deadlines;
import ferro.spi.LeakReport;
import ferro.spi.PlainLoggers;
import ferro.spi.RankContext;
import java.time.Duration;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * The communicators of several GPUs of this process, used together: one call covers all devices.
 *
 * <p>One thread creates the communicators and makes every call for all of them, until {@link #split} gives each
 * communicator a new thread. Splitting is the recommended way to get communicators for the ranks of one process.
 * Creating each communicator on a separate thread corrupts CUDA's context on hosts with several models of GPU. Any
 * thread may call the methods. The caller's current device is never changed.
 *
 * <p>Each call has the timeout {@code ferro.timeout}. After an aborted call, none of these communicators can be used:
 * close them and create new ones.
 */
public final class NcclComms implements AutoCloseable {
    private static final System.Logger LOG = PlainLoggers.logger("ferro.backend.nccl");

    private static final String GROUP = "comms";
    private static final int LEAST_DEVICES = 2;
    private static final int NO_ROOT = -1;

    private final DirectCaller calls;
    private final List<NcclDevice> devices;
    private final LeakReport leak;
    private boolean split;

    private NcclComms(DirectCaller calls, List<NcclDevice> devices) {
        this.calls = calls;
        this.devices = devices;
        this.leak = LeakReport.watchAndFree(this, toString(), LOG, calls.comm()::close);
    }

    /**
     * Creates one communicator per device.
     *
     * @param context settings that name the libraries, and {@code ferro.timeout}, which applies to this and every later
     *     call
     * @param devices at least two different GPUs; rank i is on the i-th GPU
     * @return communicators
     * @throws IllegalArgumentException if there are fewer than two devices; if one is not a GPU; or if one appears
     *     twice; checked in this order
     * @throws ferro.FerroException     NATIVE if a library is missing or NCCL fails, TIMED_OUT, INTERRUPTED
     */
    public static NcclComms create(RankContext context, List<NcclDevice> devices) {
        List<NcclDevice> copy = List.copyOf(devices);
        int[] ordinals = checked(copy);
        Duration timeout = Deadlines.ofCalls(context);
        CommFactory factory = CommFactory.of(context);
        Communicator comm = factory.all(GROUP, ordinals, factory.deadline(timeout));
        return new NcclComms(new DirectCaller(comm, factory.libraries(), timeout), copy);
    }

    private static int[] checked(List<NcclDevice> devices) {
        if (devices.size() < LEAST_DEVICES) {
            throw new IllegalArgumentException("communicators of one process need at least 2 devices, got "
                    + devices.size() + ": a single device needs no communicator");
        }
        for (int i = 0; i < devices.size(); i++) {
            if (devices.get(i).kind() != NcclDevice.DeviceKind.CUDA) {
                throw new IllegalArgumentException(
                        "NCCL requires CUDA devices, got " + devices.get(i) + " at index " + i + ": name GPUs only");
            }
        }
        Map<Integer, Integer> indexes = new HashMap<>();
        for (int i = 0; i < devices.size(); i++) {
            int ordinal = devices.get(i).ordinal();
            Integer before = indexes.put(ordinal, i);
            if (before != null) {
                throw new IllegalArgumentException("device " + ordinal + " is named at index " + before
                        + " and at index " + i + ": each device can have only one rank");
            }
        }
        return devices.stream().mapToInt(NcclDevice::ordinal).toArray();
    }

    /** {@return the number of devices, at least 2} */
    public int size() {
        return devices.size();
    }

    /** {@return the devices, rank by rank, unmodifiable, in the order given to {@link #create}} */
    public List<NcclDevice> devices() {
        return devices;
    }

    /**
     * Reduces over all devices, in place. Starts after the work on the default stream of each device, and returns when
     * the results may be read.
     *
     * @param tensors one tensor for each device, in the order of {@link #devices}, all of the same shape and type
     * @param op      sum, product, min, max or avg
     * @throws IllegalArgumentException      if the number of tensors, or a shape, type or device, is wrong
     * @throws UnsupportedOperationException if NCCL has no such op or type, or the average of integers would overflow
     * @throws ferro.FerroException          TIMED_OUT, INTERRUPTED, ABORTED or NATIVE
     * @throws IllegalStateException         if this object is closed or split
     */
    public void allReduce(List<DeviceTensor> tensors, ReduceOp op) {
        run(NcclOperation.ALL_REDUCE, List.copyOf(tensors), op, NO_ROOT, null);
    }

    /**
     * Reduces like {@link #allReduce(List, ReduceOp)}, but on a stream of each device. Returns as soon as NCCL has
     * accepted the call. The tensors must stay alive and unchanged until the streams have finished the call.
     *
     * @param tensors see {@link #allReduce(List, ReduceOp)}
     * @param op      sum, product, min, max or avg
     * @param streams one stream handle for each device
     * @throws IllegalArgumentException      if the number of tensors or streams, or a shape, type or device, is wrong
     * @throws UnsupportedOperationException if NCCL has no such op or type, or the average of integers would overflow
     * @throws ferro.FerroException          TIMED_OUT, INTERRUPTED, ABORTED or NATIVE
     * @throws IllegalStateException         if this object is closed or split
     */
    public void allReduce(List<DeviceTensor> tensors, ReduceOp op, long... streams) {
        run(NcclOperation.ALL_REDUCE, List.copyOf(tensors), op, NO_ROOT, streams.clone());
    }

    /**
     * Copies the tensor of one device to all others, in place. Starts after the work on the default stream of each
     * device, and returns when the results may be read.
     *
     * @param tensors one tensor for each device, in the order of {@link #devices}, all of the same shape and type
     * @param root    index of the device that has the values
     * @throws InvalidRankException          if there is no such device
     * @throws IllegalArgumentException      if the number of tensors, or a shape, type or device, is wrong
     * @throws UnsupportedOperationException if NCCL has no such type
     * @throws ferro.FerroException          TIMED_OUT, INTERRUPTED, ABORTED or NATIVE
     * @throws IllegalStateException         if this object is closed or split
     */
    public void broadcast(List<DeviceTensor> tensors, int root) {
        run(NcclOperation.BROADCAST, List.copyOf(tensors), null, root, null);
    }

    /**
     * Copies like {@link #broadcast(List, int)}, but on a stream of each device. Returns as soon as NCCL has accepted
     * the call. The tensors must stay alive and unchanged until the streams have finished the call.
     *
     * @param tensors see {@link #broadcast(List, int)}
     * @param root    index of the device that has the values
     * @param streams one stream handle for each device
     * @throws InvalidRankException          if there is no such device
     * @throws IllegalArgumentException      if the number of tensors or streams, or a shape, type or device, is wrong
     * @throws UnsupportedOperationException if NCCL has no such type
     * @throws ferro.FerroException          TIMED_OUT, INTERRUPTED, ABORTED or NATIVE
     * @throws IllegalStateException         if this object is closed or split
     */
    public void broadcast(List<DeviceTensor> tensors, int root, long... streams) {
        run(NcclOperation.BROADCAST, List.copyOf(tensors), null, root, streams.clone());
    }

    /**
     * Makes a collective in place on the given streams. If {@code streams} is null, uses the default streams and waits
     * for them.
     */
    private void run(NcclOperation operation, List<DeviceTensor> tensors, ReduceOp op, int root, long[] streams) {
        checkWhole(operation);
        String name = operation.label();
        checkCount(name, "tensors", tensors.size());
        if (operation == NcclOperation.BROADCAST && (root < 0 || root >= size())) {
            throw new InvalidRankException(
                    name + ": root " + root + " out of range (have " + size() + " devices)", root, size());
        }
        checkAlike(name, tensors);
        // 0 is the default stream
        long[] on = streams == null ? new long[size()] : streams;
        checkCount(name, "streams", on.length);
        List<CommStream.StreamCaller> made = tensors.stream()
                .map(tensor -> calls.inPlace(operation, tensor, op, root))
                .toList();
        calls.run(
                operation,
                tensors,
                (member, handle) -> made.get(member).make(handle, on[member]),
                streams == null ? on : null);
    }

    private void checkCount(String operation, String what, int count) {
        if (count != size()) {
            throw new IllegalArgumentException(
                    operation + ": expected " + size() + " " + what + " (one per device), got " + count);
        }
    }

    private void checkAlike(String operation, List<DeviceTensor> tensors) {
        DeviceTensor first = tensors.get(0);
        for (int i = 0; i < tensors.size(); i++) {
            DeviceTensor one = tensors.get(i);
            if (one.dataType() != first.dataType() || !Arrays.equals(one.shape(), first.shape())) {
                throw new IllegalArgumentException(operation + ": tensor " + i + " is " + typed(one) + ", tensor 0 is "
                        + typed(first) + ": all must have one type and shape");
            }
            NcclCallChecker.onDevice(operation, i, one, devices.get(i).ordinal());
        }
        calls.checks().code(first.dataType());
    }

    private static String typed(DeviceTensor tensor) {
        return tensor.dataType().label() + Arrays.toString(tensor.shape());
    }

    /**
     * Splits this object into one {@link NcclRankComm} for each device, each with a new thread. After this call, this
     * object cannot be used, even if the call fails. Later calls on this object fail, and its close does nothing. If
     * the split fails, all communicators are closed.
     *
     * @return communicators, rank i on device i; the caller closes each
     * @throws ferro.FerroException  NATIVE, TIMED_OUT, ABORTED or INTERRUPTED
     * @throws IllegalStateException if this object is closed or split
     */
    public List<NcclRankComm> split() {
        synchronized (this) {
            checkWhole(NcclOperation.SPLIT);
            calls.comm().checkUsable(NcclOperation.SPLIT);
            split = true;
        }
        leak.closed();
        return calls.comm().split(calls.deadline()).stream()
                .map(part -> new NcclRankComm(calls.of(part)))
                .toList();
    }

    private synchronized void checkWhole(NcclOperation operation) {
        if (split) {
            throw new IllegalStateException(operation.label() + ": the group of " + size()
                    + " devices is split: use the rank communicators that split() returned");
        }
    }

    /** Closes all communicators in limited time. Only logs failures. Idempotent; does nothing after {@link #split}. */
    @Override
    public void close() {
        leak.closed();
        calls.comm().close();
    }

    /** Returns the devices. */
    @Override
    public String toString() {
        return "NcclComms" + devices;
    }
}
