package ferro.examples.guide;

import ferro.group.ProcessGroup;
import java.util.Arrays;

/** Joins one part of each rank on all ranks. */
final class AllGatherParts {
    public static void main(String[] arguments) {
        try (ProcessGroup group = ProcessGroup.join()) {
            double[] own = {group.rank() + 0.25, group.rank() + 0.5};
            double[] all = new double[2 * group.worldSize()];
            group.allGather(own, all);
            System.out.println("all " + Arrays.toString(all));
        }
    }
}
