package ferro.tck.cells;

import java.util.Arrays;

/** The expected elements of a tensor. Checks all elements at once, because rules check millions. */
interface Need {
    /** Returns the index of the first element whose bits are wrong; -1 if all are right. */
    int firstWrong(long[] found);

    /** Returns a text with the expected and the found value at the index of a wrong element. */
    String wrong(int index, long found);

    /** The expected value of a single element. */
    @FunctionalInterface
    interface Answer {
        /** Returns what is wrong with the bits found at an index, or null. */
        String wrong(int index, long found);
    }

    /** Expects exactly these bits. */
    static Need exactly(long[] bits) {
        return new Need() {
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
     * Expects right elements from an index on, where answers repeat after a period. Bits that have passed are not checked
     * again at the same place of the next period. Other bits are, because an element may round differently there.
     */
    static Need repeating(Answer answer, int period, int from) {
        return new Need() {
            @Override
            public int firstWrong(long[] found) {
                long[] passed = new long[Math.min(period, found.length)];
                int place = 0;
                for (int index = 0; index < found.length; index++) {
                    boolean known = index >= period && found[index] == passed[place];
                    if (!known && answer.wrong(from + index, found[index]) != null) {
                        return index;
                    }
                    passed[place] = found[index];
                    place = place + 1 == period ? 0 : place + 1;
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
