package ferro.dispatch;

import ferro.Backend;
import ferro.CallOptions;
import ferro.Collective;
import ferro.CollectiveBackend;
import ferro.CollectiveKind;
import ferro.CollectiveKind.DataShare;
import ferro.DataType;
import ferro.DeviceTensor;
import ferro.FerroException;
import ferro.FerroException.Code;
import ferro.FerroException.Where;
import ferro.HostTensor;
import ferro.InvalidRankException;
import ferro.Message;
import ferro.MessageKind;
import ferro.NcclBackend;
import ferro.NcclBackend.RawShape;
import ferro.Tensor;
import ferro.Work;
import ferro.spi.Deadlines;
import java.lang.ref.Reference;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.time.Duration;
import java.util.Arrays;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Supplier;

/**
 * The route of calls on device tensors, for all kinds of call. A call goes over NCCL if the back end has NCCL. Without
 * NCCL, the call goes through host memory (the host round trip) if the settings allow this route. A call without a
 * route throws an exception. The dispatch checks each call first. No other class chooses a route, and a call that fails
 * on one route is not tried again on the other route.
 *
 * <p>The checks run in a fixed order: the root is a rank; all tensors are on one device; the route supports the type
 * and op; shapes and counts fit; the device is the device of NCCL. If a call goes to NCCL, the NCCL view checks type,
 * op, shapes, counts and device, as it does for every call. For a call that goes to NCCL, this class checks type, op,
 * shapes, counts and device only if the result is a new tensor, before the memory of this tensor is allocated. Until
 * all checks have passed, this class calls only {@code asNcclBackend} of the back end, and {@code rank}, {@code
 * worldSize}, {@code timeout}, {@code unsupportedBecause} and {@code device} of the back end or its NCCL view.
 */
final class Dispatcher {
    private static final long DEFAULT_STREAM = 0;

    private final HostFallbackPath slow;
    private final Backend backend;
    private final NcclBackend nccl;
    /** The NCCL view of the back end; the back end itself if the back end has no NCCL view. */
    private final Backend view;

    private final CallOptions options;

    /**
     * Creates a dispatch of calls with given options. If {@code options} is null, calls have the timeout of the back
     * end and no label.
     */
    Dispatcher(HostFallbackPath slow, Backend backend, CallOptions options) {
        this.slow = slow;
        this.backend = Objects.requireNonNull(backend, "backend");
        this.nccl = backend.asNcclBackend().orElse(null);
        this.view = nccl == null ? backend : nccl;
        this.options = options == null ? CallOptions.of(view.timeout()) : options;
    }

    /**
     * Makes those checks of a call that no later step of the call's route makes. On the route through host memory, also
     * logs the warning and counts the call. If this method throws an exception, no data has been moved and no memory
     * allocated.
     */
    Dispatcher open(Collective call) {
        checkRoot(call);
        DeviceTensor tensor = onOneDevice(call);
        if (nccl == null) {
            openHost(call.kind().label(), tensor, () -> unsupportedOnHost(call), () -> check(call));
        }
        return this;
    }

    private void checkRoot(Collective call) {
        if (call.kind().isRooted()) {
            InvalidRankException.check(call.kind().label(), "root", call.root(), view.worldSize());
        }
    }

    private void check(Collective call) {
        call.check(view.rank(), view.worldSize());
    }

    /** Runs a call that {@link #open} has checked. */
    void run(Collective call) {
        if (nccl != null) {
            nccl.run(call, options);
        } else {
            submit(call).await();
        }
    }

    /** Starts a call that {@link #open} has checked. */
    Work submit(Collective call) {
        return nccl != null
                ? nccl.submit(call, options)
                : slow.fallback().submit(call, host(), slow.context(), options);
    }

    /** Checks and starts a send or a receive. */
    Work transfer(Message message) {
        open(message);
        return nccl != null
                ? nccl.submit(message, options)
                : slow.fallback().transfer(message, host(), slow.context(), options);
    }

    // The methods below make calls whose result is a new tensor. Such a call is checked before the memory of the result
    // is allocated. Before the allocation, a template with a shape and no memory stands for the result.

