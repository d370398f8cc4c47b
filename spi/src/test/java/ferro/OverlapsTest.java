package ferro;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What a call says of memory that it reads and writes; all kinds, forms and media stand in the kit's rules 120 and 121. */
class OverlapsTest {
    private static final int RANK = 1;
    private static final int RANKS = 3;

    @TempDir
    private Path folder;

    @Test
    void anOverlapOfAllReduceIsRefusedWithTheDistanceOfItsTensors() {
        float[] memory = new float[11];
        HostTensor in = HostTensor.of(DataType.FLOAT32, memory, 1, 8);
        assertEquals(
                "allReduce: input f32[8] and output f32[8] overlap: output begins 4 bytes before the start of input,"
                        + " need the identical range (in place) or separate memory",
                refusal(Collective.allReduce(in, HostTensor.of(DataType.FLOAT32, memory, 0, 8), ReduceOp.SUM)));
        says("8 bytes behind the start of input", Collective.allReduce(in, of(memory, 3), ReduceOp.SUM));
        says("reduce: input", Collective.reduce(in, of(memory, 3), ReduceOp.SUM, RANK));
        legal(Collective.reduce(in, of(memory, 3), ReduceOp.SUM, 0));
        legal(Collective.allReduce(in, of(memory, 1), ReduceOp.SUM));
    }

    private static HostTensor of(float[] memory, int from) {
        return HostTensor.of(DataType.FLOAT32, memory, from, 8);
    }

    @Test
    void anOverlapIsRefusedWithTheOffsetOfTheOwnPart() {
        double[] memory = new double[12];
        HostTensor whole = HostTensor.of(memory);
        HostTensor wrong = HostTensor.of(DataType.FLOAT64, memory, 5, 4);
        String where = " begins 40 bytes behind the start of ";
        String need = "need 32 bytes behind it (rank 1's own part, in place) or separate memory";
        assertEquals(
                "allGather: input f64[4] and output f64[12] overlap: input" + where + "output, " + need,
                refusal(Collective.allGather(wrong, whole)));
        assertEquals(
                "scatter: output f64[4] and input f64[12] overlap: output" + where + "input, " + need,
                refusal(Collective.scatter(whole, wrong, RANK)));
        says(need, Collective.gather(wrong, whole, RANK));
        says(need, Collective.reduceScatter(whole, wrong, ReduceOp.SUM));
        HostTensor own = HostTensor.of(DataType.FLOAT64, memory, 4, 4);
        legal(Collective.allGather(own, whole));
        says("need 40 bytes", Collective.allGather(own, whole, new long[] {5, 4, 3}));
        legal(Collective.allGather(wrong, whole, new long[] {5, 4, 3}));
        HostTensor behind = HostTensor.of(DataType.FLOAT64, memory, 3, 9);
        legal(Collective.reduceScatter(behind, HostTensor.of(DataType.FLOAT64, memory, 0, 3), ReduceOp.SUM));
    }

    @Test
    void anAllToAllInPlaceIsRefused() {
        HostTensor both = HostTensor.of(new long[6]);
        assertEquals(
                "allToAll: input i64[6] and output i64[6] overlap: output begins at the start of input, need separate"
                        + " memory: this call never works in place",
                refusal(Collective.allToAll(both, both)));
    }

    @Test
    void memoryOneGibibyteAwayDoesNotOverlap() throws IOException {
        // sparse: what is not touched takes no room, neither on the disk nor in memory
        try (FileChannel file = FileChannel.open(
                folder.resolve("sparse"),
                StandardOpenOption.CREATE_NEW,
                StandardOpenOption.READ,
                StandardOpenOption.WRITE)) {
            ByteBuffer mapped = file.map(FileChannel.MapMode.READ_WRITE, 0, (1L << 30) + 4096);
            HostTensor first = HostTensor.of(DataType.INT32, part(mapped, 0, 4096));
            legal(Collective.allReduce(
                    first, HostTensor.of(DataType.INT32, part(mapped, 1 << 30, 4096)), ReduceOp.SUM));
            HostTensor large = HostTensor.of(DataType.INT32, part(mapped, 0, 1 << 30));
            HostTensor end = HostTensor.of(DataType.INT32, part(mapped, 1024, 1 << 30));
            says("1024 bytes behind the start of input", Collective.allReduce(large, end, ReduceOp.SUM));
        }
    }

    @Test
    void buffersAreComparedWhateverTheirPositions() {
        ByteBuffer memory = ByteBuffer.allocateDirect(96).order(ByteOrder.nativeOrder());
        ByteBuffer one =
                memory.duplicate().order(ByteOrder.nativeOrder()).position(8).limit(40);
        ByteBuffer other = part(memory, 16, 80).position(24).limit(56);
        Collective beside = Collective.allReduce(
                HostTensor.of(DataType.INT32, one), HostTensor.of(DataType.INT32, other), ReduceOp.SUM);
        legal(beside);
        one.clear();
        other.clear();
        legal(beside);
        HostTensor far = HostTensor.of(DataType.INT32, other.position(20).limit(52));
        says(
                "28 bytes behind",
                Collective.allReduce(
                        HostTensor.of(DataType.INT32, one.position(8).limit(40)), far, ReduceOp.SUM));
    }

    @ParameterizedTest
    @ValueSource(longs = {0x7f00_0000_1000L, 0xffff_8000_0000_1000L})
    void deviceTensorsAreComparedByAddressOnOneDevice(long address) {
        DeviceTensor in = on(0, address, 100);
        says("400 bytes", Collective.allToAll(on(0, address, 300), on(0, address + 400, 300)));
        says("need 400 bytes", Collective.allGather(in, on(0, address, 300)));
        says("3 bytes before", Collective.allReduce(in, on(0, address - 3, 100), ReduceOp.MAX));
        legal(Collective.allGather(in, on(0, address - 400, 300)));
        legal(Collective.allReduce(in, on(0, address + 400, 100), ReduceOp.MAX));
        legal(Collective.allReduce(in, on(0, address, 100), ReduceOp.MAX));
    }

    @Test
    void aDeviceTensorWithoutMemoryOverlapsNothing() {
        legal(Collective.allReduce(on(0, 16, 100), on(0, 0, 100), ReduceOp.SUM));
        legal(Collective.allReduce(on(0, 0, 100), on(0, 16, 100), ReduceOp.SUM));
    }

    @Test
    void overlapsOfMoreThan64BitsOfBytesAreFound() {
        DeviceTensor huge = on(0, 4096, Long.MAX_VALUE / 2);
        says("overlap", Collective.allReduce(huge, on(0, 4100, Long.MAX_VALUE / 2), ReduceOp.SUM));
    }

    private static DeviceTensor on(int device, long address, long count) {
        return new DeviceTensor(DataType.FLOAT32, new long[] {count}, address, device, null);
    }

    private static ByteBuffer part(ByteBuffer memory, int from, int bytes) {
        return memory.duplicate().clear().slice(from, bytes).order(ByteOrder.nativeOrder());
    }

    private static void legal(Collective call) {
        assertDoesNotThrow(() -> call.check(RANK, RANKS));
    }

    private static void says(String part, Collective call) {
        String refusal = refusal(call);
        assertTrue(refusal.contains(part), refusal);
    }

    private static String refusal(Collective call) {
        return assertThrows(IllegalArgumentException.class, () -> call.check(RANK, RANKS))
                .getMessage();
    }
}
