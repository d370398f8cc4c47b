package ferro.collectives.reduce;

import ferro.DataType;

/** Conversions of f16 or bf16, one element after the other. */
record PlainHalves(DataType type) implements HalfConversion {
    @Override
    public void widen(short[] elements, float[] block, int length) {
        for (int i = 0; i < length; i++) {
            block[i] = HalfFloats.widen(type, elements[i]);
        }
    }

    @Override
    public void narrow(float[] block, short[] elements, int length) {
        for (int i = 0; i < length; i++) {
            elements[i] = HalfFloats.narrow(type, block[i]);
        }
    }
}
