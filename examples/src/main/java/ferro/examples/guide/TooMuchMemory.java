package ferro.examples.guide;

import ferro.group.ProcessGroup;

/** A rank whose heap is too small. */
final class TooMuchMemory {
    public static void main(String[] arguments) {
        try (ProcessGroup group = ProcessGroup.join()) {
            float[] table = group.rank() == 1 ? new float[1_000_000_000] : new float[10];
            group.broadcast(table, 0);
        }
    }
}
