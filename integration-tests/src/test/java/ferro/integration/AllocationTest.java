package ferro.integration;

import static org.junit.jupiter.api.Assertions.assertEquals;

import com.sun.management.ThreadMXBean;
import ferro.DataType;
import ferro.HostTensor;
import ferro.ReduceOp;
import ferro.group.ProcessGroup;
import ferro.harness.Ranks;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What a blocking call allocates on its thread, by the JVM's own count: little, and nothing for each step of it. */
@Timeout(300)
class AllocationTest {
    /** Few: each takes turns of the scheduler where other programs want the cores. */
    private static final int CALLS = 20;
    /** Until the compiler has seen all of it; most often a tenth of these. */
    private static final int ROUNDS_MOST = 10_000;

    /** By call the bytes of ranks 0 and 1. A commit that raises one says why. */
    private static final Path WRITTEN = Path.of("src/test/resources/bytes-per-call.csv");

    private static final ReduceOp OWN = ReduceOp.ofFloats("larger", (a, b) -> Math.max(a, b));

    private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();

    private final Map<String, long[]> written = new TreeMap<>();
    private final ConcurrentHashMap<String, long[]> least = new ConcurrentHashMap<>();
    /** Over TCP, where a call that waits for the kernel takes more than one that does not. */
    private long bytesPerCallMost = 128;

    private record Called(String name, Consumer<ProcessGroup> call) {}

    @ParameterizedTest
    @ValueSource(strings = {"simulated", "tcp", "shm"})
    void aBlockingCallAllocatesNoMoreThanItsRecordedLimit(String medium) throws IOException {
        for (String line : Files.readAllLines(WRITTEN)) {
            String[] fields = line.split(",");
            written.put(fields[0], new long[] {Long.parseLong(fields[1]), Long.parseLong(fields[2])});
        }
        eachAllocatesLittle(medium, AllocationTest::calls);
        assertEquals(written.keySet(), least.keySet());
    }

    /** Each part of an array that is lent to a system call is two small objects, for up to 256 KiB. */
    @Test
    void aBlockingCallWhoseArraysAreLentAllocatesAtMostAKibibyte() {
        bytesPerCallMost = 1024;
        eachAllocatesLittle("tcp", AllocationTest::largeCalls);
    }

    private void eachAllocatesLittle(String medium, Supplier<List<Called>> calls) {
        Ranks.each(medium, 2, group -> measure(medium, group, calls.get()));
        List<String> tooMuch = new ArrayList<>();
        new TreeMap<>(least).forEach((call, bytes) -> {
            String row = call + "," + bytes[0] + "," + bytes[1];
            System.out.println(medium + ": " + row);
            if (bytes[0] > limit(medium, call, 0) || bytes[1] > limit(medium, call, 1)) {
                tooMuch.add(row);
            }
        });
        assertEquals(List.of(), tooMuch, "bytes per call of ranks 0 and 1");
        assertEquals(calls.get().size(), least.size());
    }

    private long limit(String medium, String call, int rank) {
        long bytes = written.getOrDefault(call, new long[2])[rank];
        return medium.equals("tcp") ? Math.max(bytesPerCallMost, bytes) : bytes + 16;
    }

    /**
     * Each call until every rank has seen one round of it at the bound, so that all make as many; the least that was seen is
     * what a warm call takes.
     */
    private void measure(String medium, ProcessGroup group, List<Called> calls) {
        byte[] going = new byte[calls.size()];
        Arrays.fill(going, (byte) 1);
        for (int round = 0; round < ROUNDS_MOST && !Arrays.equals(going, new byte[going.length]); round++) {
            for (int i = 0; i < going.length; i++) {
                if (going[i] != 0) {
                    Called called = calls.get(i);
                    long[] lowest =
                            least.computeIfAbsent(called.name, name -> new long[] {Long.MAX_VALUE, Long.MAX_VALUE});
                    lowest[group.rank()] = Math.min(lowest[group.rank()], perCall(group, called));
                    going[i] = (byte) (lowest[group.rank()] <= limit(medium, called.name, group.rank()) ? 0 : 1);
                }
            }
            group.allReduce(going, ReduceOp.MAX);
        }
    }

    private static long perCall(ProcessGroup group, Called called) {
        // a message that comes before its receive is kept, which takes more, so an average depends on who is ahead
        int calls = called.name.contains("send") ? 1 : CALLS;
        long before = THREADS.getCurrentThreadAllocatedBytes();
        for (int i = 0; i < calls; i++) {
            called.call.accept(group);
        }
        return (THREADS.getCurrentThreadAllocatedBytes() - before) / calls;
    }

