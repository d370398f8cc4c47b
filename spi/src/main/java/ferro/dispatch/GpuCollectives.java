package ferro.dispatch;

import ferro.Backend;
import ferro.Collective;
import ferro.CollectiveBackend;
import ferro.DeviceTensor;
import ferro.ReduceOp;
import ferro.Work;
import ferro.dispatch.HostFallback.Message;
import ferro.spi.RankContext;
import java.time.Duration;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Supplier;

/**
 * Collectives on device tensors: over NCCL, or through host memory if a setting allows it, else an error.
 *
 * <p>Where a call goes, for every kind and in this order:
 * <ol>
 *   <li>{@code backend.asNcclBackend()} is there: from device to device. A failure there is final, never tried again over 2.
 *   <li>{@code ferro.gpu.fallback} (else {@code FERRO_ENABLE_GPU_FALLBACK}) is on, a {@link HostFallback} is on the class
 *       path and the back end has collectives: device to host, the collective, host to device. Every such call warns on the
 *       logger {@code ferro.gpu.fallback}, counts in {@link #fallbackCount} and is a JFR event {@code ferro.GpuFallback}.
 *   <li>Neither: {@link UnsupportedOperationException} that says how to get one of them.
 * </ol>
 *
 * <p>{@link #run} and {@link #submit} work in place or into the tensors of the call. The others leave their input as it is and
 * return a fresh tensor on the same device, whose owner frees it: hand it to {@link #free}. A blocking form returns when the
 * result may be read from any stream. Parts are joined and cut along the first dimension.
 *
 * <p>Every rank makes the same call with the same type, length, op and root; tensors are on the device that the rank drives,
 * stay reachable and are not touched until the call is done.
 *
 * <p>Failures, for all forms. Before anything moves or is allocated: {@link ferro.InvalidRankException} for a root that is no
 * rank (checked first), {@link UnsupportedOperationException} for a type, op or form that the path does not take, or where
 * there is no path, IllegalArgumentException for shapes, places and tensors that overlap ({@link ferro.Collective#check}),
 * IllegalStateException for a tensor on another device than NCCL's. IllegalArgumentException "D2D clone failed" with its cause if the fresh tensor cannot be made on the NCCL path. Then
 * {@link ferro.FerroTransferException} if the result of a round trip cannot be copied back, and {@link ferro.FerroException}
 * for what goes wrong under way. A fresh tensor of a failed call is freed.
 *
 * <p>Thread-safe.
 */
public final class GpuCollectives implements AutoCloseable {
    private final SlowPath slow;
    private final Duration deadline;

    private GpuCollectives(SlowPath slow, Duration deadline) {
        this.slow = slow;
        this.deadline = deadline;
    }

    /**
     * Makes a door that reads its settings from a context, on every call.
     *
     * @param context settings, and what the groups of this rank share
     * @return door; closing it gives back the context's device memory
     */
    public static GpuCollectives with(RankContext context) {
        return with(context, SlowPath::service, System.getLogger("ferro.gpu.fallback"));
    }

    static GpuCollectives with(RankContext context, Supplier<Optional<HostFallback>> finds, System.Logger log) {
        return new GpuCollectives(new SlowPath(Objects.requireNonNull(context, "context"), finds, log), null);
    }

    /**
     * Returns whether calls on device tensors can have a way over a back end: it drives NCCL, or a {@link HostFallback} is on the
     * class path. Where neither is so, {@link #over} adds nothing but the refusal.
     *
     * @param backend where
     * @return whether there is one to look for, whatever the gate says
     */
    public static boolean hasWay(CollectiveBackend backend) {
        return Objects.requireNonNull(backend, "backend").asNcclBackend().isPresent() || SlowPath.isThere();
    }

    /**
     * Puts this door in front of a back end: calls on device tensors go where this class says, and calls on host tensors keep
     * their place behind those that still go through host memory.
     *
     * @param backend takes the calls on host tensors, as they are
     * @return back end; closing it closes {@code backend} and this door
     */
    public CollectiveBackend over(CollectiveBackend backend) {
        return new DispatchingBackend(backend, this, slow.context());
    }

