package ferro.launcher;

import ferro.FerroException;
import ferro.ReduceOp;
import ferro.group.ProcessGroup;

/**
 * What a rank does from its start to the death of another one: the archive of a rank's classes is made of it. Without the
 * second half a rank would read and link the classes that tell a failure when it has to be told, which takes longer than the
 * failure itself takes to be found.
 */
final class Rehearsal {
    private Rehearsal() {}

    /**
     * Joins, adds and prints; then the last rank ends without a word, and the others hear of it.
     *
     * @param arguments none
     */
    public static void main(String[] arguments) {
        try (ProcessGroup group = ProcessGroup.join()) {
            float[] numbers = {group.rank() + 1};
            group.allReduce(numbers, ReduceOp.SUM);
            System.out.printf("rank %d of %d: the sum is %.0f%n", group.rank(), group.worldSize(), numbers[0]);
            if (group.rank() == group.worldSize() - 1) {
                Runtime.getRuntime().halt(0);
            }
            FerroException lost = lost(group, numbers);
            System.out.println(lost.getMessage());
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
