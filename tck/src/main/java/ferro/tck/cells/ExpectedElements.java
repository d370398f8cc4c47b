package ferro.tck.cells;

import java.util.Arrays;

/** The expected elements of a tensor. A single call checks all elements, because rules check millions of elements. */
public interface ExpectedElements {
    /** Returns the index of the first element whose bits are wrong, or -1 if all elements are right. */
    int firstWrong(long[] found);

    /** Returns a text with the expected and the found value at the index of a wrong element. */
    String wrong(int index, long found);

    /** The expected value of a single element. */
    @FunctionalInterface
    interface ExpectedElement {
        /** Returns a description of the error in the bits found at an index, or null if the bits are right. */
        String wrong(int index, long found);
    }

    /** Returns a check that expects exactly the given bits. */
    static ExpectedElements exactly(long[] bits) {
        return new ExpectedElements() {
            @Override
            public int firstWrong(long[] found) {
                return Arrays.mismatch(found, bits);
            }

            @Override
            public String wrong(int index, long found) {
                return "need bits " + Long.toHexString(bits[index]) + ", found " + Long.toHexString(found);
            }
        };
    }

    /**
     * Returns a check of elements from an index on, whose expected values repeat after a period. Correct bits are not
     * checked again if the same bits repeat one period later. Bits that differ from the bits one period earlier are
     * checked, because an element may round differently in another period.
     */
    static ExpectedElements repeating(ExpectedElement answer, int period, int from) {
        return new ExpectedElements() {
            @Override
            public int firstWrong(long[] found) {
                long[] passed = new long[Math.min(period, found.length)];
                int phase = 0;
                for (int index = 0; index < found.length; index++) {
                    boolean known = index >= period && found[index] == passed[phase];
                    if (!known && answer.wrong(from + index, found[index]) != null) {
                        return index;
                    }
                    passed[phase] = found[index];
                    phase = phase + 1 == period ? 0 : phase + 1;
                }
                return -1;
            }

            @Override
            public String wrong(int index, long found) {
                return answer.wrong(from + index, found);
            }
        };
    }
}
