package ferro.tck;

import java.util.Arrays;

/** What the elements of a tensor must be. Asked of all at once: rules look at millions. */
interface Need {
    /** Returns the place of the first element whose bits are wrong; -1 if all are right. */
    int firstWrong(long[] found);

    /** Says what is needed at the place of a wrong element. */
    String wrong(int index, long found);

    /** What a single element must be. */
    @FunctionalInterface
    interface Answer {
        /** Returns what is wrong with the bits found at an index, or null. */
        String wrong(int index, long found);
    }

    /** These bits and no others. */
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
     * What passes for right at indices from one on, where answers repeat after a period. Bits that have passed are not judged
     * again at the same place of a later period; others are, as an element may round differently there.
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