    /**
     * Runs a call for which the caller gives only the input. Returns the new tensor of the result, or null if this rank
     * receives no result.
     */
    DeviceTensor runFresh(Collective given) {
        Collective call = openFresh(given);
        DeviceTensor out = allocate(call);
        try {
            run(ready(call, out));
        } catch (RuntimeException | Error failure) {
            free(out, failure);
            throw failure;
        } finally {
            Reference.reachabilityFence(call);
        }
        return out;
    }

    /** Starts a call for which the caller gives only the input. */
    OutOfPlaceResult submitFresh(Collective given) {
        Collective call = openFresh(given);
        DeviceTensor out = allocate(call);
        try {
            Work work = submit(ready(call, out));
            work.completion().whenComplete((nothing, failure) -> {
                if (failure != null) {
                    free(out, failure);
                }
            });
            return new OutOfPlaceResult(out, work);
        } catch (RuntimeException | Error failure) {
            free(out, failure);
            throw failure;
        }
    }

    /**
     * Checks a call as {@link #open} does, with all checks of its route. Returns the call with the template of its
     * result.
     */
    private Collective openFresh(Collective given) {
        checkRoot(given);
        Collective call = withTemplate(given);
        open(call);
        if (nccl != null) {
            String operation = call.kind().label();
            refuse(operation, nccl.unsupportedBecause(call));
            check(call);
            int device = onOneDevice(call).device();
            if (device != nccl.device()) {
                throw new IllegalStateException(operation + ": the tensor is on device " + device + ", rank "
                        + nccl.rank() + " drives device " + nccl.device() + ": nothing is moved between devices");
            }
        }
        return call;
    }

    /**
     * Returns the call with a template of its result. The shape of the result depends on the kind of call: parts are
     * joined and divided along the first dimension, which has the longest stride. A broadcast has only one tensor.
     */
    private Collective withTemplate(Collective given) {
        CollectiveKind kind = given.kind();
        if (kind == CollectiveKind.BROADCAST || !hasResult(given)) {
            return given;
        }
        DeviceTensor in = (DeviceTensor) given.operand();
        long[] shape = in.shape();
        if (kind.out() == DataShare.PART) {
            shape = part(kind, shape, view.worldSize());
        } else if (kind.in() == DataShare.PART) {
            shape = joined(shape, view.worldSize());
        }
        DeviceTensor out = new DeviceTensor(in.dataType(), shape, 0, in.device(), null);
        return given.on(kind == CollectiveKind.SCATTER && view.rank() != given.root() ? null : in, out);
    }

    private boolean hasResult(Collective call) {
        return call.kind().out() != DataShare.ALL_ON_ROOT || view.rank() == call.root();
    }

    private static long[] joined(long[] shape, int parts) {
        if (shape.length == 0) {
            return new long[] {parts};
        }
        long[] joined = shape.clone();
        joined[0] = Math.multiplyExact(shape[0], (long) parts);
        return joined;
    }

    /**
     * Returns the shape of one part, whose first dimension is divided by {@code parts}. If {@code parts} divides the
     * number of elements but not the first dimension, the part is one-dimensional.
     */
    private static long[] part(CollectiveKind kind, long[] shape, int parts) {
        long elements = Arrays.stream(shape).reduce(1, Math::multiplyExact);
        if (elements % parts != 0) {
            throw new IllegalArgumentException(kind + ": input " + Arrays.toString(shape) + " has " + elements
                    + " elements, not a multiple of world size " + parts);
        }
        if (shape.length == 0 || shape[0] % parts != 0) {
            return new long[] {elements / parts};
        }
        long[] part = shape.clone();
        part[0] = shape[0] / parts;
        return part;
    }