    /**
     * Returns a view with a deadline of its own; without one, calls that name none have the back end's.
     *
     * @param timeout for each call, from its start to its end; more than a century is none
     * @return view of this door; closing either closes both
     * @throws IllegalArgumentException if it is zero or negative
     */
    public GpuCollectives within(Duration timeout) {
        Objects.requireNonNull(timeout, "timeout");
        if (timeout.isZero() || timeout.isNegative()) {
            throw new IllegalArgumentException("a deadline must be more than zero, found " + timeout);
        }
        return new GpuCollectives(slow, timeout);
    }

    /**
     * Runs a collective to its end, in place or into the tensors that it has.
     *
     * @param call    operation on device tensors
     * @param backend where
     * @param timeout from now to the end
     */
    public void run(Collective call, Backend backend, Duration timeout) {
        Objects.requireNonNull(call, "call");
        Objects.requireNonNull(timeout, "timeout");
        dispatch(backend).open(call).run(call, timeout);
    }

    /**
     * Starts a collective, in place or into the tensors that it has.
     *
     * @param call    operation on device tensors
     * @param backend where
     * @param timeout from now to the end
     * @return handle
     */
    public Work submit(Collective call, Backend backend, Duration timeout) {
        Objects.requireNonNull(call, "call");
        Objects.requireNonNull(timeout, "timeout");
        return dispatch(backend).open(call).submit(call, timeout);
    }

    /**
     * Returns whether calls through host memory, by any door of this context, are still to be handed over to a back end.
     *
     * @param backend  where the host tensors go
     * @param patience how long to wait for it to become false; zero only looks
     * @return true if a call on host tensors must go by {@link #behind} now, to keep its place in the order
     */
    public boolean isBusy(CollectiveBackend backend, Duration patience) {
        Objects.requireNonNull(backend, "backend");
        Objects.requireNonNull(patience, "patience");
        return slow.isBusy(backend, patience);
    }

    /**
     * Queues a call on host tensors behind the calls through host memory that are still to be handed over; only after
     * {@link #isBusy} has said so.
     *
     * @param call    operation on host tensors
     * @param backend where
     * @param timeout from now to the end
     * @return handle
     * @throws IllegalStateException if no call of this context has gone through host memory
     */
    public Work behind(Collective call, CollectiveBackend backend, Duration timeout) {
        Objects.requireNonNull(call, "call");
        Objects.requireNonNull(backend, "backend");
        Objects.requireNonNull(timeout, "timeout");
        return slow.behind(call, backend, timeout);
    }

    /**
     * Starts a send or a receive of a device tensor; over NCCL the tag must be 0.
     *
     * @param message what, with whom
     * @param backend where
     * @param timeout from now to the end
     * @return handle
     */
    public Work transfer(Message message, Backend backend, Duration timeout) {
        Objects.requireNonNull(message, "message");
        Objects.requireNonNull(timeout, "timeout");
        return dispatch(backend).open(message).transfer(message, timeout);
    }

    /**
     * Sends a device tensor with tag 0.
     *
     * @param tensor  what
     * @param to      rank
     * @param backend where
     */
    public void send(DeviceTensor tensor, int to, Backend backend) {
        transfer(new Message(true, tensor, to, 0), backend, timeout(backend)).await();
    }

    /**
     * Receives a device tensor with tag 0.
     *
     * @param tensor  where to
     * @param from    rank
     * @param backend where
     */
    public void recv(DeviceTensor tensor, int from, Backend backend) {
        transfer(new Message(false, tensor, from, 0), backend, timeout(backend)).await();
    }

    /**
     * Combines the tensors of all ranks, element by element.
     *
     * @param in      operand, left as it is
     * @param op      how
     * @param backend where
     * @return fresh tensor of the same shape
     */
    public DeviceTensor allReduce(DeviceTensor in, ReduceOp op, Backend backend) {
        return FreshCall.allReduce(dispatch(backend), in, op).run();
    }

