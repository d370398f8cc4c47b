package ferro.gpu;

import ferro.DataType;
import ferro.DeviceTensor;
import ferro.NcclBackend;
import ferro.NcclBackend.RawShape;
import ferro.ReduceOp;
import ferro.backend.nccl.ffi.Cuda;
import ferro.dispatch.DeviceMemory;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;

/** Measures speed. It gives figures only; no check can fail here. */
record SpeedChecks(Rig rig, FindingsPrinter findings, long bytes) {
    private static final int REPEATS = 9;
    private static final int CALLS = 20_000;
    /** Calls that are waited for: enough for compiled code, few enough for a stand-in. */
    private static final int WAITED = 1_000;

    private static final long DEFAULT_STREAM = 0;

    static void run(Rig rig, FindingsPrinter findings, long bytes) {
        SpeedChecks checks = new SpeedChecks(rig, findings, bytes);
        findings.check("staging is measured", checks::staging);
        findings.check("copies on the device are measured", checks::onDevice);
        findings.check("calls are measured", checks::calls);
    }

    private String staging() {
        int size = (int) Math.min(bytes, 64 << 20);
        DeviceTensor tensor = rig.empty(DataType.UINT8, size);
        try (DeviceMemory.Staging staging = rig.memory().stage(size)) {
            findings.info("host memory for staging", staging.pinned() ? "pinned" : "not pinned: pinning was refused");
            bothWays(staging.pinned() ? "pinned" : "staged", staging.buffer(), tensor);
        }
        bothWays("pageable", ByteBuffer.allocateDirect(size).order(ByteOrder.nativeOrder()), tensor);
        Rig.free(tensor);
        return size + " bytes each way";
    }

    private void bothWays(String kind, ByteBuffer host, DeviceTensor tensor) {
        double up = median(() -> Rig.done(rig.memory().toDevice(host, tensor)));
        double down = median(() -> Rig.done(rig.memory().toHost(tensor, host)));
        findings.info(
                kind + " copies",
                "%.2f GB/s to the device, %.2f GB/s to the host",
                tensor.byteCount() / up,
                tensor.byteCount() / down);
    }

    /** Measures copies on the device; counts bytes read and bytes written, as the C program does. */
    private String onDevice() {
        NcclBackend nccl = rig.nccl();
        RawShape shape = new RawShape(bytes / 4, DataType.FLOAT32);
        DeviceTensor from = rig.operand(shape.count());
        DeviceTensor to = rig.empty(DataType.FLOAT32, shape.count());
        bandwidth("copy on the device", () -> nccl.copy(from.address(), to.address(), shape, nccl.stream()));
        bandwidth(
                "allReduce sum of one rank, out of place",
                () -> nccl.allReduce(from.address(), to.address(), shape, ReduceOp.SUM, nccl.stream()));
        bandwidth(
                "allReduce avg of one rank, out of place",
                () -> nccl.allReduce(from.address(), to.address(), shape, ReduceOp.AVG, nccl.stream()));
        Rig.free(from, to);
        return bytes + " bytes";
    }

    private void bandwidth(String name, Runnable call) {
        NcclBackend nccl = rig.nccl();
        int calls = 10;
        double nanos = median(() -> {
            for (int time = 0; time < calls; time++) {
                call.run();
            }
            nccl.synchronize(nccl.stream());
        });
        findings.info(name, "%.2f GB/s read and written", 2.0 * bytes * calls / nanos);
    }

    private String calls() {
        NcclBackend nccl = rig.nccl();
        int[] out = new int[1];
        double jna = median(() -> {
            for (int call = 0; call < CALLS; call++) {
                Cuda.cudaGetDevice(out);
            }
        });
        findings.info("one call through JNA (cudaGetDevice)", "%.0f ns", jna / CALLS);
        DeviceTensor data = rig.operand(1);
        RawShape one = new RawShape(1, DataType.FLOAT32);
        double raw = median(() -> {
            for (int call = 0; call < WAITED; call++) {
                nccl.allReduce(data.address(), data.address(), one, ReduceOp.SUM, nccl.stream());
            }
            nccl.synchronize(nccl.stream());
        });
        findings.info("one raw allReduce of 1 element, queued", "%.2f us", raw / WAITED / 1000);
        double whole = median(WAITED, WAITED, () -> rig.group().allReduce(data, ReduceOp.SUM));
        findings.info("one allReduce of 1 element, waited for", "%.2f us", whole / 1000);
        nccl.synchronize(DEFAULT_STREAM);
        Rig.free(data);
        return CALLS + " calls";
    }

    /** Returns nanoseconds of one run: the median of several after one run to warm up. */
    static double median(Runnable run) {
        return median(1, REPEATS, run);
    }

    private static double median(int before, int repeats, Runnable run) {
        for (int time = 0; time < before; time++) {
            run.run();
        }
        long[] nanos = new long[repeats];
        for (int time = 0; time < repeats; time++) {
            long start = System.nanoTime();
            run.run();
            nanos[time] = Math.max(1, System.nanoTime() - start);
        }
        Arrays.sort(nanos);
        return nanos[repeats / 2];
    }
}
