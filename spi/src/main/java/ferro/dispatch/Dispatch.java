package ferro.dispatch;

import ferro.Backend;
import ferro.CallOptions;
import ferro.Collective;
import ferro.CollectiveBackend;
import ferro.DataType;
import ferro.DeviceTensor;
import ferro.HostTensor;
import ferro.InvalidRankException;
import ferro.Message;
import ferro.MessageKind;
import ferro.NcclBackend;
import ferro.Tensor;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Objects;
import java.util.Optional;

/**
 * The decision which route a call on device tensors takes, for all kinds of call. The dispatch checks the call first.
 * Then the dispatch chooses NCCL. Without NCCL, the dispatch chooses the host round trip if the settings allow the
 * round trip. A call without a route throws an exception. No other class chooses a route.
 *
 * <p>The checks run in this order: the root is a rank; all tensors are on one device; the route supports the type and
 * op; shapes and counts fit; the device is that of NCCL. If a call goes to NCCL, the NCCL view makes the last three
 * checks itself, since it checks every call. This class makes the last three checks only for a call whose result is a
 * new tensor, before the memory is allocated. Until all checks have passed, this class calls only {@code asNcclBackend}
 * of the back end, and {@code rank}, {@code worldSize}, {@code timeout}, {@code unsupportedBecause} and {@code device}
 * of the back end or its NCCL view.
 */
final class Dispatch {
    private final HostFallbackPath slow;
    private final Backend backend;
    private final NcclBackend nccl;
    private final CallOptions options;

    /**
     * Creates a dispatch of calls with these options. If the options are null, calls have the timeout of the back end
     * and no label.
     */
    Dispatch(HostFallbackPath slow, Backend backend, CallOptions options) {
        this.slow = slow;
        this.options = options;
        this.backend = Objects.requireNonNull(backend, "backend");
        this.nccl = backend.asNcclBackend().orElse(null);
    }

    int rank() {
        return view().rank();
    }

    int worldSize() {
        return view().worldSize();
    }

    CallOptions options() {
        return options == null ? CallOptions.of(view().timeout()) : options;
    }

    /**
     * Finds the route of a call. Makes the checks that no later step of the route makes. If this method throws, no data
     * has been moved and no memory allocated.
     */
    Route open(Collective call) {
        if (call.kind().isRooted()) {
            InvalidRankException.check(call.kind().label(), "root", call.root(), worldSize());
        }
        DeviceTensor tensor = onOneDevice(call);
        if (nccl != null) {
            return new NcclRoute(nccl);
        }
        FallbackGate gate = FallbackGate.of(slow.context());
        Optional<String> refusal = slow.refusal(call.kind().label(), backend, gate);
        if (refusal.isEmpty()) {
            refuse(call.kind().label(), unsupportedOnHost(call));
        }
        call.check(rank(), worldSize());
        return hostRoute(call.kind().label(), tensor, gate, refusal);
    }

    /**
     * Finds the route as {@link #open} does, for a call whose result has no memory yet. Makes all checks, so that no
     * memory is allocated for a rejected call.
     */
    Route openFresh(Collective template) {
        Route route = open(template);
        if (nccl != null) {
            String operation = template.kind().label();
            refuse(operation, nccl.unsupportedBecause(template));
            template.check(rank(), worldSize());
            int device = onOneDevice(template).device();
            if (device != nccl.device()) {
                throw new IllegalStateException(operation + ": the tensor is on device " + device + ", rank "
                        + nccl.rank() + " drives device " + nccl.device() + ": nothing is moved between devices");
            }
        }
        return route;
    }

    /**
     * Returns why a call has no route, or empty. The reason is the one that {@link #open} would give for a call with
     * valid shapes.
     */
    Optional<String> unsupportedBecause(Collective call) {
        if (nccl != null) {
            return nccl.unsupportedBecause(call);
        }
        Optional<String> refusal = slow.refusal(call.kind().label(), backend, FallbackGate.of(slow.context()));
        return refusal.isPresent() ? refusal : unsupportedOnHost(call);
    }

