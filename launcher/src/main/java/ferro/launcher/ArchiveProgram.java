package ferro.launcher;

import ferro.FerroException;
import ferro.ReduceOp;
import ferro.group.ProcessGroup;

/**
 * The program that a rank runs from its start to the failure of another rank. The class archive for ranks is made from
 * a run of this program. Without the failure, the archive would lack the classes that report a failure. A rank would
 * have to load and link these classes during a failure, which takes longer than the detection of the failure.
 */
final class ArchiveProgram {
    private ArchiveProgram() {}

    /**
     * Joins a group, reduces and prints. Then the last rank ends without a goodbye, and the other ranks and their
     * listeners receive the failure.
     *
     * @param arguments none are read
     */
    public static void main(String[] arguments) {
        try (ProcessGroup group = ProcessGroup.join()) {
            group.onEvent(event -> System.out.println(event.text()));
            float[] numbers = {group.rank() + 1};
            group.allReduce(numbers, ReduceOp.SUM);
            System.out.printf("rank %d of %d: the sum is %.0f%n", group.rank(), group.worldSize(), numbers[0]);
            if (group.rank() == group.worldSize() - 1) {
                Runtime.getRuntime().halt(0);
            }
            System.out.println(lost(group, numbers).getMessage());
        }
    }

    private static FerroException lost(ProcessGroup group, float[] numbers) {
        try {
            while (true) {
                group.allReduce(numbers, ReduceOp.MAX);
            }
        } catch (FerroException failure) {
            return failure;
        }
    }
}
