package ferro.dispatch;

import ferro.Backend;
import ferro.CallOptions;
import ferro.Collective;
import ferro.CollectiveBackend;
import ferro.DeviceTensor;
import ferro.Message;
import ferro.ReduceOp;
import ferro.Work;
import ferro.spi.Deadlines;
import ferro.spi.RankContext;
import java.time.Duration;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Supplier;

/**
 * Collectives on device tensors. A call goes over NCCL, or through host memory if a setting allows that. A call without
 * a route throws an exception.
 *
 * <p>Each kind of call chooses its route in this order:
 * <ol>
 * <li>If {@code backend.asNcclBackend()} is present, data is sent from device to device. A failure of NCCL is final:
 * the call does not then go through host memory.
 * <li>Without NCCL, the data is copied to the host, the collective runs on the host, and the result is copied to the
 * device. The route through host memory has three conditions: {@code ferro.gpu.fallback} (or, if that is unset, {@code
 * FERRO_ENABLE_GPU_FALLBACK}) is on, a {@link HostFallback} is on the class path, and the back end has collectives.
 * Every call through host memory logs a warning to the logger {@code ferro.gpu.fallback}, counts in {@link
 * #fallbackCount}, and records a JFR event {@code ferro.GpuFallback}.
 * <li>If neither route is available, the call throws an {@link UnsupportedOperationException}, whose message says how
 * to enable one of the two routes.
 * </ol>
 *
 * <p>{@link #run} and {@link #submit} write their result into the tensors of the call. The other collectives do not
 * change their input, and return a fresh tensor on the same device, which the caller frees with {@link #free}. A
 * blocking method returns when any stream may read the result. Parts are joined and divided along the first dimension.
 *
 * <p>Every rank makes the same call with the same type, length, op and root. The tensors of a rank are on the device of
 * that rank. Until the call is done, the caller keeps its tensors reachable and does not use them.
 *
 * <p>All methods check a call before any data moves and before memory is allocated. The first check throws an {@link
 * ferro.InvalidRankException} if the root is not a rank. An {@link UnsupportedOperationException} is thrown if there is
 * no route, or if the route does not support the type, op or form of the call. An IllegalArgumentException is thrown if
 * shapes do not fit, if tensors are not all on one device, or if they overlap ({@link ferro.Collective#check}). An
 * IllegalStateException is thrown if a tensor is not on the device of NCCL.
 *
 * <p>After the checks of a call, three failures are possible. On the NCCL route, an IllegalArgumentException "D2D clone
 * failed" with its cause is thrown if the fresh tensor cannot be created. A {@link ferro.FerroTransferException} is
 * thrown if the result of a host round trip cannot be copied back to the device. A {@link ferro.FerroException} is
 * thrown if the call fails while it runs. The fresh tensor of a failed call is freed.
 *
 * <p>Thread-safe.
 */
public final class GpuCollectives implements AutoCloseable {
    private final HostFallbackPath slow;
    private final Duration deadline;

    private GpuCollectives(HostFallbackPath slow, Duration deadline) {
        this.slow = slow;
        this.deadline = deadline;
    }

    /**
     * Creates an instance that reads its settings from a context on every call.
     *
     * @param context settings, and the objects that the groups of this rank share
     * @return instance; its {@link #close} releases the device memory of the context
     */
    public static GpuCollectives with(RankContext context) {
        return with(context, HostFallbackPath::service, System.getLogger("ferro.gpu.fallback"));
    }

    static GpuCollectives with(RankContext context, Supplier<Optional<HostFallback>> finds, System.Logger log) {
        return new GpuCollectives(new HostFallbackPath(Objects.requireNonNull(context, "context"), finds, log), null);
    }

    /**
     * Returns whether calls on device tensors can have a route over a back end. Calls can have a route if the back end
     * uses NCCL or a {@link HostFallback} is on the class path. If calls cannot have a route, a back end of {@link
     * #over} rejects every call on device tensors.
     *
     * @param backend back end
     * @return whether a route can exist, independent of the settings
     */
    public static boolean hasWay(CollectiveBackend backend) {
        return Objects.requireNonNull(backend, "backend").asNcclBackend().isPresent()
                || HostFallbackPath.isDeclared(HostFallbackPath::service);
    }

