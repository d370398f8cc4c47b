package ferro.examples.guide;

import ferro.group.ProcessGroup;
import java.util.Arrays;

/** Gives each rank one part of the array of rank 0. */
final class ScatterParts {
    public static void main(String[] arguments) {
        try (ProcessGroup group = ProcessGroup.join()) {
            int[] all = group.rank() == 0 ? new int[] {10, 11, 20, 21, 30, 31} : null;
            int[] own = new int[2];
            group.scatter(all, own, 0); // only rank 0 needs the whole array
            System.out.println("own " + Arrays.toString(own));
        }
    }
}
