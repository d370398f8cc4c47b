package ferro.collectives.reduce;

import ferro.DataType;

/** Moves runs of f32, f16 or bf16 between a memory and a block of f32; keeps views of the direct buffers seen last. */
abstract sealed class FloatRuns {
    final Views views;

    private FloatRuns(DataType type) {
        this.views = new Views(type);
    }

    /** Returns runs of f32, which needs no conversion, or of a type that needs one. */
    static FloatRuns of(DataType type, HalfConversion conversion) {
        return type == DataType.FLOAT32 ? new Singles() : new Halves(type, conversion);
    }

    /** Copies a run into the beginning of a block, as f32. */
    abstract void load(Object memory, long offset, float[] block, int length);

    /** Copies the beginning of a block into a run; rounds once where the type is shorter. */
    abstract void store(Object memory, long offset, float[] block, int length);

    /** Returns one element, as f32. */
    abstract float one(Object memory, long offset);

    /** Writes one element; rounds it where the type is shorter. */
    abstract void put(Object memory, long offset, float element);

    private static final class Singles extends FloatRuns {
        Singles() {
            super(DataType.FLOAT32);
        }

        @Override
        void load(Object memory, long offset, float[] block, int length) {
            FloatKernel.load(memory, offset, block, views, length);
        }

        @Override
        void store(Object memory, long offset, float[] block, int length) {
            FloatKernel.store(memory, offset, block, views, length);
        }

        @Override
        float one(Object memory, long offset) {
            return FloatKernel.one(memory, offset);
        }

        @Override
        void put(Object memory, long offset, float element) {
            FloatKernel.put(memory, offset, element);
        }
    }

    private static final class Halves extends FloatRuns {
        private final DataType type;
        private final HalfConversion conversion;
        private final short[] elements = new short[FloatKernel.BLOCK];

        Halves(DataType type, HalfConversion conversion) {
            super(type);
            this.type = type;
            this.conversion = conversion;
        }

        @Override
        void load(Object memory, long offset, float[] block, int length) {
            ShortKernel.load(memory, offset, elements, views, length);
            conversion.widen(elements, block, length);
        }

        @Override
        void store(Object memory, long offset, float[] block, int length) {
            conversion.narrow(block, elements, length);
            ShortKernel.store(memory, offset, elements, views, length);
        }

        @Override
        float one(Object memory, long offset) {
            return HalfFloats.widen(type, ShortKernel.one(memory, offset));
        }

        @Override
        void put(Object memory, long offset, float element) {
            ShortKernel.put(memory, offset, HalfFloats.narrow(type, element));
        }
    }
}
