package ferro.collectives.reduce;

/**
 * Moves elements between 16-bit floats and blocks of f32. The order in a block is the conversion's own affair: what
 * {@link #widen} has put somewhere, {@link #narrow} takes from there.
 */
interface HalfConversion {
    /** Converts the first elements of an array into the first of a block. */
    void widen(short[] elements, float[] block, int length);

    /** Converts back, rounded once; NaNs become canonical. */
    void narrow(float[] block, short[] elements, int length);
}