    /** Allocates the tensor of the result. Returns null if this rank receives no result. */
    private DeviceTensor allocate(Collective call) {
        if (!hasResult(call)) {
            return null;
        }
        DeviceTensor template = (DeviceTensor) (call.kind() == CollectiveKind.BROADCAST ? call.operand() : call.out());
        DataType type = template.dataType();
        if (nccl == null) {
            return slow.memory().allocate(type, template.shape(), template.device());
        }
        try {
            return nccl.allocate(type, template.shape());
        } catch (RuntimeException failure) {
            String fresh = type.label() + Arrays.toString(template.shape());
            throw cloneFailed(call.kind().label(), "no memory for a fresh " + fresh, failure);
        }
    }

    /**
     * Returns the call with the allocated tensor in place of the template. In a broadcast the root's data is first
     * copied into the new tensor.
     */
    private Collective ready(Collective call, DeviceTensor out) {
        if (call.kind() == CollectiveKind.BROADCAST) {
            if (view.rank() == call.root()) {
                copy(call.kind().label(), (DeviceTensor) call.in(), out);
            }
            return Collective.broadcast(out, call.root());
        }
        return out == null ? call : call.on(call.in(), out);
    }

    private static void free(DeviceTensor out, Throwable failure) {
        if (out == null) {
            return;
        }
        try {
            GpuCollectives.free(out);
        } catch (RuntimeException second) {
            failure.addSuppressed(second);
        }
    }

    /**
     * Copies the root's data into its fresh tensor. The next submitted call runs after the copy. On NCCL, the copy is
     * queued on the stream of the collective, after the work that is now in the caller's default stream. A host round
     * trip reads the copy from another stream, so this method waits until the copy has ended.
     */
    private void copy(String operation, DeviceTensor from, DeviceTensor to) {
        if (nccl == null) {
            copyAndWait(operation, from, to);
            return;
        }
        try {
            long stream = nccl.stream();
            nccl.waitFor(DEFAULT_STREAM, stream);
            nccl.copy(from.address(), to.address(), new RawShape(from.elementCount(), from.dataType()), stream);
        } catch (RuntimeException failure) {
            throw cloneFailed(operation, "cannot copy " + from, failure);
        }
    }

    private void copyAndWait(String operation, DeviceTensor from, DeviceTensor to) {
        Duration bound = backend.timeout();
        if (!slow.memory().onDevice(from, to).await(bound)) {
            throw new FerroException(
                    Code.TIMED_OUT,
                    Where.of("", view.rank()),
                    operation + " on rank " + view.rank() + ": the copy of " + from + " took more than "
                            + Deadlines.millis(bound) + " ms: check whether the device is busy or hangs");
        }
    }

    private IllegalArgumentException cloneFailed(String operation, String what, RuntimeException cause) {
        return new IllegalArgumentException(
                operation + " on rank " + nccl.rank() + ": D2D clone failed: " + what + " on device " + nccl.device()
                        + ": " + cause.getMessage() + ": free tensors, or use a form that works in place",
                cause);
    }

    /**
     * Returns why a call has no route, or empty. The reason is the same as the reason of {@link #open} for a call with
     * valid shapes.
     */
    Optional<String> unsupportedBecause(Collective call) {
        if (nccl != null) {
            return nccl.unsupportedBecause(call);
        }
        Optional<String> refusal = slow.refusal(call.kind().label(), backend, FallbackDecision.of(slow.context()));
        return refusal.isPresent() ? refusal : unsupportedOnHost(call);
    }

    /**
     * Returns why the back end or the {@link HostFallback} does not support a call through host memory. Callers call
     * this method only after {@link HostFallbackPath#refusal} has found the fallback.
     */
    private Optional<String> unsupportedOnHost(Collective call) {
        return host().unsupportedBecause(likeOnHost(call, call.operand().dataType()))
                .or(() -> slow.fallback().unsupportedBecause(call, slow.context()));
    }

    /** Makes those checks of a send or a receive that no later step of the route makes. */
    private void open(Message message) {
        if (!(message.tensor() instanceof DeviceTensor tensor)) {
            throw noDeviceTensor(message.kind());
        }
        refuseUnlessPlain(message, tensor);
        String operation = message.kind().label();
        InvalidRankException.check(
                operation, message.kind().isSend() ? "to" : "from", message.peer(), view.worldSize());
        if (message.tag() < 0) {
            throw new IllegalArgumentException(operation + ": a tag must be 0 or more, found " + message.tag()
                    + ": negative tags are reserved for ferro");
        }
        if (nccl == null) {
            openHost(operation, tensor, () -> slow.fallback().unsupportedBecause(message), () -> {});
        }
    }

