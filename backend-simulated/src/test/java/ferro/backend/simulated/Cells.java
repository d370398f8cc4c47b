package ferro.backend.simulated;

import ferro.DataType;
import ferro.HostTensor;
import java.util.Arrays;

/** Elements of one type, written and read as whole numbers, so that one reference serves all types. */
final class Cells {
    /** What a test writes over memory that nobody may touch any more; no program computes it. */
    static final long CANARY = -77;

    private final Object array;
    private final int length;
    private final HostTensor tensor;

    private Cells(Object array, int length, HostTensor tensor) {
        this.array = array;
        this.length = length;
        this.tensor = tensor;
    }

    static Cells of(DataType type, long[] values) {
        int length = values.length;
        switch (type) {
            case INT32:
                int[] ints = new int[length];
                Arrays.setAll(ints, i -> (int) values[i]);
                return new Cells(ints, length, HostTensor.of(ints));
            case FLOAT32:
                float[] floats = new float[length];
                for (int i = 0; i < length; i++) {
                    floats[i] = values[i];
                }
                return new Cells(floats, length, HostTensor.of(floats));
            case FLOAT64:
                double[] doubles = new double[length];
                Arrays.setAll(doubles, i -> values[i]);
                return new Cells(doubles, length, HostTensor.of(doubles));
            default:
                long[] longs = values.clone();
                return new Cells(longs, length, HostTensor.of(longs));
        }
    }

    HostTensor tensor() {
        return tensor;
    }

    long at(int index) {
        if (array instanceof int[] ints) {
            return ints[index];
        } else if (array instanceof float[] floats) {
            return floats[index] == (long) floats[index] ? (long) floats[index] : Long.MIN_VALUE;
        } else if (array instanceof double[] doubles) {
            return doubles[index] == (long) doubles[index] ? (long) doubles[index] : Long.MIN_VALUE;
        }
        return ((long[]) array)[index];
    }

    /** Returns the first place that does not hold what it should, or -1. */
    int firstWrong(long[] expected) {
        for (int i = 0; i < length; i++) {
            if (at(i) != expected[i]) {
                return i;
            }
        }
        return -1;
    }

    void fillWithCanary() {
        if (array instanceof int[] ints) {
            Arrays.fill(ints, (int) CANARY);
        } else if (array instanceof float[] floats) {
            Arrays.fill(floats, CANARY);
        } else if (array instanceof double[] doubles) {
            Arrays.fill(doubles, CANARY);
        } else {
            Arrays.fill((long[]) array, CANARY);
        }
    }

    /** Returns the first place that somebody wrote over the canary, or -1. */
    int firstTouched() {
        for (int i = 0; i < length; i++) {
            if (at(i) != CANARY) {
                return i;
            }
        }
        return -1;
    }
}
