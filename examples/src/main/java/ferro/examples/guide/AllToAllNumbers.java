package ferro.examples.guide;

import ferro.group.ProcessGroup;
import java.util.Arrays;
import java.util.stream.IntStream;

/** Sends one element from each rank to each rank. */
final class AllToAllNumbers {
    public static void main(String[] arguments) {
        try (ProcessGroup group = ProcessGroup.join()) {
            int first = 10 * group.rank(); // element j is for rank j
            int[] sent = IntStream.range(first, first + group.worldSize()).toArray();
            int[] received = new int[group.worldSize()]; // element j is from rank j
            group.allToAll(sent, received);
            System.out.println(Arrays.toString(sent) + " became " + Arrays.toString(received));
        }
    }
}