    /**
     * Wraps a back end so that it also accepts device tensors. Calls on device tensors take the route that this class
     * chooses. Calls on host tensors run after earlier calls that go through host memory.
     *
     * @param backend back end that receives the calls on host tensors, unchanged
     * @return back end, whose close also closes {@code backend} and this object
     */
    public CollectiveBackend over(CollectiveBackend backend) {
        return new DispatchingBackend(backend, this, slow.context());
    }

    /**
     * Returns a view of this object with its own timeout. The timeout applies to calls without a timeout argument. In
     * an object without its own timeout, calls without a timeout argument have the timeout of the back end.
     *
     * @param timeout time limit of each call, from its start to its end; more than a century means no timeout, and so
     *     does any limit if {@code ferro.debug} is on
     * @return view of this object; closing the view also closes this object, and vice versa
     * @throws IllegalArgumentException if the timeout is zero or negative
     */
    public GpuCollectives within(Duration timeout) {
        Objects.requireNonNull(timeout, "timeout");
        if (timeout.isZero() || timeout.isNegative()) {
            throw new IllegalArgumentException("a timeout must be more than zero, found " + timeout);
        }
        return new GpuCollectives(slow, Deadlines.inForce(timeout, slow.context()));
    }

    /**
     * Runs a collective that writes into the tensors of the call, and returns when it has ended.
     *
     * @param call    operation on device tensors
     * @param backend back end
     * @param timeout time limit from this call to the end of the operation
     */
    public void run(Collective call, Backend backend, Duration timeout) {
        opened(call, backend, timeout).run(call);
    }

    /**
     * Starts a collective that writes into the tensors of the call.
     *
     * @param call    operation on device tensors
     * @param backend back end
     * @param timeout time limit from this call to the end of the operation
     * @return handle
     */
    public Work submit(Collective call, Backend backend, Duration timeout) {
        return opened(call, backend, timeout).submit(call);
    }

    /**
     * Returns whether calls that go through host memory have not yet been passed to a back end. Counts the calls of all
     * instances of this context.
     *
     * @param backend  back end for the host tensors
     * @param timeout maximum wait until no such call is left; zero does not wait
     * @return true if a call on host tensors must now use {@link #behind}, so that it does not overtake calls through
     *     host memory
     */
    public boolean isBusy(CollectiveBackend backend, Duration timeout) {
        Objects.requireNonNull(backend, "backend");
        Objects.requireNonNull(timeout, "timeout");
        return slow.isBusy(backend, timeout);
    }

    /**
     * Queues a call on host tensors behind calls that go through host memory and have not yet been passed to the back
     * end. May be called only after {@link #isBusy} has returned true.
     *
     * @param call    operation on host tensors
     * @param backend back end
     * @param timeout time limit from this call to the end of the operation
     * @return handle
     * @throws IllegalStateException if no call of this context has gone through host memory
     */
    public Work behind(Collective call, CollectiveBackend backend, Duration timeout) {
        Objects.requireNonNull(call, "call");
        return behind(call, Objects.requireNonNull(backend, "backend"), CallOptions.of(timeout));
    }

    Work behind(Collective call, CollectiveBackend backend, CallOptions options) {
        return slow.behind(call, backend, options);
    }

    /**
     * Starts a send or a receive of a device tensor. Over NCCL the tag must be 0.
     *
     * @param message tensor, peer and tag
     * @param backend back end
     * @param timeout time limit from this call to the end of the operation
     * @return handle
     */
    public Work transfer(Message message, Backend backend, Duration timeout) {
        Objects.requireNonNull(message, "message");
        return dispatch(backend, CallOptions.of(timeout)).transfer(message);
    }

    /**
     * Sends a device tensor with tag 0.
     *
     * @param tensor  data to send
     * @param to      destination rank
     * @param backend back end
     */
    public void send(DeviceTensor tensor, int to, Backend backend) {
        transfer(Message.send(Objects.requireNonNull(tensor, "tensor"), to, 0), backend, timeout(backend))
                .await();
    }

    /**
     * Receives a device tensor with tag 0.
     *
     * @param tensor  memory to fill
     * @param from    source rank
     * @param backend back end
     */
    public void recv(DeviceTensor tensor, int from, Backend backend) {
        transfer(Message.recv(Objects.requireNonNull(tensor, "tensor"), from, 0), backend, timeout(backend))
                .await();
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
        return fresh(Collective.allReduce(given(in), op), backend).run();
    }

