package ferro.backend.gloofallback;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import ferro.Collective;
import ferro.DataType;
import ferro.DeviceTensor;
import ferro.HostTensor;
import ferro.ReduceOp;
import ferro.tck.HeapDeviceMemory;
import ferro.tck.HeapDeviceMemory.Direction;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/** What is copied, by bytes: never more than the call needs. */
class CopiesTest {
    private static final int RANKS = 3;
    private static final int ROOT = 1;
    private static final int PART = 4;
    private static final int PART_BYTES = 16;
    private static final Duration LIMIT = Duration.ofSeconds(20);
    /**
     * Ranks that take turns over 2 GiB take 16,384 of them in shared memory, and each turn of a thread costs a time slice of
     * every program that wants the core. Messages as large as the pieces take 512.
     */
    private static final Map<String, String> FEW_TURNS =
            Map.of("ferro.algorithm", "broadcast=linear", "ferro.segment", "4MiB");

    /** Each column has the parts that ranks 0, 1 and 2 copy; pieces of 8 bytes change nothing. */
    @ParameterizedTest(name = "{0}, in place: {1}")
    @DisplayName("0-10 0-12: each kind copies out, in, and on the device no more than it needs")
    @CsvSource({
        "allReduce,     false, 1 1 1, 1 1 1, 0 0 0",
        "allReduce,     true,  1 1 1, 1 1 1, 0 0 0",
        "broadcast,     true,  0 1 0, 1 0 1, 0 0 0",
        "reduce,        false, 1 1 1, 0 1 0, 0 0 0",
        "allGather,     false, 1 1 1, 2 2 2, 1 1 1",
        "allGather,     true,  1 1 1, 2 2 2, 0 0 0",
        "reduceScatter, false, 3 3 3, 1 1 1, 0 0 0",
        "reduceScatter, true,  3 3 3, 1 1 1, 0 0 0",
        "gather,        false, 1 0 1, 0 2 0, 0 1 0",
        "gather,        true,  1 0 1, 0 2 0, 0 0 0",
        "scatter,       false, 0 2 0, 1 0 1, 0 1 0",
        "scatter,       true,  0 2 0, 1 0 1, 0 0 0",
        "allToAll,      false, 2 2 2, 2 2 2, 1 1 1",
    })
    void noKindCopiesMoreThanItNeeds(String kind, boolean inPlace, String out, String in, String within) {
        for (int chunk : new int[] {1 << 20, 8}) {
            try (DeviceGroup group = DeviceGroup.cut(RANKS, chunk)) {
                group.runAll(rank -> group.group(rank)
                        .within(LIMIT)
                        .submit(call(kind, inPlace, rank, group))
                        .await());
                assertEquals(out, parts(group, Direction.TO_HOST), kind + " to the host, chunk " + chunk);
                assertEquals(in, parts(group, Direction.TO_DEVICE), kind + " to the device, chunk " + chunk);
                assertEquals(within, parts(group, Direction.ON_DEVICE), kind + " on the device, chunk " + chunk);
            }
        }
    }

    private static Collective call(String kind, boolean inPlace, int rank, DeviceGroup group) {
        DeviceTensor part = group.tensor(rank, new float[PART]);
        DeviceTensor whole = group.tensor(rank, new float[RANKS * PART]);
        DeviceTensor own = inPlace ? whole.slice((long) rank * PART, PART) : part;
        DeviceTensor other = group.tensor(rank, new float[RANKS * PART]);
        return switch (kind) {
            case "allReduce" -> Collective.allReduce(part, inPlace ? part : other.slice(0, PART), ReduceOp.SUM);
            case "broadcast" -> Collective.broadcast(part, ROOT);
            case "reduce" -> Collective.reduce(part, other.slice(0, PART), ReduceOp.MAX, ROOT);
            case "allGather" -> Collective.allGather(own, whole);
            case "reduceScatter" -> Collective.reduceScatter(whole, own, ReduceOp.SUM);
            case "gather" -> rank == ROOT ? Collective.gather(own, whole, ROOT) : Collective.gather(own, ROOT);
            case "scatter" -> rank == ROOT ? Collective.scatter(whole, own, ROOT) : Collective.scatter(own, ROOT);
            default -> Collective.allToAll(whole, other);
        };
    }

    private static String parts(DeviceGroup group, Direction direction) {
        StringBuilder text = new StringBuilder();
        for (int rank = 0; rank < RANKS; rank++) {
            double parts = (double) group.heap(rank).bytes(direction) / PART_BYTES;
            text.append(rank == 0 ? "" : " ").append(parts == (int) parts ? Integer.toString((int) parts) : parts + "");
        }
        return text.toString();
    }

