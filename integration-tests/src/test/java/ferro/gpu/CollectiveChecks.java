package ferro.gpu;

import ferro.DataType;
import ferro.DeviceTensor;
import ferro.NcclBackend;
import ferro.NcclBackend.RawShape;
import ferro.ReduceOp;
import ferro.dispatch.GpuCollectives;

/** Checks calls that no rule of the kit makes between processes: raw ones, barriers, and those with a fresh result. */
record CollectiveChecks(Rig rig) {
    private static final int ELEMENTS = 1003;
    private static final int BARRIERS = 10;

    static void run(Rig rig, FindingsPrinter findings) {
        CollectiveChecks checks = new CollectiveChecks(rig);
        if (rig.group().backend().asNcclBackend().isPresent()) {
            findings.check("send and recv in one NCCL group", checks::ring);
        }
        findings.check("barrier", checks::barrier);
        findings.check("fresh result", checks::freshResult);
    }

    private String barrier() {
        for (int call = 0; call < BARRIERS; call++) {
            rig.group().barrier();
        }
        return BARRIERS + " in a row";
    }

    private String ring() {
        NcclBackend nccl = rig.nccl();
        DeviceTensor in = rig.operand(ELEMENTS);
        DeviceTensor out = rig.empty(DataType.FLOAT32, ELEMENTS);
        RawShape shape = new RawShape(ELEMENTS, DataType.FLOAT32);
        int ranks = rig.ranks();
        int from = (rig.rank() + ranks - 1) % ranks;
        nccl.grouped(() -> {
            nccl.send(in.address(), shape, (rig.rank() + 1) % ranks, nccl.stream());
            nccl.recv(out.address(), shape, from, nccl.stream());
        });
        nccl.synchronize(nccl.stream());
        long right = rig.expect("recv", out, index -> Samples.operand(from, index));
        Rig.free(in, out);
        return right + " elements from rank " + from;
    }

    private String freshResult() {
        try (GpuCollectives door = GpuCollectives.with(rig.context())) {
            DeviceTensor in = rig.operand(ELEMENTS);
            DeviceTensor out = door.allReduce(in, ReduceOp.SUM, rig.group().backend());
            rig.expect("the input", in, index -> Samples.operand(rig.rank(), index));
            long right = rig.expect("the result", out, index -> Samples.reduced(ReduceOp.SUM, rig.ranks(), index));
            Rig.free(in, out);
            return "allReduce does not change its input: " + right + " elements right";
        }
    }
}