    /** Calls with counts, which are made once: equal, and unequal. */
    private static List<Called> callsWithCounts() {
        HostTensor[] parts = {
            HostTensor.of(new float[1000]), HostTensor.of(new float[700]), HostTensor.of(new float[1300])
        };
        HostTensor all = HostTensor.of(new float[2000]);
        HostTensor other = HostTensor.of(new float[2000]);
        long[] equal = {1000, 1000};
        long[] unequal = {700, 1300};
        return List.of(
                new Called("allGather with equal counts", group -> group.allGather(parts[0], all, equal)),
                new Called(
                        "allGather with unequal counts",
                        group -> group.allGather(parts[1 + group.rank()], all, unequal)),
                new Called(
                        "reduceScatter with unequal counts",
                        group -> group.reduceScatter(all, parts[1 + group.rank()], ReduceOp.MAX, unequal)),
                new Called("gather with equal counts", group -> group.gather(parts[0], all, 0, equal)),
                new Called("allToAll with equal counts", group -> group.allToAll(all, other, equal, equal)));
    }

    private static List<Called> labelledCalls() {
        float[] array = new float[1000];
        HostTensor direct = HostTensor.allocate(DataType.FLOAT32, 1000);
        ProcessGroup[] views = new ProcessGroup[200];
        int[] next = {0};
        return List.of(
                new Called(
                        "allReduce array with a label",
                        group -> view(group, views, 0).allReduce(array, ReduceOp.MAX)),
                new Called(
                        "allReduce tensor with a label",
                        group -> view(group, views, 1).allReduce(direct, ReduceOp.MAX)),
                new Called(
                        "barrier with a label", group -> view(group, views, 2).barrier()),
                new Called(
                        "allReduce arrays with a hundred labels in turn",
                        group -> view(group, views, next[0]++ % 100 + 100).allReduce(array, ReduceOp.MAX)));
    }

    private static ProcessGroup view(ProcessGroup group, ProcessGroup[] views, int index) {
        if (views[index] == null) {
            views[index] = group.labelled("layers." + index + ".weight");
        }
        return views[index];
    }

    /** Calls on arrays so large that the system calls of JDK 22 and newer take them as they are. */
    private static List<Called> largeCalls() {
        float[] array = new float[80_000];
        float[] both = new float[160_000];
        float[] other = new float[160_000];
        return List.of(
                new Called("broadcast", group -> group.broadcast(array, 0)),
                new Called("allGather", group -> group.allGather(array, both)),
                new Called("allToAll", group -> group.allToAll(both, other)));
    }

    private static List<Called> calls() {
        List<Called> calls = new ArrayList<>();
        for (int length : new int[] {1, 1000, 30_000}) {
            float[] array = new float[length];
            float[] both = new float[2 * length];
            float[] other = new float[2 * length];
            HostTensor direct = HostTensor.allocate(DataType.FLOAT32, length);
            String of = " of " + length;
            calls.add(new Called("allReduce array" + of, group -> group.allReduce(array, ReduceOp.MAX)));
            calls.add(new Called("allReduce tensor" + of, group -> group.allReduce(direct, ReduceOp.MAX)));
            calls.add(new Called("allReduce array by a user's code" + of, group -> group.allReduce(array, OWN)));
            calls.add(new Called("allReduce tensor by a user's code" + of, group -> group.allReduce(direct, OWN)));
            calls.add(new Called("allGather arrays" + of, group -> group.allGather(array, both)));
            calls.add(new Called("allToAll arrays" + of, group -> group.allToAll(both, other)));
            HostTensor all = HostTensor.allocate(DataType.FLOAT32, 2 * length);
            calls.add(new Called("allGather tensors" + of, group -> group.allGather(direct, all)));
            List<HostTensor> parts = Stream.of(0, 1)
                    .map(rank -> all.slice((long) rank * length, length).buffer())
                    .map(buffer -> HostTensor.of(DataType.FLOAT32, buffer))
                    .toList();
            calls.add(new Called(
                    "allGather in place by two buffers" + of, group -> group.allGather(parts.get(group.rank()), all)));
        }
        calls.addAll(callsWithCounts());
        double[] doubles = new double[1000];
        calls.add(new Called("allReduce array of f64", group -> group.allReduce(doubles, ReduceOp.MAX)));
        short[] shorts = new short[1000];
        calls.add(new Called("allReduce array of i16", group -> group.allReduce(shorts, ReduceOp.MAX)));
        calls.add(new Called("barrier", ProcessGroup::barrier));
        calls.addAll(labelledCalls());
        float[] message = new float[1000];
        calls.add(new Called("send to a receive", group -> send(group, message, false)));
        calls.add(new Called("send before its receive", group -> send(group, message, true)));
        return calls;
    }

    private static void send(ProcessGroup group, float[] message, boolean isEarly) {
        if (group.rank() == 0) {
            // a receiver that always comes second would have every message kept
            LockSupport.parkNanos(100_000);
            group.send(message, 1, 0);
        }
        if (isEarly) {
            group.barrier();
        }
        if (group.rank() == 1) {
            group.recv(message, 0, 0);
        }
    }
}
