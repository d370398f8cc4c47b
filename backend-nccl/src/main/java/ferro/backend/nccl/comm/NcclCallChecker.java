package ferro.backend.nccl.comm;

import ferro.Collective;
import ferro.CollectiveKind;
import ferro.CollectiveKind.DataShare;
import ferro.DataType;
import ferro.DeviceTensor;
import ferro.ReduceOp;
import ferro.Tensor;
import ferro.backend.nccl.NcclDataType;
import ferro.backend.nccl.NcclRedOp;
import ferro.backend.nccl.comm.NativeCaller.NativeCall;
import ferro.backend.nccl.ffi.LoadedLibraries;
import ferro.backend.nccl.ffi.NcclCapability;
import ferro.backend.nccl.queue.CommIdentity;
import ferro.backend.nccl.queue.NcclOperation;
import java.util.EnumSet;
import java.util.Optional;
import java.util.Set;

/**
 * Checks calls before any native call. The checks are about what NCCL supports, where tensors are, and which memory
 * overlaps.
 */
final class NcclCallChecker {
    private static final Set<NcclOperation> FROM_MESSAGES =
            EnumSet.of(NcclOperation.GATHER, NcclOperation.SCATTER, NcclOperation.ALL_TO_ALL);

    private final CommIdentity identity;
    private final LoadedLibraries libraries;

    NcclCallChecker(CommIdentity identity, LoadedLibraries libraries) {
        this.identity = identity;
        this.libraries = libraries;
    }

    boolean has(NcclCapability capability) {
        return libraries.has(capability);
    }

    /** Returns why this rank cannot make a collective; empty if it can. */
    Optional<String> unsupportedBecause(Collective call) {
        if (call.hasCounts()) {
            return Optional.of(
                    "NCCL has no " + call.kind()
                            + " with counts: leave out the counts if all parts are equal, else use host tensors and TcpBackend");
        }
        Tensor operand = call.operand();
        try {
            rooted(NcclOperation.of(call));
            if (operand != null) {
                types(operand.dataType(), call.op());
            }
            return Optional.empty();
        } catch (UnsupportedOperationException refused) {
            return Optional.of(refused.getMessage());
        }
    }

    /**
     * Checks that gather, scatter and all-to-all are possible, by a function of NCCL or by sends and receives.
     *
     * @throws UnsupportedOperationException if NCCL cannot make the call; the message names what NCCL lacks
     */
    void rooted(NcclOperation operation) {
        if (FROM_MESSAGES.contains(operation) && !has(NcclCapability.ROOTED) && !has(NcclCapability.SEND_RECV)) {
            throw new UnsupportedOperationException(operation.label() + " needs " + NcclCapability.ROOTED + " or "
                    + NcclCapability.SEND_RECV + ", found NCCL " + libraries.version());
        }
    }

    /**
     * Checks that NCCL supports a type, and the reduction if there is one.
     *
     * @throws UnsupportedOperationException if NCCL cannot make the call; the message names what NCCL lacks
     */
    void types(DataType type, ReduceOp op) {
        code(type);
        if (op != null) {
            code(type, op);
        }
    }

    /**
     * Returns NCCL's code of a type.
     *
     * @throws UnsupportedOperationException if this release of NCCL has no code for the type
     */
    int code(DataType type) {
        NcclDataType found = NcclDataType.of(type);
        refuse(found.unsupportedBecause(libraries.version()));
        return found.code();
    }

    /**
     * Returns NCCL's code of a reduction of elements of a type.
     *
     * @throws UnsupportedOperationException if this release of NCCL has no code for the reduction, or only a code that
     *     gives wrong results for the type
     */
    int code(DataType type, ReduceOp op) {
        NcclRedOp found = NcclRedOp.of(op);
        refuse(found.unsupportedBecause(libraries.version()));
        if (op == ReduceOp.AVG && !type.isFloating()) {
            // NCCL adds in the element type itself, so the average of 100 and 100 in i8 would be -28
            throw new UnsupportedOperationException("the average of " + type.label()
                    + " would wrap in NCCL, which adds in this type: use sum, or convert to one of f16 bf16 f32 f64,"
                    + " or average in host memory, over tcp (-Dferro.backend=cpu:tcp,cuda:nccl)");
        }
        return found.code();
    }

    private static void refuse(Optional<String> why) {
        if (why.isPresent()) {
            throw new UnsupportedOperationException(why.get());
        }
    }

    /**
     * Checks the device of a tensor for a call that uses no queue. Such a call does not copy tensors between devices.
     */
    static void onDevice(String operation, int index, DeviceTensor tensor, int device) {
        if (tensor.device() != device) {
            throw new IllegalArgumentException(operation + ": tensor " + index + " is on device " + tensor.device()
                    + ", expected device " + device + ": nothing is moved between devices");
        }
    }

    /** Checks the device memory of a collective. {@link Collective#check} checks which memory may overlap. */
    void memory(Collective call) {
        tensor(NcclOperation.of(call), call.in());
        tensor(NcclOperation.of(call), call.out());
    }

    /**
     * Checks a tensor if it is on a device.
     *
     * @throws IllegalStateException    if the tensor is on another device than this rank
     * @throws IllegalArgumentException if the tensor has elements but no address
     */
    void tensor(NcclOperation operation, Tensor tensor) {
        if (!(tensor instanceof DeviceTensor on)) {
            return;
        }
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

    /** A range of bytes, from its first address. */
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
     * @throws IllegalArgumentException if the memory overlaps in another way
     */
    void overlap(NcclOperation operation, Span in, Span out) {
        if (!in.meets(out)) {
            return;
        }
        CollectiveKind kind = operation.kind();
        // a single part may be in place as this rank's part of all parts; all-to-all moves every part, so no part may
        // be in place
        long from = in.address + (kind.out() == DataShare.PART ? identity.rank() * out.bytes : 0);
        long to = out.address + (kind.in() == DataShare.PART ? identity.rank() * in.bytes : 0);
        if (from != to || kind == CollectiveKind.ALL_TO_ALL) {
            throw new IllegalArgumentException(operation.label() + " on " + identity + ": input of " + in.bytes
                    + " bytes and output of " + out.bytes
                    + " overlap in an unsupported in-place form: use separate buffers");
        }
    }

    /**
     * Checks a pointer of a raw call. {@code name} is the name of the pointer in messages, {@code in} or {@code out}.
     */
    void pointer(NcclOperation operation, String name, Span span) {
        if (span.address == 0 && span.bytes > 0) {
            throw new IllegalArgumentException(
                    identity.during(operation) + ": " + name + " is a null pointer, with " + span.bytes + " bytes");
        }
    }

    /**
     * Returns the number of bytes of the given number of parts of a raw call. Throws for a negative count and for an
     * overflow.
     */
    long bytes(NativeCall call, int parts) {
        if (call.count() < 0) {
            throw new IllegalArgumentException(
                    identity.during(call.operation()) + ": the count is negative: " + call.count());
        }
        try {
            return Math.multiplyExact(
                    Math.multiplyExact(call.count(), (long) call.type().byteSize()), (long) parts);
        } catch (ArithmeticException overflow) {
            throw new IllegalArgumentException(
                    identity.during(call.operation()) + ": " + parts + " x " + call.count() + " elements of "
                            + call.type().label() + ": the number of bytes does not fit into 64 bits",
                    overflow);
        }
    }

    /** Checks that the library has sends and receives, and that the tag is 0. */
    void messages(NcclOperation operation, int tag) {
        if (!has(NcclCapability.SEND_RECV)) {
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
