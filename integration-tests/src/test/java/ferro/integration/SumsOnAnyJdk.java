package ferro.integration;

import ferro.ReduceOp;
import ferro.group.ProcessGroup;

/** A rank that adds up tensors of several sizes, and says its JDK, its medium and how many elements were wrong. */
final class SumsOnAnyJdk {
    private static final int[] LENGTHS = {1, 4_091, 300_007};

    private SumsOnAnyJdk() {}

    public static void main(String[] arguments) {
        try (ProcessGroup group = ProcessGroup.join()) {
            int wrong = 0;
            for (int length : LENGTHS) {
                float[] data = new float[length];
                for (int index = 0; index < length; index++) {
                    data[index] = group.rank() + index % 1000;
                }
                group.allReduce(data, ReduceOp.SUM);
                int size = group.worldSize();
                for (int index = 0; index < length; index++) {
                    wrong += data[index] == size * (size - 1) / 2 + size * (index % 1000) ? 0 : 1;
                }
            }
            System.out.println(
                    "JDK " + Runtime.version().feature() + ", " + group.medium().text() + ", wrong: " + wrong);
        }
    }
}
