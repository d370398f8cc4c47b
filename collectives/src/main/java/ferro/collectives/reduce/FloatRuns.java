package ferro.collectives.reduce;

import ferro.DataType;
import java.nio.ByteBuffer;
import java.nio.FloatBuffer;

/** Moves runs of f32, f16 or bf16 between a memory and a block of f32; keeps views of the memory seen last. */
abstract sealed class FloatRuns {
    final Views views;

    private FloatRuns(DataType type) {
        this.views = new Views(type);
    }

    static FloatRuns of(DataType type) {
        return type == DataType.FLOAT32 ? new Singles() : new Halves(type);
    }

    /** Copies a run into the beginning of a block, as f32. */
    abstract void load(Object memory, long offset, float[] block, int length);

    /** Copies the beginning of a block into a run, rounded once where the type is shorter. */
    abstract void store(Object memory, long offset, float[] block, int length);

    private static final class Singles extends FloatRuns {
        Singles() {
            super(DataType.FLOAT32);
        }

        @Override
        void load(Object memory, long offset, float[] block, int length) {
            if (memory instanceof float[] array) {
                System.arraycopy(array, Math.toIntExact(offset), block, 0, length);
            } else {
                FloatBuffer view = (FloatBuffer) views.at((ByteBuffer) memory, offset);
                view.get(views.index(offset), block, 0, length);
            }
        }

        @Override
        void store(Object memory, long offset, float[] block, int length) {
            if (memory instanceof float[] array) {
                System.arraycopy(block, 0, array, Math.toIntExact(offset), length);
            } else {
                FloatBuffer view = (FloatBuffer) views.at((ByteBuffer) memory, offset);
                view.put(views.index(offset), block, 0, length);
            }
        }
    }

    private static final class Halves extends FloatRuns {
        private final DataType type;
        private final short[] elements = new short[FloatKernel.BLOCK];

        Halves(DataType type) {
            super(type);
            this.type = type;
        }

        @Override
        void load(Object memory, long offset, float[] block, int length) {
            ShortKernel.load(memory, offset, elements, views, length);
            for (int i = 0; i < length; i++) {
                block[i] = HalfFloats.widen(type, elements[i]);
            }
        }

        @Override
        void store(Object memory, long offset, float[] block, int length) {
            for (int i = 0; i < length; i++) {
                elements[i] = HalfFloats.narrow(type, block[i]);
            }
            ShortKernel.store(memory, offset, elements, views, length);
        }
    }
}
