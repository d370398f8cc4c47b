package ferro.backend.nccl.comm;

import ferro.Collective;
import ferro.DataType;
import ferro.DeviceTensor;
import ferro.ReduceOp;
import ferro.Tensor;
import ferro.backend.nccl.ffi.LoadedLibraries;
import ferro.backend.nccl.ffi.NcclCapability;
import ferro.backend.nccl.queue.CommIdentity;
import ferro.backend.nccl.queue.NcclOperation;
import java.util.EnumSet;
import java.util.Optional;
import java.util.Set;

/** Checks before any native call: what NCCL supports, where tensors are, which memory may overlap. */
final class NcclChecks {
    private static final Set<NcclOperation> FROM_MESSAGES =
            EnumSet.of(NcclOperation.GATHER, NcclOperation.SCATTER, NcclOperation.ALL_TO_ALL);

    private final CommIdentity identity;
    private final LoadedLibraries libraries;
    private final NcclElements elements;

    NcclChecks(CommIdentity identity, LoadedLibraries libraries) {
        this.identity = identity;
        this.libraries = libraries;
        this.elements = new NcclElements(libraries.version());
    }

    NcclElements elements() {
        return elements;
    }

    /** Returns why a collective cannot be done here; empty if it can. */
    Optional<String> unsupportedBecause(Collective call) {
        if (call.hasCounts()) {
            return Optional.of(
                    "NCCL has no " + call.kind()
                            + " with counts: leave out the counts if all parts are equal, else use host tensors and TcpBackend");
        }
        Tensor operand = call.operand();
        try {
            NcclOperation operation = NcclOperation.of(call);
            if (FROM_MESSAGES.contains(operation)) {
                rooted(operation);
            }
            if (operand != null) {
                types(operand.dataType(), call.op());
            }
            return Optional.empty();
        } catch (UnsupportedOperationException refused) {
            return Optional.of(refused.getMessage());
        }
    }

    /**
     * Checks that gather, scatter or all-to-all can be made.
     *
     * @throws UnsupportedOperationException naming what NCCL lacks
     */
    void rooted(NcclOperation operation) {
        if (!libraries.has(NcclCapability.ROOTED) && !libraries.has(NcclCapability.SEND_RECV)) {
            throw new UnsupportedOperationException(operation.label() + " needs " + NcclCapability.ROOTED + " or "
                    + NcclCapability.SEND_RECV + ", found NCCL " + libraries.version());
        }
    }

    /**
     * Checks a type, and the reduction if there is one.
     *
     * @throws UnsupportedOperationException naming what NCCL lacks
     */
    void types(DataType type, ReduceOp op) {
        elements.code(type);
        if (op != null) {
            elements.code(type, op);
        }
    }

    /** Checks the device memory of a whole call. {@link Collective#check} checks which memory may overlap. */
    void memory(Collective call) {
        onDevice(NcclOperation.of(call), call.in());
        onDevice(NcclOperation.of(call), call.out());
    }

    private void onDevice(NcclOperation operation, Tensor tensor) {
        if (!(tensor instanceof DeviceTensor on)) {
            return;
        }
        tensor(operation, on);
    }

    /**
     * Checks one device tensor.
     *
     * @throws IllegalStateException    if it is on another device than this rank's
     * @throws IllegalArgumentException if it has elements but no address
     */
    void tensor(NcclOperation operation, DeviceTensor on) {
        if (on.device() != identity.device()) {
            throw new IllegalStateException(
                    operation.label() + " on " + identity + ": the tensor is on device " + on.device()
                            + ", this rank drives device " + identity.device() + ": nothing is moved between devices");
        }
        if (on.address() == 0 && on.elementCount() > 0) {
            throw new IllegalArgumentException(operation.label() + " on " + identity + ": " + on + " has "
                    + on.elementCount() + " elements at address 0");
        }
    }

    /**
     * A range of bytes.
     *
     * @param address first
     * @param bytes   number
     */
    record Span(long address, long bytes) {
        boolean meets(Span other) {
            return bytes > 0
                    && other.bytes > 0
                    && address < other.address + other.bytes
                    && other.address < address + bytes;
        }
    }

    /**
     * Checks that memory of a raw call overlaps only as NCCL allows: not at all, or in place.
     *
     * @throws IllegalArgumentException otherwise
     */
    void overlap(NcclOperation operation, Span in, Span out) {
        if (!in.meets(out)) {
            return;
        }
        boolean inPlace = switch (operation) {
            case ALL_REDUCE, REDUCE, BROADCAST -> in.address == out.address;
            case ALL_GATHER, GATHER -> in.address == out.address + identity.rank() * in.bytes;
            case REDUCE_SCATTER, SCATTER -> out.address == in.address + identity.rank() * out.bytes;
            default -> false;
        };
        if (!inPlace) {
            throw new IllegalArgumentException(operation.label() + " on " + identity + ": input of " + in.bytes
                    + " bytes and output of " + out.bytes
                    + " overlap in an unsupported in-place form: use separate buffers");
        }
    }

    /**
     * Checks a pointer of a raw call.
     *
     * @param operation for messages
     * @param name      in or out
     * @param span      memory
     */
    void pointer(NcclOperation operation, String name, Span span) {
        if (span.address == 0 && span.bytes > 0) {
            throw new IllegalArgumentException(
                    identity.during(operation) + ": " + name + " is a null pointer, with " + span.bytes + " bytes");
        }
    }

    /** Returns the bytes of this many parts. Refuses a negative count and an overflow. */
    long bytes(NcclOperation operation, ferro.NcclBackend.RawShape shape, int parts) {
        if (shape.count() < 0) {
            throw new IllegalArgumentException(
                    identity.during(operation) + ": the count is negative: " + shape.count());
        }
        try {
            return Math.multiplyExact(
                    Math.multiplyExact(shape.count(), (long) shape.dataType().byteSize()), (long) parts);
        } catch (ArithmeticException overflow) {
            throw new IllegalArgumentException(
                    identity.during(operation) + ": " + parts + " x " + shape.count() + " elements of "
                            + shape.dataType().label() + ": the number of bytes does not fit into 64 bits",
                    overflow);
        }
    }

    /** Checks that the library has sends and receives, and that the tag is 0. */
    void messages(NcclOperation operation, int tag) {
        if (!libraries.has(NcclCapability.SEND_RECV)) {
            throw new UnsupportedOperationException(identity.during(operation) + ": NCCL " + libraries.version()
                    + " does not support byte-level P2P send/recv, which need " + NcclCapability.SEND_RECV
                    + ": use GPU-native collectives (allReduce and broadcast), or TcpBackend");
        }
        if (tag != 0) {
            throw new UnsupportedOperationException(
                    identity.during(operation) + ": NCCL has no tags, found tag " + tag + ": use tag 0, or TcpBackend");
        }
    }

    /** Checks that a message goes to another rank. */
    void notToSelf(NcclOperation operation, int peer) {
        if (peer == identity.rank()) {
            throw new UnsupportedOperationException(identity.during(operation) + ": rank " + peer
                    + " cannot send to itself with a single call, which would wait forever for the other call: make both"
                    + " raw calls inside grouped, or copy");
        }
    }
}
