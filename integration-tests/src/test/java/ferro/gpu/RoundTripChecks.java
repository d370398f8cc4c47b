package ferro.gpu;

import ferro.DeviceTensor;
import ferro.ReduceOp;

/** Checks device tensors over host memory: the round trip is enabled and the back end is TCP. */
final class RoundTripChecks {
    private RoundTripChecks() {}

    static void speed(Rig rig, FindingsPrinter findings, long bytes) {
        findings.check("host round trip is measured", () -> {
            DeviceTensor data = rig.operand(bytes / 4);
            double nanos = SpeedChecks.median(() -> rig.group().allReduce(data, ReduceOp.MAX));
            double[] slowest = {nanos};
            rig.group().allReduce(slowest, ReduceOp.MAX);
            findings.info(
                    "allReduce of " + bytes + " bytes over the host, " + rig.ranks() + " ranks",
                    "%.3f GB/s, %.2f ms",
                    bytes / slowest[0],
                    slowest[0] / 1e6);
            long right =
                    rig.expect("allReduce by max", data, index -> Samples.reduced(ReduceOp.MAX, rig.ranks(), index));
            Rig.free(data);
            return right + " elements right";
        });
    }
}
