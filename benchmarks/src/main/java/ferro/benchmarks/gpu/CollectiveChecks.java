package ferro.benchmarks.gpu;

import ferro.DataType;
import ferro.DeviceTensor;
import ferro.NcclBackend;
import ferro.NcclBackend.RawShape;
import ferro.ReduceOp;
import ferro.dispatch.GpuCollectives;
import java.util.List;

/** Checks every collective with every type and op against plain loops. */
final class CollectiveChecks {
    private static final List<Integer> COUNTS = List.of(1, 1003);
    private static final int ROOT = 0;

    private final Rig rig;
    private final int rank;
    private final int ranks;

    private CollectiveChecks(Rig rig) {
        this.rig = rig;
        this.rank = rig.rank();
        this.ranks = rig.ranks();
    }

    static void run(Rig rig, FindingsPrinter findings) {
        CollectiveChecks checks = new CollectiveChecks(rig);
        findings.check("allReduce", () -> reductions(checks::allReduce));
        findings.check("reduce", () -> reductions(checks::reduce));
        findings.check("reduceScatter", () -> reductions(checks::reduceScatter));
        findings.check("broadcast", () -> moves(checks::broadcast));
        findings.check("allGather", () -> moves(checks::allGather));
        findings.check("gather", () -> moves(checks::gather));
        findings.check("scatter", () -> moves(checks::scatter));
        findings.check("allToAll", () -> moves(checks::allToAll));
        findings.check("barrier", checks::barrier);
        if (rig.group().backend().asNcclBackend().isPresent()) {
            findings.check("send and recv in one NCCL group", () -> moves(checks::ring));
            findings.check("host elements", checks::hostElements);
        }
        findings.check("fresh result", checks::freshResult);
    }

    /** Runs one collective of one type, op and length; returns the number of right elements. */
    @FunctionalInterface
    private interface Reduction {
        long run(DataType type, ReduceOp op, int count);
    }

    /** Runs one collective of one type and length that does not reduce. */
    @FunctionalInterface
    private interface Move {
        long run(DataType type, int count);
    }

    private static String reductions(Reduction reduction) {
        long right = 0;
        for (DataType type : Samples.TYPES) {
            right += reductions(reduction, type);
        }
        return Samples.TYPES.size() + " types by sum, product, min, max, floats also by avg: " + right
                + " elements as a plain loop gives them";
    }

    private static long reductions(Reduction reduction, DataType type) {
        long right = 0;
        for (ReduceOp op : Samples.ops(type)) {
            for (int count : COUNTS) {
                right += reduction.run(type, op, count);
            }
        }
        return right;
    }

    /** Checks the moves of all types. Over host memory the types are those of the engine; NCCL has to accept all types. */
    private static String moves(Move move) {
        long right = 0;
        for (DataType type : Samples.TYPES) {
            for (int count : COUNTS) {
                right += move.run(type, count);
            }
        }
        return Samples.TYPES.size() + " types: " + right + " elements as a plain loop gives them";
    }

    private long allReduce(DataType type, ReduceOp op, int count) {
        DeviceTensor data = rig.operand(type, count);
        rig.group().allReduce(data, op);
        long right = rig.expect("allReduce by " + op, data, index -> Samples.reduced(op, ranks, index));
        Rig.free(data);
        return right;
    }

    private long reduce(DataType type, ReduceOp op, int count) {
        DeviceTensor data = rig.operand(type, count);
        rig.group().reduce(data, op, ROOT);
        long right = rig.expect(
                "reduce by " + op,
                data,
                index -> rank == ROOT ? Samples.reduced(op, ranks, index) : Samples.operand(rank, index));
        Rig.free(data);
        return right;
    }

    private long reduceScatter(DataType type, ReduceOp op, int count) {
        DeviceTensor in = rig.operand(type, (long) count * ranks);
        DeviceTensor out = rig.empty(type, count);
        rig.group().reduceScatter(in, out, op);
        long right = rig.expect(
                "reduceScatter by " + op, out, index -> Samples.reduced(op, ranks, (long) rank * count + index));
        Rig.free(in, out);
        return right;
    }

