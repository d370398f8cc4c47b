package ferro.backend.simulated;

import static ferro.backend.simulated.Call.KINDS;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;

import ferro.HostTensor;
import ferro.ReduceOp;
import ferro.Work;
import ferro.group.ProcessGroup;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;

/** Some collectives drawn from a seed, with what a plain loop says they must give. */
final class RandomProgram {
    private static final List<String> WITH_DATA =
            KINDS.stream().filter(kind -> !kind.equals("barrier")).toList();

    private static final List<ReduceOp> OPS = List.of(ReduceOp.SUM, ReduceOp.PRODUCT, ReduceOp.MIN, ReduceOp.MAX);

    private final int worldSize;
    private final SplittableRandom random;
    private final List<Call> calls = new ArrayList<>();

    RandomProgram(long seed, int worldSize, int callCount) {
        this.worldSize = worldSize;
        this.random = new SplittableRandom(seed);
        for (int i = 0; i < callCount; i++) {
            String kind = WITH_DATA.get(random.nextInt(WITH_DATA.size()));
            int count = random.nextInt(random.nextInt(8) == 0 ? 3000 : 20);
            calls.add(new Call(kind, count, random.nextInt(worldSize), OPS.get(random.nextInt(OPS.size()))));
        }
    }

    /** Runs one rank's part: some ranks submit all at once, others one after the other. */
    void script(ProcessGroup group, Simulation simulation) {
        if (group.rank() % 2 == 0) {
            calls.forEach(call -> call.submit(group));
        } else {
            submitFrom(0, group, simulation);
        }
    }

    private void submitFrom(int index, ProcessGroup group, Simulation simulation) {
        if (index < calls.size()) {
            simulation.watch(calls.get(index)
                    .submit(group)
                    .completion()
                    .thenRun(() -> submitFrom(index + 1, group, simulation)));
        }
    }

    void check() {
        calls.forEach(Call::check);
    }

    /** One collective: every rank's operands, and what they must be afterwards. */
    private final class Call {
        private final String kind;
        private final int count;
        private final int root;
        private final ReduceOp op;
        private final int[][] small = new int[worldSize][];
        private final int[][] big = new int[worldSize][];
        private final int[][] smallAfter = new int[worldSize][];
        private final int[][] bigAfter = new int[worldSize][];

        Call(String kind, int count, int root, ReduceOp op) {
            this.kind = kind;
            this.count = count;
            this.root = root;
            this.op = op;
            for (int rank = 0; rank < worldSize; rank++) {
                small[rank] = random.ints(count, -9, 10).toArray();
                big[rank] = random.ints((long) count * worldSize, -9, 10).toArray();
                smallAfter[rank] = small[rank].clone();
                bigAfter[rank] = big[rank].clone();
            }
            expect();
        }

        private void expect() {
            for (int rank = 0; rank < worldSize; rank++) {
                switch (kind) {
                    case "allReduce" -> smallAfter[rank] = reduced(small, 0);
                    case "scan" -> smallAfter[rank] = reduced(Arrays.copyOf(small, rank + 1), 0);
                    case "exclusiveScan" ->
                        smallAfter[rank] = rank == 0 ? identities() : reduced(Arrays.copyOf(small, rank), 0);
                    case "broadcast" -> smallAfter[rank] = small[root].clone();
                    case "allGather" -> gatherInto(bigAfter[rank]);
                    case "reduceScatter" -> smallAfter[rank] = reduced(big, rank * count);
                    case "scatter" -> smallAfter[rank] = part(big[root], rank);
                    case "allToAll" -> exchangeInto(bigAfter[rank], rank);
                    default -> {}
                }
            }
            if (kind.equals("reduce")) {
                smallAfter[root] = reduced(small, 0);
            } else if (kind.equals("gather")) {
                gatherInto(bigAfter[root]);
            }
        }

        private int[] identities() {
            int[] all = new int[count];
            Arrays.fill(
                    all,
                    switch (op.name()) {
                        case "sum" -> 0;
                        case "product" -> 1;
                        case "min" -> Integer.MAX_VALUE;
                        default -> Integer.MIN_VALUE;
                    });
            return all;
        }

        private int[] reduced(int[][] inputs, int from) {
            int[] result = Arrays.copyOfRange(inputs[0], from, from + count);
            for (int rank = 1; rank < inputs.length; rank++) {
                for (int i = 0; i < count; i++) {
                    result[i] = combine(result[i], inputs[rank][from + i]);
                }
            }
            return result;
        }

        private int combine(int one, int other) {
            return switch (op.name()) {
                case "sum" -> one + other;
                case "product" -> one * other;
                case "min" -> Math.min(one, other);
                default -> Math.max(one, other);
            };
        }

        private int[] part(int[] whole, int rank) {
            return Arrays.copyOfRange(whole, rank * count, (rank + 1) * count);
        }

        private void gatherInto(int[] whole) {
            for (int rank = 0; rank < worldSize; rank++) {
                System.arraycopy(small[rank], 0, whole, rank * count, count);
            }
        }

        private void exchangeInto(int[] whole, int rank) {
            for (int from = 0; from < worldSize; from++) {
                System.arraycopy(big[from], rank * count, whole, from * count, count);
            }
        }

        /** Submits this rank's part; what all-to-all receives replaces what was sent, which the other ranks still need. */
        Work submit(ProcessGroup group) {
            int rank = group.rank();
            HostTensor part = HostTensor.of(small[rank]);
            HostTensor whole = HostTensor.of(big[rank]);
            return switch (kind) {
                case "allReduce" -> group.allReduceAsync(part, op);
                case "broadcast" -> group.broadcastAsync(part, root);
                case "reduce" -> group.reduceAsync(part, op, root);
                case "allGather" -> group.allGatherAsync(part, whole);
                case "reduceScatter" -> group.reduceScatterAsync(whole, part, op);
                case "gather" -> group.gatherAsync(part, whole, root);
                case "scatter" -> group.scatterAsync(rank == root ? whole : null, part, root);
                case "scan" -> group.scanAsync(part, op);
                case "exclusiveScan" -> group.exclusiveScanAsync(part, op);
                default -> group.allToAllAsync(HostTensor.of(big[rank].clone()), whole);
            };
        }

        void check() {
            for (int rank = 0; rank < worldSize; rank++) {
                int at = rank;
                assertArrayEquals(smallAfter[rank], small[rank], () -> this + ", small operand of rank " + at);
                if (!kind.equals("reduceScatter")) {
                    assertArrayEquals(bigAfter[rank], big[rank], () -> this + ", big operand of rank " + at);
                }
            }
        }

        @Override
        public String toString() {
            return kind + " of " + count + " by " + op + " at root " + root;
        }
    }
}
