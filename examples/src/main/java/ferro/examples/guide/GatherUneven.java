package ferro.examples.guide;

import ferro.HostTensor;
import ferro.group.ProcessGroup;
import java.util.Arrays;

/** Joins parts of unequal length on rank 0. */
final class GatherUneven {
    public static void main(String[] arguments) {
        try (ProcessGroup group = ProcessGroup.join()) {
            int[] own = Arrays.copyOf(new int[] {7, 8, 9}, group.rank() + 1); // 1, 2 or 3 elements
            long[] counts = new long[group.worldSize()];
            group.allGather(new long[] {own.length}, counts); // every rank needs all lengths
            int[] all = new int[group.rank() == 0 ? (int) Arrays.stream(counts).sum() : 0];
            group.gather(HostTensor.of(own), HostTensor.of(all), 0, counts);
            System.out.println("own " + Arrays.toString(own) + ", all " + Arrays.toString(all));
        }
    }
}