    private long broadcast(DataType type, int count) {
        DeviceTensor data = rig.operand(type, count);
        rig.group().broadcast(data, ROOT);
        long right = rig.expect("broadcast", data, index -> Samples.operand(ROOT, index));
        Rig.free(data);
        return right;
    }

    private long allGather(DataType type, int count) {
        DeviceTensor in = rig.operand(type, count);
        DeviceTensor out = rig.empty(type, (long) count * ranks);
        rig.group().allGather(in, out);
        long right = rig.expect("allGather", out, index -> Samples.operand((int) (index / count), index % count));
        Rig.free(in, out);
        return right;
    }

    private long gather(DataType type, int count) {
        DeviceTensor in = rig.operand(type, count);
        DeviceTensor out = rank == ROOT ? rig.empty(type, (long) count * ranks) : null;
        rig.group().gather(in, out, ROOT);
        long right = out == null
                ? 0
                : rig.expect("gather", out, index -> Samples.operand((int) (index / count), index % count));
        Rig.free(in);
        if (out != null) {
            Rig.free(out);
        }
        return right;
    }

    private long scatter(DataType type, int count) {
        DeviceTensor in = rank == ROOT ? rig.operand(type, (long) count * ranks) : null;
        DeviceTensor out = rig.empty(type, count);
        rig.group().scatter(in, out, ROOT);
        long right = rig.expect("scatter", out, index -> Samples.operand(ROOT, (long) rank * count + index));
        Rig.free(out);
        if (in != null) {
            Rig.free(in);
        }
        return right;
    }

    private long allToAll(DataType type, int count) {
        DeviceTensor in = rig.operand(type, (long) count * ranks);
        DeviceTensor out = rig.empty(type, (long) count * ranks);
        rig.group().allToAll(in, out);
        long right = rig.expect(
                "allToAll", out, index -> Samples.operand((int) (index / count), (long) rank * count + index % count));
        Rig.free(in, out);
        return right;
    }

    private String barrier() {
        for (int time = 0; time < 10; time++) {
            rig.group().barrier();
        }
        return "10 of them";
    }

    private long ring(DataType type, int count) {
        NcclBackend nccl = rig.nccl();
        DeviceTensor in = rig.operand(type, count);
        DeviceTensor out = rig.empty(type, count);
        RawShape shape = new RawShape(count, type);
        int from = (rank + ranks - 1) % ranks;
        nccl.grouped(() -> {
            nccl.send(in.address(), shape, (rank + 1) % ranks, nccl.stream());
            nccl.recv(out.address(), shape, from, nccl.stream());
        });
        nccl.synchronize(nccl.stream());
        long right = rig.expect("recv", out, index -> Samples.operand(from, index));
        Rig.free(in, out);
        return right;
    }

    private String hostElements() {
        float[] data = new float[1003];
        for (int index = 0; index < data.length; index++) {
            data[index] = (float) Samples.operand(rank, index);
        }
        rig.group().allReduce(data, ReduceOp.SUM);
        for (int index = 0; index < data.length; index++) {
            double wanted = Samples.reduced(ReduceOp.SUM, ranks, index);
            FindingsPrinter.require(data[index] == wanted, "element %d is %s, not %s", index, data[index], wanted);
        }
        return "allReduce of float[] by sum: " + data.length + " elements right";
    }

    private String freshResult() {
        try (GpuCollectives door = GpuCollectives.with(rig.context())) {
            DeviceTensor in = rig.operand(DataType.FLOAT32, 1003);
            DeviceTensor out = door.allReduce(in, ReduceOp.SUM, rig.group().backend());
            rig.expect("the input", in, index -> Samples.operand(rank, index));
            long right = rig.expect("the result", out, index -> Samples.reduced(ReduceOp.SUM, ranks, index));
            Rig.free(in, out);
            return "allReduce leaves its input alone: " + right + " elements right";
        }
    }
}
