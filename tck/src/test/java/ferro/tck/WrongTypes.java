package ferro.tck;

import ferro.Collective;
import ferro.CollectiveKind;
import ferro.DataType;
import ferro.HostTensor;
import ferro.Tensor;
import ferro.tck.WrongResults.Decorated;
import ferro.tck.WrongResults.Replacing;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Map;

/** Back ends that take the elements of an all-reduce for those of another type; none of them moves a wrong byte. */
final class WrongTypes {
    private WrongTypes() {}

    static final class ComparesUnsignedAsSigned extends Decorated {
        ComparesUnsignedAsSigned() {
            super(honest -> new Replacing(
                    honest,
                    call -> taking(
                            call,
                            Map.of(
                                    DataType.UINT8, DataType.INT8,
                                    DataType.UINT16, DataType.INT16,
                                    DataType.UINT32, DataType.INT32,
                                    DataType.UINT64, DataType.INT64))));
        }
    }

    static final class AddsHalvesAsIntegers extends Decorated {
        AddsHalvesAsIntegers() {
            super(honest -> new Replacing(
                    honest,
                    call -> taking(call, Map.of(DataType.FLOAT16, DataType.INT16, DataType.BFLOAT16, DataType.INT16))));
        }
    }

    static final class TakesOneHalfForTheOther extends Decorated {
        TakesOneHalfForTheOther() {
            super(honest -> new Replacing(honest, call -> taking(call, Map.of(DataType.BFLOAT16, DataType.FLOAT16))));
        }
    }

    private static Collective taking(Collective call, Map<DataType, DataType> taken) {
        if (call.kind() != CollectiveKind.ALL_REDUCE
                || !taken.containsKey(call.in().dataType())) {
            return call;
        }
        DataType type = taken.get(call.in().dataType());
        return Collective.allReduce(as(type, call.in()), as(type, call.out()), call.op());
    }

    private static HostTensor as(DataType type, Tensor tensor) {
        HostTensor host = (HostTensor) tensor;
        int from = (int) host.offset();
        int length = (int) host.elementCount();
        if (host.memory() instanceof ByteBuffer bytes) {
            return HostTensor.of(
                    type, bytes.slice(from, length * type.byteSize()).order(ByteOrder.nativeOrder()));
        }
        if (host.memory() instanceof byte[] array) {
            return HostTensor.of(type, array, from, length);
        }
        if (host.memory() instanceof short[] array) {
            return HostTensor.of(type, array, from, length);
        }
        return host.memory() instanceof int[] array
                ? HostTensor.of(type, array, from, length)
                : HostTensor.of(type, (long[]) host.memory(), from, length);
    }
}
