package ferro.backend.tcp.net;

import ferro.DataType;
import ferro.HostTensor;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/** Where the elements of a test lie. */
public enum Memory {
    ARRAY {
        @Override
        public HostTensor floats(int count) {
            return HostTensor.of(DataType.FLOAT32, new float[count + OFFSET], OFFSET, count);
        }
    },
    DIRECT {
        @Override
        public HostTensor floats(int count) {
            ByteBuffer bytes =
                    ByteBuffer.allocateDirect((count + OFFSET) * Float.BYTES).order(ByteOrder.nativeOrder());
            return HostTensor.of(DataType.FLOAT32, bytes.position(OFFSET * Float.BYTES));
        }
    };

    /** So that a forgotten offset shows. */
    private static final int OFFSET = 3;

    public abstract HostTensor floats(int count);

    /** Makes elements {@code start, start + 1, ...} modulo a prime, none of them 0 or 1. */
    public HostTensor filled(int count, int start) {
        HostTensor made = floats(count);
        for (int i = 0; i < count; i++) {
            put(made, i, value(i, start));
        }
        return made;
    }

    public static float value(int i, int start) {
        return (start + i) % 65_521 + 2;
    }

    public static void put(HostTensor tensor, int i, float value) {
        if (tensor.memory() instanceof float[] array) {
            array[(int) tensor.offset() + i] = value;
        } else {
            ((ByteBuffer) tensor.memory()).putFloat((int) tensor.offset() + i * Float.BYTES, value);
        }
    }

    public static float at(HostTensor tensor, int i) {
        if (tensor.memory() instanceof float[] array) {
            return array[(int) tensor.offset() + i];
        }
        return ((ByteBuffer) tensor.memory()).getFloat((int) tensor.offset() + i * Float.BYTES);
    }
}
