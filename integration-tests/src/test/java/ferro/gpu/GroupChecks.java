package ferro.gpu;

import ferro.DeviceTensor;
import ferro.ReduceOp;
import ferro.Work;
import ferro.group.ProcessGroup;
import java.util.ArrayList;
import java.util.List;

/** Checks groups beside the world, calls that are not waited for at once, and tensors of the requested size. */
record GroupChecks(Rig rig) {
    private static final int UNDER_WAY = 100;
    private static final int ELEMENTS = 1003;

    static void run(Rig rig, FindingsPrinter findings, long bytes) {
        GroupChecks checks = new GroupChecks(rig);
        findings.check("many calls in flight", checks::underWay);
        findings.check("a group in another order", checks::reversed);
        findings.check("two groups in turn", checks::inTurn);
        findings.check("a large allReduce", () -> checks.large(findings, bytes));
    }

    private String underWay() {
        List<DeviceTensor> tensors = new ArrayList<>();
        List<Work> calls = new ArrayList<>();
        for (int call = 0; call < UNDER_WAY; call++) {
            tensors.add(rig.operand(ELEMENTS + call));
        }
        for (DeviceTensor tensor : tensors) {
            calls.add(rig.group().allReduceAsync(tensor, ReduceOp.SUM));
        }
        calls.forEach(Work::await);
        long right = 0;
        for (DeviceTensor tensor : tensors) {
            right += rig.expect("allReduce", tensor, index -> Samples.reduced(ReduceOp.SUM, rig.ranks(), index));
            Rig.free(tensor);
        }
        return UNDER_WAY + " at once: " + right + " elements right";
    }

    private String reversed() {
        try (ProcessGroup reversed = rig.group().newGroup(order())) {
            DeviceTensor data = rig.operand(ELEMENTS);
            reversed.broadcast(data, 0);
            long right = rig.expect("broadcast", data, index -> Samples.operand(rig.ranks() - 1, index));
            Rig.free(data);
            return "its rank 0 is rank " + (rig.ranks() - 1) + " of the world: " + right + " elements right";
        }
    }

    private int[] order() {
        int[] ranks = new int[rig.ranks()];
        for (int place = 0; place < ranks.length; place++) {
            ranks[place] = ranks.length - 1 - place;
        }
        return ranks;
    }

    private String inTurn() {
        try (ProcessGroup other = rig.group().newGroup(order())) {
            DeviceTensor data = rig.filled(ELEMENTS, index -> 1);
            long expected = 1;
            for (int turn = 0; turn < 10; turn++) {
                other.allReduce(data, ReduceOp.SUM);
                rig.group().allReduce(data, ReduceOp.SUM);
                expected *= (long) rig.ranks() * rig.ranks();
            }
            long wanted = expected;
            long right = rig.expect("20 allReduces", data, index -> wanted);
            Rig.free(data);
            return "10 allReduces of each: " + right + " elements right";
        }
    }

    private String large(FindingsPrinter findings, long bytes) {
        DeviceTensor data = rig.operand(bytes / 4);
        rig.group().allReduce(data, ReduceOp.SUM);
        long right = rig.expect("allReduce", data, index -> Samples.reduced(ReduceOp.SUM, rig.ranks(), index));
        double nanos = SpeedChecks.median(() -> rig.group().allReduce(data, ReduceOp.MAX));
        findings.info("allReduce of " + bytes + " bytes", "%.2f ms, %.3f GB/s", nanos / 1e6, bytes / nanos);
        Rig.free(data);
        return right + " elements right";
    }
}
