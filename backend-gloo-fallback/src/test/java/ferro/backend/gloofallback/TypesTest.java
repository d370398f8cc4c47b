package ferro.backend.gloofallback;

import static org.junit.jupiter.api.Assertions.assertEquals;

import ferro.DataType;
import ferro.DeviceTensor;
import ferro.HostTensor;
import ferro.ReduceOp;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Map;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A device tensor of any type finds its way through the host. */
class TypesTest {
    @DisplayName("decision 9: the round trip takes every type, and knows unsigned ones from signed ones")
    @ParameterizedTest
    @EnumSource
    void everyTypeTakesTheRoundTrip(DataType type) {
        long large = 1L << 8 * type.byteSize() - 3;
        // the first is the largest of unsigned elements and the smallest of all others
        long[] given = {large << 2 | large, large, large >> 1};
        boolean unsigned = type.label().startsWith("u");
        Map<ReduceOp, Long> needed = Map.of(
                ReduceOp.MAX, unsigned ? given[0] : given[1],
                ReduceOp.MIN, unsigned ? given[2] : given[0]);
        try (DeviceGroup group = DeviceGroup.of(given.length)) {
            for (ReduceOp op : needed.keySet()) {
                group.runAll(rank -> {
                    DeviceTensor own = group.heap(rank).upload(of(type, given[rank]), rank % 2);
                    DeviceTensor result = group.door(rank).allReduce(own, op, group.host(rank));
                    HostTensor found = group.heap(rank).download(result);
                    assertEquals(of(type, needed.get(op)).memory(), bytes(found), op + " of " + type.label());
                });
            }
        }
    }

    /** Makes a tensor of one element, the low bits of a number. */
    private static HostTensor of(DataType type, long bits) {
        ByteBuffer bytes = ByteBuffer.allocateDirect(Long.BYTES).order(ByteOrder.LITTLE_ENDIAN);
        bytes.putLong(0, bits);
        return HostTensor.of(type, bytes.slice(0, type.byteSize()).order(ByteOrder.nativeOrder()));
    }

    private static ByteBuffer bytes(HostTensor tensor) {
        return ((ByteBuffer) tensor.memory())
                .slice(
                        (int) tensor.offset(),
                        (int) tensor.elementCount() * tensor.dataType().byteSize());
    }
}