    /**
     * Starts {@link #allReduce}.
     *
     * @param in      operand, left as it is
     * @param op      how
     * @param backend where
     * @return fresh tensor of the same shape, and the handle
     */
    public FreshResult allReduceAsync(DeviceTensor in, ReduceOp op, Backend backend) {
        return FreshCall.allReduce(dispatch(backend), in, op).submit();
    }

    /**
     * Copies the root's tensor.
     *
     * @param in      read on the root; elsewhere only its type, shape and device count
     * @param root    owner
     * @param backend where
     * @return fresh tensor of the same shape, on the root too
     */
    public DeviceTensor broadcast(DeviceTensor in, int root, Backend backend) {
        return FreshCall.broadcast(dispatch(backend), in, root).run();
    }

    /**
     * Starts {@link #broadcast}.
     *
     * @param in      read on the root; elsewhere only its type, shape and device count
     * @param root    owner
     * @param backend where
     * @return fresh tensor of the same shape, and the handle
     */
    public FreshResult broadcastAsync(DeviceTensor in, int root, Backend backend) {
        return FreshCall.broadcast(dispatch(backend), in, root).submit();
    }

    /**
     * Combines the tensors of all ranks for the root.
     *
     * @param in      operand, left as it is
     * @param op      how
     * @param root    receiver
     * @param backend where
     * @return fresh tensor of the same shape on the root, empty elsewhere
     */
    public Optional<DeviceTensor> reduce(DeviceTensor in, ReduceOp op, int root, Backend backend) {
        return Optional.ofNullable(
                FreshCall.reduce(dispatch(backend), in, op, root).run());
    }

    /**
     * Starts {@link #reduce}.
     *
     * @param in      operand, left as it is
     * @param op      how
     * @param root    receiver
     * @param backend where
     * @return fresh tensor of the same shape on the root, null elsewhere, and the handle
     */
    public FreshResult reduceAsync(DeviceTensor in, ReduceOp op, int root, Backend backend) {
        return FreshCall.reduce(dispatch(backend), in, op, root).submit();
    }

    /**
     * Joins the tensors of all ranks, in rank order.
     *
     * @param in      own part, {@code [n, ...]}
     * @param backend where
     * @return fresh tensor {@code [worldSize * n, ...]}
     */
    public DeviceTensor allGather(DeviceTensor in, Backend backend) {
        return FreshCall.allGather(dispatch(backend), in).run();
    }

    /**
     * Starts {@link #allGather}.
     *
     * @param in      own part
     * @param backend where
     * @return fresh tensor of all parts, and the handle
     */
    public FreshResult allGatherAsync(DeviceTensor in, Backend backend) {
        return FreshCall.allGather(dispatch(backend), in).submit();
    }

    /**
     * Combines the tensors of all ranks and leaves part r on rank r.
     *
     * @param in      all parts, {@code [worldSize * n, ...]}, left as they are
     * @param op      how
     * @param backend where
     * @return fresh tensor {@code [n, ...]}; one-dimensional if only the element count divides by the world size
     */
    public DeviceTensor reduceScatter(DeviceTensor in, ReduceOp op, Backend backend) {
        return FreshCall.reduceScatter(dispatch(backend), in, op).run();
    }

    /**
     * Starts {@link #reduceScatter}.
     *
     * @param in      all parts, left as they are
     * @param op      how
     * @param backend where
     * @return fresh tensor of the own part, and the handle
     */
    public FreshResult reduceScatterAsync(DeviceTensor in, ReduceOp op, Backend backend) {
        return FreshCall.reduceScatter(dispatch(backend), in, op).submit();
    }

