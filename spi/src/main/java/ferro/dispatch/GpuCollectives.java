package ferro.dispatch;

import ferro.Backend;
import ferro.CallOptions;
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
 * <p>The route of a call, for every kind and in this order:
 * <ol>
 *   <li>If {@code backend.asNcclBackend()} is present: from device to device. A failure there is final; route 2 is not
 *       tried.
 *   <li>If {@code ferro.gpu.fallback} (else {@code FERRO_ENABLE_GPU_FALLBACK}) is on, a {@link HostFallback} is on the class
 *       path and the back end has collectives: device to host, the collective, host to device. Every such call warns on the
 *       logger {@code ferro.gpu.fallback}, counts in {@link #fallbackCount} and is a JFR event {@code ferro.GpuFallback}.
 *   <li>Else: {@link UnsupportedOperationException} that says how to get route 1 or 2.
 * </ol>
 *
 * <p>{@link #run} and {@link #submit} work in place or into the tensors of the call. The other collectives do not change
 * their input and return a fresh tensor on the same device, which its owner frees: pass it to {@link #free}. A blocking
 * form returns when the result may be read from any stream. Parts are joined and divided along the first dimension.
 *
 * <p>Every rank makes the same call with the same type, length, op and root. Tensors are on the device of the rank and stay
 * reachable; the caller does not use them until the call is done.
 *
 * <p>Failures, for all forms. Before any data moves and before memory is allocated: {@link ferro.InvalidRankException} for
 * a root that is not a rank (checked first); {@link UnsupportedOperationException} for a type, op or form that the path
 * does not support, or if there is no path; IllegalArgumentException for shapes, places and tensors that overlap
 * ({@link ferro.Collective#check}); IllegalStateException for a tensor that is not on NCCL's device. Then:
 * IllegalArgumentException "D2D clone failed" with its cause if the fresh tensor cannot be made on the NCCL path;
 * {@link ferro.FerroTransferException} if the result of a round trip cannot be copied back; {@link ferro.FerroException}
 * for failures during the call. A fresh tensor of a failed call is freed.
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
     * Makes an instance that reads its settings from a context on every call.
     *
     * @param context settings, and the objects that the groups of this rank share
     * @return instance; closing it releases the context's device memory
     */
    public static GpuCollectives with(RankContext context) {
        return with(context, SlowPath::service, System.getLogger("ferro.gpu.fallback"));
    }

    static GpuCollectives with(RankContext context, Supplier<Optional<HostFallback>> finds, System.Logger log) {
        return new GpuCollectives(new SlowPath(Objects.requireNonNull(context, "context"), finds, log), null);
    }

    /**
     * Returns whether calls on device tensors can have a route over a back end: it uses NCCL, or a {@link HostFallback} is
     * on the class path. Otherwise {@link #over} adds only the refusal.
     *
     * @param backend back end
     * @return whether a route can exist, whether the gate is open or not
     */
    public static boolean hasWay(CollectiveBackend backend) {
        return Objects.requireNonNull(backend, "backend").asNcclBackend().isPresent() || SlowPath.isThere();
    }

    /**
     * Wraps a back end so that it also takes device tensors. Calls on device tensors take the route that this class
     * chooses. Calls on host tensors keep their place in the order behind pending calls through host memory.
     *
     * @param backend takes the calls on host tensors, unchanged
     * @return back end; closing it closes {@code backend} and this object
     */
    public CollectiveBackend over(CollectiveBackend backend) {
        return new DispatchingBackend(backend, this, slow.context());
    }

    /**
     * Returns a view with a timeout of its own. Without it, calls that are given no timeout use that of the back end.
     *
     * @param timeout for each call, from its start to its end; more than a century means no timeout
     * @return view of this object; closing either closes both
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
     * Runs a collective to its end, in place or into the tensors of the call.
     *
     * @param call    operation on device tensors
     * @param backend back end
     * @param timeout from now to the end
     */
    public void run(Collective call, Backend backend, Duration timeout) {
        Objects.requireNonNull(call, "call");
        Objects.requireNonNull(timeout, "timeout");
        CallOptions options = CallOptions.of(timeout);
        dispatch(backend, options).open(call).run(call, options);
    }

    /**
     * Starts a collective, in place or into the tensors of the call.
     *
     * @param call    operation on device tensors
     * @param backend back end
     * @param timeout from now to the end
     * @return handle
     */
    public Work submit(Collective call, Backend backend, Duration timeout) {
        Objects.requireNonNull(call, "call");
        Objects.requireNonNull(timeout, "timeout");
        CallOptions options = CallOptions.of(timeout);
        return dispatch(backend, options).open(call).submit(call, options);
    }

    /**
     * Returns whether calls through host memory, by any instance of this context, are still to be handed over to a back end.
     *
     * @param backend  back end for the host tensors
     * @param patience longest wait for it to become false; zero does not wait
     * @return true if a call on host tensors must now use {@link #behind}, to keep its place in the order
     */
    public boolean isBusy(CollectiveBackend backend, Duration patience) {
        Objects.requireNonNull(backend, "backend");
        Objects.requireNonNull(patience, "patience");
        return slow.isBusy(backend, patience);
    }

    /**
     * Queues a call on host tensors behind the calls through host memory that are still to be handed over. Call it only
     * after {@link #isBusy} has returned true.
     *
     * @param call    operation on host tensors
     * @param backend back end
     * @param timeout from now to the end
     * @return handle
     * @throws IllegalStateException if no call of this context has gone through host memory
     */
    public Work behind(Collective call, CollectiveBackend backend, Duration timeout) {
        Objects.requireNonNull(call, "call");
        Objects.requireNonNull(backend, "backend");
        Objects.requireNonNull(timeout, "timeout");
        return behind(call, backend, CallOptions.of(timeout));
    }

    Work behind(Collective call, CollectiveBackend backend, CallOptions options) {
        return slow.behind(call, backend, options);
    }

    /**
     * Starts a send or a receive of a device tensor; over NCCL the tag must be 0.
     *
     * @param message tensor, peer and tag
     * @param backend back end
     * @param timeout from now to the end
     * @return handle
     */
    public Work transfer(Message message, Backend backend, Duration timeout) {
        Objects.requireNonNull(message, "message");
        Objects.requireNonNull(timeout, "timeout");
        CallOptions options = CallOptions.of(timeout);
        return dispatch(backend, options).open(message).transfer(message, options);
    }

    /**
     * Sends a device tensor with tag 0.
     *
     * @param tensor  data
     * @param to      rank
     * @param backend back end
     */
    public void send(DeviceTensor tensor, int to, Backend backend) {
        transfer(new Message(true, tensor, to, 0), backend, timeout(backend)).await();
    }

    /**
     * Receives a device tensor with tag 0.
     *
     * @param tensor  destination
     * @param from    rank
     * @param backend back end
     */
    public void recv(DeviceTensor tensor, int from, Backend backend) {
        transfer(new Message(false, tensor, from, 0), backend, timeout(backend)).await();
    }

    /**
     * Combines the tensors of all ranks, element by element, on every rank.
     *
     * @param in      operand, not changed
     * @param op      reduction
     * @param backend back end
     * @return fresh tensor of the same shape
     */
    public DeviceTensor allReduce(DeviceTensor in, ReduceOp op, Backend backend) {
        return FreshCall.allReduce(dispatch(backend), in, op).run();
    }

    /**
     * Starts {@link #allReduce}.
     *
     * @param in      operand, not changed
     * @param op      reduction
     * @param backend back end
     * @return fresh tensor of the same shape, and the handle
     */
    public FreshResult allReduceAsync(DeviceTensor in, ReduceOp op, Backend backend) {
        return FreshCall.allReduce(dispatch(backend), in, op).submit();
    }

    /**
     * Copies the root's tensor to every rank.
     *
     * @param in      read on the root; on other ranks only its type, shape and device are used
     * @param root    owner
     * @param backend back end
     * @return fresh tensor of the same shape, also on the root
     */
    public DeviceTensor broadcast(DeviceTensor in, int root, Backend backend) {
        return FreshCall.broadcast(dispatch(backend), in, root).run();
    }

    /**
     * Starts {@link #broadcast}.
     *
     * @param in      read on the root; on other ranks only its type, shape and device are used
     * @param root    owner
     * @param backend back end
     * @return fresh tensor of the same shape, and the handle
     */
    public FreshResult broadcastAsync(DeviceTensor in, int root, Backend backend) {
        return FreshCall.broadcast(dispatch(backend), in, root).submit();
    }

    /**
     * Combines the tensors of all ranks, element by element, on the root.
     *
     * @param in      operand, not changed
     * @param op      reduction
     * @param root    receiver
     * @param backend back end
     * @return fresh tensor of the same shape on the root, empty on other ranks
     */
    public Optional<DeviceTensor> reduce(DeviceTensor in, ReduceOp op, int root, Backend backend) {
        return Optional.ofNullable(
                FreshCall.reduce(dispatch(backend), in, op, root).run());
    }

    /**
     * Starts {@link #reduce}.
     *
     * @param in      operand, not changed
     * @param op      reduction
     * @param root    receiver
     * @param backend back end
     * @return fresh tensor of the same shape on the root, null on other ranks, and the handle
     */
    public FreshResult reduceAsync(DeviceTensor in, ReduceOp op, int root, Backend backend) {
        return FreshCall.reduce(dispatch(backend), in, op, root).submit();
    }

    /**
     * Joins the tensors of all ranks, in rank order, on every rank.
     *
     * @param in      own part, {@code [n, ...]}
     * @param backend back end
     * @return fresh tensor {@code [worldSize * n, ...]}
     */
    public DeviceTensor allGather(DeviceTensor in, Backend backend) {
        return FreshCall.allGather(dispatch(backend), in).run();
    }

    /**
     * Starts {@link #allGather}.
     *
     * @param in      own part
     * @param backend back end
     * @return fresh tensor of all parts, and the handle
     */
    public FreshResult allGatherAsync(DeviceTensor in, Backend backend) {
        return FreshCall.allGather(dispatch(backend), in).submit();
    }

    /**
     * Combines the tensors of all ranks; rank r gets part r of the result.
     *
     * @param in      all parts, {@code [worldSize * n, ...]}, not changed
     * @param op      reduction
     * @param backend back end
     * @return fresh tensor {@code [n, ...]}; one-dimensional if the world size divides only the element count
     */
    public DeviceTensor reduceScatter(DeviceTensor in, ReduceOp op, Backend backend) {
        return FreshCall.reduceScatter(dispatch(backend), in, op).run();
    }

    /**
     * Starts {@link #reduceScatter}.
     *
     * @param in      all parts, not changed
     * @param op      reduction
     * @param backend back end
     * @return fresh tensor of the own part, and the handle
     */
    public FreshResult reduceScatterAsync(DeviceTensor in, ReduceOp op, Backend backend) {
        return FreshCall.reduceScatter(dispatch(backend), in, op).submit();
    }

    /**
     * Joins the tensors of all ranks, in rank order, on the root.
     *
     * @param in      own part, {@code [n, ...]}
     * @param root    receiver
     * @param backend back end
     * @return fresh tensor {@code [worldSize * n, ...]} on the root, empty on other ranks
     */
    public Optional<DeviceTensor> gather(DeviceTensor in, int root, Backend backend) {
        return Optional.ofNullable(FreshCall.gather(dispatch(backend), in, root).run());
    }

    /**
     * Starts {@link #gather}.
     *
     * @param in      own part
     * @param root    receiver
     * @param backend back end
     * @return fresh tensor of all parts on the root, null on other ranks, and the handle
     */
    public FreshResult gatherAsync(DeviceTensor in, int root, Backend backend) {
        return FreshCall.gather(dispatch(backend), in, root).submit();
    }

    /**
     * Copies part r of the root's tensor to rank r.
     *
     * @param in      all parts, {@code [worldSize * n, ...]}; on other ranks only its type, shape and device are used, so
     *     that a tensor with address 0 is enough
     * @param root    owner
     * @param backend back end
     * @return fresh tensor {@code [n, ...]}; one-dimensional if the world size divides only the element count
     */
    public DeviceTensor scatter(DeviceTensor in, int root, Backend backend) {
        return FreshCall.scatter(dispatch(backend), in, root).run();
    }

    /**
     * Starts {@link #scatter}.
     *
     * @param in      all parts; on other ranks only its type, shape and device are used
     * @param root    owner
     * @param backend back end
     * @return fresh tensor of the own part, and the handle
     */
    public FreshResult scatterAsync(DeviceTensor in, int root, Backend backend) {
        return FreshCall.scatter(dispatch(backend), in, root).submit();
    }

    /**
     * Sends part j of each rank's tensor to rank j.
     *
     * @param in      parts by destination, {@code [worldSize * n, ...]}, not changed
     * @param backend back end
     * @return fresh tensor of the same shape, parts by source
     */
    public DeviceTensor allToAll(DeviceTensor in, Backend backend) {
        return FreshCall.allToAll(dispatch(backend), in).run();
    }

    /**
     * Starts {@link #allToAll}.
     *
     * @param in      parts by destination, not changed
     * @param backend back end
     * @return fresh tensor of the same shape, and the handle
     */
    public FreshResult allToAllAsync(DeviceTensor in, Backend backend) {
        return FreshCall.allToAll(dispatch(backend), in).submit();
    }

    /**
     * Returns how often a collective went through host memory, in all groups of this context.
     *
     * @param collective label as in {@link ferro.CollectiveKind#label}, for example {@code allReduce}; also {@code send} and
     *     {@code recv}
     * @return count
     */
    public long fallbackCount(String collective) {
        return slow.calls().count(Objects.requireNonNull(collective, "collective"));
    }

    /**
     * Frees a tensor by closing its owner; for tensors that the forms with a fresh result return.
     *
     * @param tensor tensor whose owner is AutoCloseable, as it is for all tensors that ferro allocated
     * @throws IllegalArgumentException if the owner is not AutoCloseable, so that other code must free the tensor
     * @throws IllegalStateException    if closing the owner fails, with that failure as cause
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

    /** Releases the context's device memory if a round trip has acquired it; fresh tensors stay valid. Idempotent. */
    @Override
    public void close() {
        slow.close();
    }

    private Duration timeout(Backend backend) {
        return deadline == null ? Objects.requireNonNull(backend, "backend").timeout() : deadline;
    }

    Dispatch dispatch(Backend backend) {
        return dispatch(backend, deadline == null ? null : CallOptions.of(deadline));
    }

    Dispatch dispatch(Backend backend, CallOptions options) {
        return new Dispatch(slow, backend, options);
    }
}