    private void refuseUnlessPlain(Message message, DeviceTensor tensor) {
        boolean isAny = message.peer() == CollectiveBackend.ANY_SOURCE || message.tag() == CollectiveBackend.ANY_TAG;
        if (message.kind() == MessageKind.SEND_UNTIL_MATCHED) {
            throw new UnsupportedOperationException(
                    options.named("sendUntilMatched") + " of " + tensor
                            + ": the send of a device tensor ends without news of its receive; wait for an answer of the receiver");
        }
        if (message.kind() != MessageKind.SEND && (isAny || message.kind() != MessageKind.RECEIVE)) {
            String call = message.kind() == MessageKind.RECEIVE
                    ? "recv from any rank or with any tag"
                    : message.kind().toString();
            throw new UnsupportedOperationException(options.named(call) + " into " + tensor
                    + ": messages of device tensors carry neither sender nor length; name the rank and the tag, and "
                    + "receive exactly as many elements as the peer sends");
        }
    }

    private CollectiveBackend host() {
        return (CollectiveBackend) backend;
    }

    /**
     * Checks a call through host memory. If the settings allow the route, a call that the route does not support is
     * refused before {@code check} runs.
     */
    private void openHost(
            String operation, DeviceTensor tensor, Supplier<Optional<String>> unsupported, Runnable check) {
        FallbackDecision decision = FallbackDecision.of(slow.context());
        Optional<String> refusal = slow.refusal(operation, backend, decision);
        if (refusal.isEmpty()) {
            refuse(operation, unsupported.get());
        }
        check.run();
        if (refusal.isPresent()) {
            throw new UnsupportedOperationException(refusal.get());
        }
        slow.publish(operation, options.label(), tensor, decision, backend);
    }

    private void refuse(String operation, Optional<String> because) {
        if (because.isPresent()) {
            throw new UnsupportedOperationException(operation + " on rank " + view.rank() + " of world size "
                    + view.worldSize() + ": " + because.get());
        }
    }

    /**
     * Returns the larger tensor of a call. Throws an IllegalArgumentException if the tensors are not all on one device,
     * even if this rank does not need every tensor.
     */
    private static DeviceTensor onOneDevice(Collective call) {
        DeviceTensor in = onDevice(call, "input", call.in());
        DeviceTensor out = onDevice(call, "output", call.out());
        if (in == null && out == null) {
            throw noDeviceTensor(call.kind());
        }
        if (in == null || out == null) {
            return in == null ? out : in;
        }
        if (in.device() != out.device()) {
            throw new IllegalArgumentException(call.kind() + ": input is on device " + in.device()
                    + ", output on device " + out.device() + ": both must be in the same memory");
        }
        return out.elementCount() > in.elementCount() ? out : in;
    }

    private static IllegalArgumentException noDeviceTensor(Object kind) {
        return new IllegalArgumentException(
                kind + " has no device tensor: GpuCollectives accepts only device tensors, call the back end itself");
    }

    private static DeviceTensor onDevice(Collective call, String name, Tensor tensor) {
        if (tensor instanceof HostTensor) {
            throw new IllegalArgumentException(call.kind() + ": " + name + " is in host memory, the other tensor on a"
                    + " device: both must be in the same memory");
        }
        return (DeviceTensor) tensor;
    }

    /**
     * Returns the call on empty host tensors of the same type. With the empty tensors, a back end can decide whether
     * the back end supports the call.
     */
    private static Collective likeOnHost(Collective call, DataType dataType) {
        HostTensor none = HostTensor.of(dataType, ByteBuffer.allocateDirect(0).order(ByteOrder.nativeOrder()));
        return call.on(call.in() == null ? null : none, call.out() == null ? null : none);
    }
}
