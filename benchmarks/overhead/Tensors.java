import ferro.Collective;
import ferro.DataType;
import ferro.HostTensor;
import ferro.ReduceOp;
import ferro.group.ProcessGroup;
import java.nio.FloatBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;

/**
 * What a collective takes on arrays and on memory of {@code group.allocate}, in turns: microseconds of the slowest rank, and
 * the ratio of both. Operands are written anew before each call, which is not counted; {@code again} behind the program leaves
 * them as they are, so that each rank finds those of the others in its cache.
 *
 * <p>{@code ./ferro run -n 2 benchmarks/overhead/Tensors.java}
 */
public class Tensors {
    private static final int[] KIB = {1, 4, 16, 64, 256, 1024, 4096, 16384};
    private static final List<String> KINDS = List.of(
            "allReduce", "allReduceInPlace", "reduce", "broadcast", "allGather", "reduceScatter", "gather", "scatter", "allToAll");
    private static final long NANOS = 120_000_000L;

    private final ProcessGroup group;
    private final boolean writes;

    private Tensors(ProcessGroup group, boolean writes) {
        this.group = group;
        this.writes = writes;
    }

    /** Operand and result of one kind of memory, and how long calls on them took. */
    private record Memory(HostTensor in, HostTensor out, List<Double> micros) {}

    public static void main(String[] words) {
        List<String> wanted = Arrays.asList(words);
        try (ProcessGroup group = ProcessGroup.join()) {
            Tensors bench = new Tensors(group, !wanted.contains("again"));
            HostTensor[] shared = new HostTensor[2];
            for (int i = 0; i < 2; i++) {
                shared[i] = group.allocate(DataType.FLOAT32, KIB[KIB.length - 1] * 256L).tensor();
            }
            if (group.rank() == 0) {
                System.out.println(group.linkReport() + (bench.writes ? ", operands rewritten" : ", operands left"));
                System.out.println("| collective | KiB | arrays, us | allocated, us | ratio |");
                System.out.println("|---|---|---|---|---|");
            }
            for (String kind : KINDS) {
                if (wanted.stream().noneMatch(KINDS::contains) || wanted.contains(kind)) {
                    for (int kib : KIB) {
                        bench.measure(kind, kib, shared);
                    }
                }
            }
        }
    }

    private void measure(String kind, int kib, HostTensor[] shared) {
        int all = kib * 256;
        int in = kind.equals("allGather") || kind.equals("gather") ? all / group.worldSize() : all;
        int out = kind.equals("reduceScatter") || kind.equals("scatter") ? all / group.worldSize() : all;
        List<Memory> memories = List.of(
                new Memory(HostTensor.of(new float[in]), HostTensor.of(new float[out]), new ArrayList<>()),
                new Memory(shared[0].slice(0, in), shared[1].slice(0, out), new ArrayList<>()));
        run(kind, memories, NANOS);
        memories.forEach(memory -> memory.micros().clear());
        run(kind, memories, 2 * NANOS);
        double[] medians = memories.stream()
                .mapToDouble(memory -> memory.micros().stream().sorted().skip(memory.micros().size() / 2).findFirst().orElseThrow())
                .toArray();
        if (group.rank() == 0) {
            System.out.printf(
                    Locale.ROOT, "| %s | %d | %.2f | %.2f | %.2f |%n", kind, kib, medians[0], medians[1], medians[1] / medians[0]);
        }
    }

    /** Both in turns; every rank as often as rank 0 says. */
    private void run(String kind, List<Memory> memories, long nanos) {
        int calls = (int) Math.max(4, Math.min(200, 4_000_000 / Math.max(1, memories.get(0).in().byteCount())));
        long begun = System.nanoTime();
        byte[] goesOn = {1};
        while (goesOn[0] != 0) {
            for (Memory memory : memories) {
                long[] took = new long[1];
                for (int i = 0; i < calls; i++) {
                    if (writes) {
                        write(memory.in(), i);
                    }
                    group.barrier();
                    long before = System.nanoTime();
                    call(kind, memory);
                    took[0] += System.nanoTime() - before;
                }
                group.allReduce(took, ReduceOp.MAX);
                memory.micros().add(took[0] / 1e3 / calls);
            }
            goesOn[0] = (byte) (System.nanoTime() - begun < nanos ? 1 : 0);
            group.broadcast(goesOn, 0);
        }
    }

    private static void write(HostTensor tensor, int value) {
        if (tensor.memory() instanceof float[] array) {
            Arrays.fill(array, value % 3);
            return;
        }
        FloatBuffer floats = tensor.buffer().asFloatBuffer();
        float[] block = new float[Math.min(1024, floats.remaining())];
        Arrays.fill(block, value % 3);
        while (floats.hasRemaining()) {
            floats.put(block, 0, Math.min(block.length, floats.remaining()));
        }
    }

    private void call(String kind, Memory memory) {
        HostTensor in = memory.in();
        HostTensor out = memory.out();
        boolean isRoot = group.rank() == 0;
        switch (kind) {
            case "allReduce" -> group.submit(Collective.allReduce(in, out, ReduceOp.MAX)).await();
            case "allReduceInPlace" -> group.allReduce(in, ReduceOp.MAX);
            case "reduce" -> group.reduce(in, ReduceOp.MAX, 0);
            case "broadcast" -> group.broadcast(in, 0);
            case "allGather" -> group.allGather(in, out);
            case "reduceScatter" -> group.reduceScatter(in, out, ReduceOp.MAX);
            case "gather" -> group.gather(in, isRoot ? out : null, 0);
            case "scatter" -> group.scatter(isRoot ? in : null, out, 0);
            default -> group.allToAll(in, out);
        }
    }
}