    /**
     * Returns why a call cannot go through host memory: the back end or the {@link HostFallback} does not support it.
     * May be called only after {@link HostFallbackPath#refusal} has found the fallback.
     */
    private Optional<String> unsupportedOnHost(Collective call) {
        return host().unsupportedBecause(likeOnHost(call, call.operand().dataType()))
                .or(() -> slow.fallback().unsupportedBecause(call, slow.context()));
    }

    /** Finds the route of a send or a receive. Makes the checks that no later step of the route makes. */
    Route open(Message message) {
        if (!(message.tensor() instanceof DeviceTensor tensor)) {
            throw new IllegalArgumentException(message.kind()
                    + " has no device tensor: GpuCollectives accepts only device tensors, call the back end itself");
        }
        refuseUnlessPlain(message, tensor);
        String operation = message.kind().label();
        boolean sends = message.kind().isSend();
        InvalidRankException.check(operation, sends ? "to" : "from", message.peer(), worldSize());
        if (message.tag() < 0) {
            throw new IllegalArgumentException(operation + ": a tag must be 0 or more, found " + message.tag()
                    + ": negative tags are reserved for ferro");
        }
        if (nccl != null) {
            return new NcclRoute(nccl);
        }
        FallbackGate gate = FallbackGate.of(slow.context());
        Optional<String> refusal = slow.refusal(operation, backend, gate);
        if (refusal.isEmpty()) {
            refuse(operation, slow.fallback().unsupportedBecause(message));
        }
        return hostRoute(operation, tensor, gate, refusal);
    }

    private void refuseUnlessPlain(Message message, DeviceTensor tensor) {
        boolean isAny = message.peer() == CollectiveBackend.ANY_SOURCE || message.tag() == CollectiveBackend.ANY_TAG;
        if (message.kind() == MessageKind.SEND_UNTIL_MATCHED) {
            throw new UnsupportedOperationException(
                    options().named("sendUntilMatched") + " of " + tensor
                            + ": the send of a device tensor ends without news of its receive; wait for an answer of the receiver");
        }
        if (message.kind() != MessageKind.SEND && (isAny || message.kind() != MessageKind.RECEIVE)) {
            String call = message.kind() == MessageKind.RECEIVE
                    ? "recv from any rank or with any tag"
                    : message.kind().toString();
            throw new UnsupportedOperationException(options().named(call) + " into " + tensor
                    + ": messages of device tensors carry neither sender nor length; name the rank and the tag, and "
                    + "receive exactly as many elements as the peer sends");
        }
    }

    private Backend view() {
        return nccl == null ? backend : nccl;
    }

    private CollectiveBackend host() {
        return (CollectiveBackend) backend;
    }

    private Route hostRoute(String operation, DeviceTensor tensor, FallbackGate gate, Optional<String> refusal) {
        if (refusal.isPresent()) {
            throw new UnsupportedOperationException(refusal.get());
        }
        slow.publish(operation, options == null ? "" : options.label(), tensor, gate, backend);
        return new HostRoute(slow, slow.fallback(), host(), tensor.device());
    }

    private void refuse(String operation, Optional<String> because) {
        if (because.isPresent()) {
            throw new UnsupportedOperationException(
                    operation + " on rank " + rank() + " of world size " + worldSize() + ": " + because.get());
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
            throw new IllegalArgumentException(call.kind()
                    + " has no device tensor: GpuCollectives accepts only device tensors, call the back end itself");
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

    private static DeviceTensor onDevice(Collective call, String name, Tensor tensor) {
        if (tensor instanceof HostTensor) {
            throw new IllegalArgumentException(call.kind() + ": " + name + " is in host memory, the other tensor on a"
                    + " device: both must be in the same memory");
        }
        return (DeviceTensor) tensor;
    }

    /**
     * Returns the call on empty host tensors of the same type. With these empty tensors a back end can decide whether
     * it supports the call.
     */
    private static Collective likeOnHost(Collective call, DataType dataType) {
        HostTensor none = HostTensor.of(dataType, ByteBuffer.allocateDirect(0).order(ByteOrder.nativeOrder()));
        return call.on(call.in() == null ? null : none, call.out() == null ? null : none);
    }
}
