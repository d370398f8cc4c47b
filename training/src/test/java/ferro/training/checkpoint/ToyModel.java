package ferro.training.checkpoint;

import static org.junit.jupiter.api.Assertions.assertEquals;

import ferro.DataType;
import ferro.HostTensor;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** Parameters of several types and shapes, and the part of an optimizer's state that one of several ranks has. */
final class ToyModel {
    private static final List<String> STATES = List.of("exp_avg", "exp_avg_sq");

    final List<NamedTensor> parameters = List.of(
            tensor("embed/table@0", DataType.FLOAT32, 3, 5),
            tensor("dense.weight", DataType.FLOAT64, 7),
            tensor("half", DataType.BFLOAT16, 3),
            tensor("counts", DataType.INT64, 2, 1, 2),
            tensor("mask", DataType.UINT8, 5),
            tensor("scale \"ä\"", DataType.FLOAT32));
    final List<StateSlice> slices = new ArrayList<>();

    private ToyModel() {}

    /** The model on one rank, all zeros. */
    static ToyModel on(int rank, int worldSize) {
        ToyModel model = new ToyModel();
        for (NamedTensor parameter : model.parameters.subList(0, 2)) {
            long count = parameter.values().elementCount();
            long from = count * rank / worldSize;
            long own = count * (rank + 1) / worldSize - from;
            for (String state : STATES) {
                HostTensor values = HostTensor.allocate(DataType.FLOAT32, own);
                model.slices.add(StateSlice.of(state, parameter.name(), from, values));
            }
        }
        return model;
    }

    static NamedTensor tensor(String name, DataType type, long... shape) {
        long count = 1;
        for (long length : shape) {
            count *= length;
        }
        Object array = type.carrier().newArray((int) count);
        return NamedTensor.of(name, HostTensor.ofArray(type, array, 0, (int) count), shape);
    }

    /** Gives every element a value that nothing else has, at this step. */
    ToyModel fill(long step) {
        for (NamedTensor parameter : parameters) {
            for (int index = 0; index < parameter.values().elementCount(); index++) {
                set(parameter.values(), index, value(step, parameter.name(), index));
            }
        }
        for (StateSlice slice : slices) {
            for (int index = 0; index < slice.values().elementCount(); index++) {
                slice.values().setFloat(index, value(step, slice.state() + slice.parameter(), slice.from() + index));
            }
        }
        return this;
    }

    /** Fails unless all elements are those of a step. */
    void assertOf(long step) {
        for (NamedTensor parameter : parameters) {
            for (int index = 0; index < parameter.values().elementCount(); index++) {
                int expected = value(step, parameter.name(), index);
                assertEquals(
                        stored(parameter.values(), expected), get(parameter.values(), index), parameter + " " + index);
            }
        }
        for (StateSlice slice : slices) {
            for (int index = 0; index < slice.values().elementCount(); index++) {
                int expected = value(step, slice.state() + slice.parameter(), slice.from() + index);
                assertEquals(expected, slice.values().getFloat(index), slice + " " + index);
            }
        }
    }

    TrainingState state() {
        return new TrainingState(parameters, slices, Map.of("sampler.position", "4711", "text", "\"ü\"\n</"));
    }

    static int value(long step, String name, long index) {
        return (int) (1000 * step + Math.floorMod(name.hashCode(), 97) * 8 + index + 1);
    }

    private static void set(HostTensor values, int index, int value) {
        switch (values.dataType()) {
            case FLOAT32 -> values.setFloat(index, value);
            case FLOAT64 -> values.setDouble(index, value);
            case INT64 -> values.setLong(index, value);
            case UINT8 -> values.setByte(index, (byte) value);
            default -> values.setShort(index, (short) value);
        }
    }

    private static double get(HostTensor values, int index) {
        return switch (values.dataType()) {
            case FLOAT32 -> values.getFloat(index);
            case FLOAT64 -> values.getDouble(index);
            case INT64 -> values.getLong(index);
            case UINT8 -> values.getByte(index);
            default -> values.getShort(index);
        };
    }

    private static double stored(HostTensor values, int value) {
        return switch (values.dataType()) {
            case UINT8 -> (byte) value;
            case BFLOAT16 -> (short) value;
            default -> value;
        };
    }
}
