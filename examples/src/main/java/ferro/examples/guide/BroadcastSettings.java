package ferro.examples.guide;

import ferro.group.ProcessGroup;
import java.util.Arrays;

/** Copies the array of rank 0 to all ranks. */
final class BroadcastSettings {
    public static void main(String[] arguments) {
        try (ProcessGroup group = ProcessGroup.join()) {
            int[] settings = new int[3];
            if (group.rank() == 0) {
                settings = new int[] {64, 10, 7}; // only rank 0 knows the settings
            }
            group.broadcast(settings, 0);
            System.out.println("settings " + Arrays.toString(settings));
        }
    }
}
