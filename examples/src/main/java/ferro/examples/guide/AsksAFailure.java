package ferro.examples.guide;

import ferro.FerroException;
import ferro.group.ProcessGroup;

/** Ranks that ask a failure what has happened. */
final class AsksAFailure {
    public static void main(String[] arguments) {
        try (ProcessGroup group = ProcessGroup.join()) {
            if (group.rank() == 2) {
                Runtime.getRuntime().halt(3); // rank 2 crashes
            }
            try {
                group.barrier();
            } catch (FerroException failure) {
                FerroException.Where where = failure.where();
                System.out.println(failure.code() + " in " + where.operation() + " seq " + where.sequence()
                        + " of group " + where.group() + ", culprits " + where.culprits());
                throw failure;
            }
        }
    }
}
