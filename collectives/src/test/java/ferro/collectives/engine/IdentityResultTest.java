package ferro.collectives.engine;

import static org.junit.jupiter.api.Assertions.assertEquals;

import ferro.DataType;
import ferro.HostTensor;
import ferro.ReduceOp;
import ferro.collectives.engine.OperandStager.IdentityStager;
import ferro.collectives.reduce.KernelFactory;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class IdentityResultTest {
    private static final List<ReduceOp> OPS = List.of(
            ReduceOp.SUM,
            ReduceOp.PRODUCT,
            ReduceOp.MIN,
            ReduceOp.MAX,
            ReduceOp.BAND,
            ReduceOp.BOR,
            ReduceOp.BXOR,
            ReduceOp.preMultipliedSum(3));

    /** More elements than one block has, in whole arrays, parts of arrays and buffers. */
    @ParameterizedTest
    @EnumSource
    void combiningWithTheIdentityKeepsEachElement(DataType type) {
        for (ReduceOp op : OPS) {
            if (KernelFactory.unsupportedBecause(type, op).isPresent()) {
                continue;
            }
            for (int length : new int[] {1, 5, 3000}) {
                for (HostTensor result : memory(type, length)) {
                    HostTensor elements = elements(type, length);
                    new IdentityStager(op, elements, result).deliver();
                    HostTensor combined = elements(type, length);
                    KernelFactory.of(type, op, 1).combine(combined, 0, result, 0, length);
                    assertEquals(text(elements), text(combined), () -> op + " of " + result);
                }
            }
        }
    }

    private static List<HostTensor> memory(DataType type, int length) {
        Object array = type.carrier().newArray(length + 4);
        List<HostTensor> all = new ArrayList<>();
        all.add(HostTensor.ofArray(type, type.carrier().newArray(length), 0, length));
        all.add(HostTensor.ofArray(type, array, 3, length));
        all.add(HostTensor.allocate(type, length));
        return all;
    }

    /** Returns elements of 1, 2 and so on, of both signs for integers; the bits of small floats of both signs. */
    private static HostTensor elements(DataType type, int length) {
        HostTensor tensor = HostTensor.allocate(type, length);
        int size = type.byteSize();
        for (int at = 0; at < length; at++) {
            // the sign bit and the low bits of each element; not zero, and no NaN
            tensor.buffer().put(at * size, (byte) (1 + at % 100));
            tensor.buffer().put(at * size + size - 1, (byte) (at % 2 == 0 ? 0x81 : 0x23));
        }
        return tensor;
    }

    private static List<Byte> text(HostTensor tensor) {
        List<Byte> bytes = new ArrayList<>();
        for (int at = 0; at < tensor.byteCount(); at++) {
            bytes.add(tensor.buffer().get(at));
        }
        return bytes;
    }
}