    /**
     * Starts {@link #allReduce}.
     *
     * @param in      operand, not changed
     * @param op      reduction
     * @param backend back end
     * @return fresh tensor of the same shape, and the handle
     */
    public OutOfPlaceResult allReduceAsync(DeviceTensor in, ReduceOp op, Backend backend) {
        return fresh(Collective.allReduce(given(in), op), backend).submit();
    }

    /**
     * Copies the root's tensor to every rank.
     *
     * @param in      data of the root; on the other ranks only its type, shape and device are used
     * @param root    rank that has the data
     * @param backend back end
     * @return fresh tensor of the same shape, also on the root
     */
    public DeviceTensor broadcast(DeviceTensor in, int root, Backend backend) {
        return fresh(Collective.broadcast(given(in), root), backend).run();
    }

    /**
     * Starts {@link #broadcast}.
     *
     * @param in      data of the root; on the other ranks only its type, shape and device are used
     * @param root    rank that has the data
     * @param backend back end
     * @return fresh tensor of the same shape, and the handle
     */
    public OutOfPlaceResult broadcastAsync(DeviceTensor in, int root, Backend backend) {
        return fresh(Collective.broadcast(given(in), root), backend).submit();
    }

    /**
     * Combines the tensors of all ranks, element by element, on the root.
     *
     * @param in      operand, not changed
     * @param op      reduction
     * @param root    rank that receives the result
     * @param backend back end
     * @return fresh tensor of the same shape on the root, empty on other ranks
     */
    public Optional<DeviceTensor> reduce(DeviceTensor in, ReduceOp op, int root, Backend backend) {
        return Optional.ofNullable(
                fresh(Collective.reduce(given(in), op, root), backend).run());
    }

    /**
     * Starts {@link #reduce}.
     *
     * @param in      operand, not changed
     * @param op      reduction
     * @param root    rank that receives the result
     * @param backend back end
     * @return fresh tensor of the same shape on the root, null on other ranks, and the handle
     */
    public OutOfPlaceResult reduceAsync(DeviceTensor in, ReduceOp op, int root, Backend backend) {
        return fresh(Collective.reduce(given(in), op, root), backend).submit();
    }

    /**
     * Joins the tensors of all ranks, in rank order, on every rank.
     *
     * @param in      part of this rank, {@code [n, ...]}
     * @param backend back end
     * @return fresh tensor {@code [worldSize * n, ...]}
     */
    public DeviceTensor allGather(DeviceTensor in, Backend backend) {
        return fresh(Collective.allGather(given(in), in), backend).run();
    }

    /**
     * Starts {@link #allGather}.
     *
     * @param in      part of this rank
     * @param backend back end
     * @return fresh tensor of all parts, and the handle
     */
    public OutOfPlaceResult allGatherAsync(DeviceTensor in, Backend backend) {
        return fresh(Collective.allGather(given(in), in), backend).submit();
    }

    /**
     * Combines the tensors of all ranks, element by element. Rank r receives part r of the result.
     *
     * @param in      all parts, {@code [worldSize * n, ...]}, not changed
     * @param op      reduction
     * @param backend back end
     * @return fresh tensor {@code [n, ...]}; one-dimensional if the world size divides only the element count
     */
    public DeviceTensor reduceScatter(DeviceTensor in, ReduceOp op, Backend backend) {
        return fresh(Collective.reduceScatter(given(in), in, op), backend).run();
    }

    /**
     * Starts {@link #reduceScatter}.
     *
     * @param in      all parts, not changed
     * @param op      reduction
     * @param backend back end
     * @return fresh tensor of this rank's part, and the handle
     */
    public OutOfPlaceResult reduceScatterAsync(DeviceTensor in, ReduceOp op, Backend backend) {
        return fresh(Collective.reduceScatter(given(in), in, op), backend).submit();
    }

    /**
     * Joins the tensors of all ranks, in rank order, on the root.
     *
     * @param in      part of this rank, {@code [n, ...]}
     * @param root    rank that receives the result
     * @param backend back end
     * @return fresh tensor {@code [worldSize * n, ...]} on the root, empty on other ranks
     */
    public Optional<DeviceTensor> gather(DeviceTensor in, int root, Backend backend) {
        return Optional.ofNullable(
                fresh(Collective.gather(given(in), root), backend).run());
    }

