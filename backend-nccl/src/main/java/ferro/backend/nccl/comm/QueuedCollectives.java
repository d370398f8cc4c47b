package ferro.backend.nccl.comm;

import ferro.CallOptions;
import ferro.Collective;
import ferro.DataType;
import ferro.DeviceTensor;
import ferro.HostTensor;
import ferro.InvalidRankException;
import ferro.Tensor;
import ferro.Work;
import ferro.backend.nccl.comm.CollectiveCalls.CallMemory;
import ferro.backend.nccl.memory.HostStage;
import ferro.backend.nccl.queue.CollectivePrint;
import ferro.backend.nccl.queue.CommIdentity;
import ferro.backend.nccl.queue.NcclJob;
import ferro.backend.nccl.queue.NcclOperation;
import ferro.backend.nccl.queue.NcclTitle;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Supplier;

/** Whole collectives: checks each call on the caller's thread, makes it a job, and queues the job. */
final class QueuedCollectives {
    private final OperationParts parts;

    QueuedCollectives(OperationParts parts) {
        this.parts = parts;
    }

    Work submit(Collective call, CallOptions options) {
        NcclOperation operation = NcclOperation.of(Objects.requireNonNull(call, "call"));
        check(call, operation);
        CommIdentity identity = parts.identity();
        HostStage stage = parts.stage();
        NcclJob job = call.operand() instanceof HostTensor
                ? new HostJob(
                        parts.lane(), operation, stage, new CollectiveRounds(call, identity, stage, parts.calls()))
                : new DeviceJob(parts.lane(), operation, deviceCalls(call), call.in(), call.out());
        int size = identity.worldSize();
        String label = options.label();
        NcclTitle.DataBytes bytes = new NcclTitle.DataBytes(bytes(call.operand()), bytes(call.reads(identity.rank())));
        NcclTitle title = new NcclTitle(operation, label, new CollectivePrint(call, label, size), -1, bytes);
        return parts.queue().submit(title, job, options.timeout());
    }

    /** Returns why a collective cannot be done here; empty if it can. */
    Optional<String> unsupportedBecause(Collective call) {
        return parts.checks().unsupportedBecause(Objects.requireNonNull(call, "call"));
    }

    /**
     * Checks a whole call before it goes to NCCL. This is the only check, whichever method makes the call. Its order is
     * that of every path for device tensors.
     */
    private void check(Collective call, NcclOperation operation) {
        CommIdentity identity = parts.identity();
        if (call.kind().isRooted()) {
            InvalidRankException.check(operation.label(), "root", call.root(), identity.worldSize());
        }
        Optional<String> refusal = unsupportedBecause(call);
        if (refusal.isPresent()) {
            throw new UnsupportedOperationException(identity.during(operation) + ": " + refusal.get());
        }
        call.check(identity.rank(), identity.worldSize());
        parts.checks().memory(call);
    }

    /** Returns the native calls. A barrier uses memory of the stage, which only the device thread may ask for. */
    private Supplier<NcclLane.LaneCalls> deviceCalls(Collective call) {
        if (call.operand() == null) {
            HostStage stage = parts.stage();
            return () -> parts.calls().of(call, new CallMemory(stage.cell(), stage.cell(), 1, DataType.FLOAT32));
        }
        long part = CollectivePrint.partOf(call, parts.identity().worldSize());
        DataType type = call.operand().dataType();
        NcclLane.LaneCalls made =
                parts.calls().of(call, new CallMemory(address(call.in()), address(call.out()), part, type));
        return () -> made;
    }

    private static long bytes(Tensor tensor) {
        return tensor == null ? 0 : tensor.elementCount() * tensor.dataType().byteSize();
    }

    private static long address(Tensor tensor) {
        return tensor instanceof DeviceTensor on ? on.address() : 0;
    }
}