    /**
     * Joins the tensors of all ranks, in rank order, for the root.
     *
     * @param in      own part, {@code [n, ...]}
     * @param root    receiver
     * @param backend where
     * @return fresh tensor {@code [worldSize * n, ...]} on the root, empty elsewhere
     */
    public Optional<DeviceTensor> gather(DeviceTensor in, int root, Backend backend) {
        return Optional.ofNullable(FreshCall.gather(dispatch(backend), in, root).run());
    }

    /**
     * Starts {@link #gather}.
     *
     * @param in      own part
     * @param root    receiver
     * @param backend where
     * @return fresh tensor of all parts on the root, null elsewhere, and the handle
     */
    public FreshResult gatherAsync(DeviceTensor in, int root, Backend backend) {
        return FreshCall.gather(dispatch(backend), in, root).submit();
    }

    /**
     * Hands part r of the root's tensor to rank r.
     *
     * @param in      all parts, {@code [worldSize * n, ...]}; off the root only its type, shape and device count, so that a
     *     tensor with address 0 will do
     * @param root    owner
     * @param backend where
     * @return fresh tensor {@code [n, ...]}; one-dimensional if only the element count divides by the world size
     */
    public DeviceTensor scatter(DeviceTensor in, int root, Backend backend) {
        return FreshCall.scatter(dispatch(backend), in, root).run();
    }

    /**
     * Starts {@link #scatter}.
     *
     * @param in      all parts; off the root only its type, shape and device count
     * @param root    owner
     * @param backend where
     * @return fresh tensor of the own part, and the handle
     */
    public FreshResult scatterAsync(DeviceTensor in, int root, Backend backend) {
        return FreshCall.scatter(dispatch(backend), in, root).submit();
    }

    /**
     * Sends part j of each rank's tensor to rank j.
     *
     * @param in      parts by destination, {@code [worldSize * n, ...]}, left as they are
     * @param backend where
     * @return fresh tensor of the same shape, parts by source
     */
    public DeviceTensor allToAll(DeviceTensor in, Backend backend) {
        return FreshCall.allToAll(dispatch(backend), in).run();
    }

    /**
     * Starts {@link #allToAll}.
     *
     * @param in      parts by destination, left as they are
     * @param backend where
     * @return fresh tensor of the same shape, and the handle
     */
    public FreshResult allToAllAsync(DeviceTensor in, Backend backend) {
        return FreshCall.allToAll(dispatch(backend), in).submit();
    }

    /**
     * Returns how often a collective went through host memory, in all groups of this context.
     *
     * @param collective as {@link ferro.CollectiveKind#label} has it, for example {@code allReduce}; {@code send} and {@code recv} too
     * @return count
     */
    public long fallbackCount(String collective) {
        return slow.calls().count(Objects.requireNonNull(collective, "collective"));
    }

    /**
     * Frees a tensor by its owner; for those that the forms with a fresh result return.
     *
     * @param tensor its owner must be AutoCloseable, as all have that ferro allocated
     * @throws IllegalArgumentException if the owner is not AutoCloseable, so that somebody else frees it
     * @throws IllegalStateException    if the owner fails, with its failure as cause
     */
    public static void free(DeviceTensor tensor) {
        if (!(Objects.requireNonNull(tensor, "tensor").owner() instanceof AutoCloseable owner)) {
            throw new IllegalArgumentException("cannot free " + tensor + ": its owner is " + tensor.owner()
                    + ", which is not AutoCloseable: whoever allocated it must free it");
        }
        try {
            owner.close();
        } catch (RuntimeException failure) {
            throw failure;
        } catch (Exception failure) {
            throw new IllegalStateException("cannot free " + tensor + ": " + failure.getMessage(), failure);
        }
    }

    /** Gives back the context's device memory, where a round trip took it; fresh tensors stay. Idempotent. */
    @Override
    public void close() {
        slow.close();
    }

    private Duration timeout(Backend backend) {
        return deadline == null ? Objects.requireNonNull(backend, "backend").timeout() : deadline;
    }

    Dispatch dispatch(Backend backend) {
        return new Dispatch(slow, backend, deadline);
    }
}
