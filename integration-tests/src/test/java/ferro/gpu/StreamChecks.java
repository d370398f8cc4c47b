package ferro.gpu;

import ferro.DataType;
import ferro.DeviceTensor;
import ferro.NcclBackend;
import ferro.NcclBackend.RawShape;
import ferro.ReduceOp;
import java.util.function.BiConsumer;

/**
 * Checks that work on streams waits for earlier work. Copies fill the default stream, so that a call that does not wait
 * reads old bytes.
 */
final class StreamChecks {
    /** Copies before the last one, to keep the stream busy. */
    private static final int BUSY = 20;

    private static final long DEFAULT_STREAM = 0;

    private final Rig rig;
    private final NcclBackend nccl;
    private final RawShape shape;

    private StreamChecks(Rig rig, long bytes) {
        this.rig = rig;
        this.nccl = rig.nccl();
        this.shape = new RawShape(bytes / DataType.FLOAT32.byteSize(), DataType.FLOAT32);
    }

    static void run(Rig rig, FindingsPrinter findings, long bytes) {
        StreamChecks checks = new StreamChecks(rig, bytes);
        findings.check("whole calls start after the default stream", () -> checks.after(checks::wholeCall));
        findings.check("a stream waits for another by an event", () -> checks.after(checks::rawAfterEvent));
        findings.check("raw calls on the caller's own stream", () -> checks.after(checks::rawOnDefaultStream));
    }

    /** Fills {@code late} by the last of many copies on the default stream, makes a call read it, and checks the result. */
    private String after(BiConsumer<DeviceTensor, DeviceTensor> call) {
        DeviceTensor old = rig.filled(shape.count(), index -> 9);
        DeviceTensor fresh = rig.operand(shape.count());
        DeviceTensor late = rig.empty(shape.dataType(), shape.count());
        DeviceTensor result = rig.empty(shape.dataType(), shape.count());
        for (int copy = 0; copy < BUSY; copy++) {
            nccl.copy(old.address(), late.address(), shape, DEFAULT_STREAM);
        }
        nccl.copy(fresh.address(), late.address(), shape, DEFAULT_STREAM);
        call.accept(late, result);
        long right = rig.expect("the result", result, index -> Samples.operand(0, index));
        Rig.free(old, fresh, late, result);
        return "behind " + BUSY + " copies of " + shape.count() * 4 + " bytes, " + right
                + " elements have the late values";
    }

    private void wholeCall(DeviceTensor late, DeviceTensor result) {
        rig.group().allReduce(late, ReduceOp.SUM);
        nccl.copy(late.address(), result.address(), shape, nccl.stream());
        nccl.synchronize(nccl.stream());
    }

    private void rawAfterEvent(DeviceTensor late, DeviceTensor result) {
        nccl.waitFor(DEFAULT_STREAM, nccl.stream());
        nccl.allReduce(late.address(), result.address(), shape, ReduceOp.SUM, nccl.stream());
        nccl.synchronize(nccl.stream());
    }

    private void rawOnDefaultStream(DeviceTensor late, DeviceTensor result) {
        nccl.allReduce(late.address(), result.address(), shape, ReduceOp.SUM, DEFAULT_STREAM);
        nccl.synchronize(DEFAULT_STREAM);
    }
}
