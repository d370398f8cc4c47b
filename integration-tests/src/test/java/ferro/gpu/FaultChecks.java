package ferro.gpu;

import ferro.DataType;
import ferro.DeviceTensor;
import ferro.FerroException;
import ferro.FerroException.Code;
import ferro.NcclBackend;
import ferro.NcclBackend.RawShape;
import ferro.ReduceOp;
import ferro.backend.nccl.NcclResult;
import ferro.backend.nccl.ffi.Cuda;
import ferro.backend.nccl.ffi.Nccl;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/** Checks the answers to calls that cannot work, and that everything works afterwards. */
record FaultChecks(Rig rig) {
    /** More than any device has, but too little to overflow a count. */
    private static final long TOO_MANY_BYTES = 1L << 50;

    private static final int NO_SUCH_DEVICE = 99;
    private static final int NO_SUCH_TYPE = 99;
    private static final Duration SOON = Duration.ofSeconds(20);

    static void run(Rig rig, FindingsPrinter findings) {
        FaultChecks checks = new FaultChecks(rig);
        findings.check("result texts", FaultChecks::texts);
        findings.check("result codes", FaultChecks::codes);
        findings.check("misuse of raw calls is refused", checks::misuse);
        findings.check("out of memory", checks::outOfMemory);
        findings.check("calls after these faults", checks::stillWorks);
        findings.check("abort", checks::abort);
    }

    private static String texts() {
        List<String> texts = new ArrayList<>();
        for (int code = 0; code <= 8; code++) {
            texts.add(NcclResult.of(code) + " \"" + Nccl.ncclGetErrorString(code) + "\"");
        }
        return String.join(", ", texts);
    }

    /** Runs all calls on one thread: group depth and last error belong to a thread. */
    private static String codes() {
        expect(4, Nccl.ncclAllReduce(0, 0, 1, NO_SUCH_TYPE, 0, 0, 0), "ncclAllReduce without communicator");
        expect(5, Nccl.ncclGroupEnd(), "ncclGroupEnd without start");
        expect(101, Cuda.cudaSetDevice(NO_SUCH_DEVICE), "cudaSetDevice(99)");
        expect(101, Cuda.cudaGetLastError(), "cudaGetLastError");
        expect(0, Cuda.cudaGetLastError(), "cudaGetLastError again");
        expect(2, Cuda.cudaMalloc(new long[1], TOO_MANY_BYTES), "cudaMalloc of 2^50 bytes");
        Cuda.cudaGetLastError();
        return "4 and 5 of NCCL, 101 and 2 of the runtime, last error cleared";
    }

    private static void expect(int code, int found, String call) {
        FindingsPrinter.require(code == found, "%s answered %d, expected %d", call, found, code);
    }

    private String misuse() {
        NcclBackend nccl = rig.nccl();
        DeviceTensor data = rig.operand(4);
        RawShape four = new RawShape(4, DataType.FLOAT32);
        long stream = nccl.stream();
        refused(() -> nccl.allReduce(0, 0, four, ReduceOp.SUM, stream), "null pointer");
        refused(
                () -> nccl.allReduce(
                        data.address(), data.address(), new RawShape(-1, DataType.FLOAT32), ReduceOp.SUM, stream),
                "negative count");
        refused(() -> nccl.broadcast(data.address(), data.address(), four, rig.ranks(), stream), "root");
        Rig.free(data);
        return "null pointer, negative count, root outside the group";
    }

    private static void refused(Runnable call, String what) {
        try {
            call.run();
        } catch (IllegalArgumentException asExpected) {
            return;
        }
        throw new IllegalStateException("not refused: " + what);
    }

    private String outOfMemory() {
        try {
            rig.empty(DataType.UINT8, TOO_MANY_BYTES);
        } catch (FerroException failure) {
            FindingsPrinter.require(
                    failure.code() == Code.RESOURCE, "code %s: %s", failure.code(), failure.getMessage());
            return failure.getMessage();
        }
        throw new IllegalStateException(TOO_MANY_BYTES + " bytes were allocated");
    }

    private String stillWorks() {
        DeviceTensor data = rig.operand(1003);
        rig.group().allReduce(data, ReduceOp.SUM);
        long right = rig.expect("allReduce", data, index -> Samples.reduced(ReduceOp.SUM, rig.ranks(), index));
        Rig.free(data);
        return right + " elements right";
    }

    private String abort() {
        DeviceTensor data = rig.operand(4);
        long start = System.nanoTime();
        rig.group().abort(new IllegalStateException("requested by the report"));
        String said = failed(rig, () -> rig.group().allReduce(data, ReduceOp.SUM));
        rig.group().close(Duration.ofSeconds(5));
        Rig.free(data);
        Duration took = Duration.ofNanos(System.nanoTime() - start);
        FindingsPrinter.require(took.compareTo(SOON) < 0, "it took %s", took);
        return "a call after it fails, close returns, all within " + took.toMillis() + " ms: " + said;
    }

    /** Runs a call that must fail with a failure of communication, and returns its message. */
    static String failed(Rig rig, Runnable call) {
        FerroException failure = failure(rig, call);
        return failure.code() + ": " + failure.getMessage();
    }

    static FerroException failure(Rig rig, Runnable call) {
        try {
            call.run();
        } catch (FerroException failure) {
            return failure;
        }
        throw new IllegalStateException("the call of rank " + rig.rank() + " succeeded, need a FerroException");
    }
}
