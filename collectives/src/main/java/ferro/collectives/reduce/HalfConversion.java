package ferro.collectives.reduce;

/**
 * Moves elements between 16-bit floats and blocks of f32. The conversion chooses the order in a block: {@link #narrow}
 * reads each element where {@link #widen} has put it.
 */
interface HalfConversion {
    /** Converts the first elements of an array into the first of a block. */
    void widen(short[] elements, float[] block, int length);

    /** Converts back and rounds once; NaNs become canonical. */
    void narrow(float[] block, short[] elements, int length);
}