    @Test
    @DisplayName("0-16 0-21 0-22: inputs stay as they were; what stands in a non-root's buffer is ignored")
    void broadcastIgnoresWhatStandsInTheOtherRanksInputsAndLeavesIt() {
        try (DeviceGroup group = DeviceGroup.cut(2, 4)) {
            float[][] given = {{7, 8, 9}, {-1, -2, -3}};
            group.runAll(rank -> {
                DeviceTensor in = group.tensor(rank, given[rank]);
                DeviceTensor fresh = group.door(rank).broadcast(in, 0, group.host(rank));
                assertArrayEquals(new float[] {7, 8, 9}, group.floats(rank, fresh), "result");
                assertArrayEquals(given[rank], group.floats(rank, in), "input");
            });
        }
    }

    @ParameterizedTest(name = "{0}")
    @EnumSource(DataType.class)
    @DisplayName("T9: every type moves in its exact size")
    void everyTypeIsBroadcastUnchanged(DataType type) {
        byte[] bits = new byte[5 * type.byteSize()];
        for (int at = 0; at < bits.length; at++) {
            bits[at] = (byte) (31 * at + 7);
        }
        try (DeviceGroup group = DeviceGroup.cut(2, 2 * type.byteSize())) {
            group.runAll(rank -> {
                ByteBuffer bytes = ByteBuffer.allocateDirect(bits.length).order(ByteOrder.nativeOrder());
                if (rank == 1) {
                    bytes.put(0, bits);
                }
                DeviceTensor data = group.heap(rank).upload(HostTensor.of(type, bytes), 0);
                group.group(rank).broadcast(data, 1);
                ByteBuffer found = (ByteBuffer) group.heap(rank).download(data).memory();
                byte[] arrived = new byte[bits.length];
                found.get(0, arrived);
                assertArrayEquals(bits, arrived, type + " on rank " + rank);
            });
        }
    }

    @Test
    @DisplayName("T17: staging is pooled: a second call makes none, and a call never has more than 32 MiB of it")
    void stagingMemoryIsPooledAndBounded() {
        int bytes = 80 << 20;
        try (DeviceGroup group = DeviceGroup.cut(1, 1 << 30)) {
            DeviceTensor data = group.heap(0).allocate(DataType.UINT8, new long[] {bytes}, 0);
            group.group(0).broadcast(data, 0);
            int first = group.heap(0).liveStagings();
            group.group(0).broadcast(data, 0);
            assertEquals(first, group.heap(0).liveStagings(), "pieces of staging after two calls");
            assertEquals(32 << 20, group.heap(0).peakStagingBytes(), "most bytes of staging");
        }
    }

    @Tag("large")
    @Test
    void tensorsAboveTwoGibibytesAreCopied() {
        long bytes = (2L << 30) + 5;
        long[] places = {0, (1L << 31) - 3, bytes - 4};
        try (DeviceGroup group = DeviceGroup.with(2, FEW_TURNS)) {
            group.runAll(rank -> {
                HeapDeviceMemory heap = group.heap(rank);
                DeviceTensor data = heap.allocate(DataType.UINT8, new long[] {bytes}, 0);
                for (int i = 0; i < places.length && rank == 0; i++) {
                    heap.write(mark(i), data.slice(places[i], 4));
                }

                group.group(rank).broadcast(data, 0);

                for (int i = 0; i < places.length; i++) {
                    HostTensor found = heap.download(data.slice(places[i], 4));
                    assertEquals(mark(i).memory(), found.memory(), "at " + places[i] + " on rank " + rank);
                }
            });
            assertEquals(bytes, group.heap(0).bytes(Direction.TO_HOST), "bytes copied out");
            assertEquals(bytes, group.heap(1).bytes(Direction.TO_DEVICE), "bytes copied in");
            assertEquals(0, group.heap(0).copies(Direction.TO_DEVICE), "the root has its data");
        }
    }

    private static HostTensor mark(int number) {
        ByteBuffer bytes = ByteBuffer.allocateDirect(4).order(ByteOrder.nativeOrder());
        return HostTensor.of(DataType.UINT8, bytes.putInt(0, 0x01020304 * (number + 3)));
    }

    @Test
    void plainMemoryReplacesRefusedPinnedMemory() {
        try (DeviceGroup group = DeviceGroup.of(2)) {
            group.runAll(rank -> {
                group.heap(rank).refusePinning();
                DeviceTensor data = group.tensor(rank, rank + 2, 5);
                group.group(rank).allReduce(data, ReduceOp.PRODUCT);
                assertArrayEquals(new float[] {6, 25}, group.floats(rank, data));
            });
        }
    }
}