    /**
     * Starts {@link #gather}.
     *
     * @param in      part of this rank
     * @param root    rank that receives the result
     * @param backend back end
     * @return fresh tensor of all parts on the root, null on other ranks, and the handle
     */
    public OutOfPlaceResult gatherAsync(DeviceTensor in, int root, Backend backend) {
        return fresh(Collective.gather(given(in), root), backend).submit();
    }

    /**
     * Copies part r of the root's tensor to rank r.
     *
     * @param in      all parts, {@code [worldSize * n, ...]}; on the other ranks only its type, shape and device are
     *     used, so its address may be 0
     * @param root    rank that has the data
     * @param backend back end
     * @return fresh tensor {@code [n, ...]}; one-dimensional if the world size divides only the element count
     */
    public DeviceTensor scatter(DeviceTensor in, int root, Backend backend) {
        return fresh(Collective.scatter(given(in), root), backend).run();
    }

    /**
     * Starts {@link #scatter}.
     *
     * @param in      all parts; on the other ranks only its type, shape and device are used
     * @param root    rank that has the data
     * @param backend back end
     * @return fresh tensor of this rank's part, and the handle
     */
    public OutOfPlaceResult scatterAsync(DeviceTensor in, int root, Backend backend) {
        return fresh(Collective.scatter(given(in), root), backend).submit();
    }

    /**
     * Sends part j of each rank's tensor to rank j.
     *
     * @param in      parts in the order of their destination ranks, {@code [worldSize * n, ...]}, not changed
     * @param backend back end
     * @return fresh tensor of the same shape, with the parts in the order of their source ranks
     */
    public DeviceTensor allToAll(DeviceTensor in, Backend backend) {
        return fresh(Collective.allToAll(given(in), in), backend).run();
    }

    /**
     * Starts {@link #allToAll}.
     *
     * @param in      parts in the order of their destination ranks, not changed
     * @param backend back end
     * @return fresh tensor of the same shape, and the handle
     */
    public OutOfPlaceResult allToAllAsync(DeviceTensor in, Backend backend) {
        return fresh(Collective.allToAll(given(in), in), backend).submit();
    }

    /**
     * Returns how many calls of a kind went through host memory, in all groups of this context.
     *
     * @param collective label as in {@link ferro.CollectiveKind#label}, for example {@code allReduce}; also {@code send} and
     *     {@code recv}
     * @return number of calls
     */
    public long fallbackCount(String collective) {
        return slow.count(Objects.requireNonNull(collective, "collective"));
    }

    /**
     * Frees a tensor by closing its owner. This method is meant for the fresh tensors that methods of this class
     * return.
     *
     * @param tensor tensor whose owner is AutoCloseable, as it is for all tensors that ferro allocated
     * @throws IllegalArgumentException if the owner is not AutoCloseable, so that other code must free the tensor
     * @throws IllegalStateException    if closing the owner fails, with that failure as cause
     */
    public static void free(DeviceTensor tensor) {
        if (!(Objects.requireNonNull(tensor, "tensor").owner() instanceof AutoCloseable owner)) {
            throw new IllegalArgumentException("cannot free " + tensor + ": its owner is " + tensor.owner()
                    + ", which is not AutoCloseable: the code that allocated the tensor must free it");
        }
        try {
            owner.close();
        } catch (RuntimeException failure) {
            throw failure;
        } catch (Exception failure) {
            throw new IllegalStateException("cannot free " + tensor + ": " + failure.getMessage(), failure);
        }
    }

    /**
     * Releases the device memory of the context, if a host round trip has acquired it. Fresh tensors stay valid.
     * Idempotent.
     */
    @Override
    public void close() {
        slow.close();
    }

    private static DeviceTensor given(DeviceTensor in) {
        return Objects.requireNonNull(in, "input");
    }

    private Dispatch opened(Collective call, Backend backend, Duration timeout) {
        Objects.requireNonNull(call, "call");
        return dispatch(backend, CallOptions.of(timeout)).open(call);
    }

    private OutOfPlaceCall fresh(Collective call, Backend backend) {
        return new OutOfPlaceCall(dispatch(backend), call);
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
