package ferro.examples.guide;

import ferro.group.ProcessGroup;

/** A rank that sends its exception to the other ranks. */
final class AbortsTheGroup {
    public static void main(String[] arguments) {
        try (ProcessGroup group = ProcessGroup.join()) {
            try {
                int batch = group.rank() == 1 ? Integer.parseInt("seventeen") : 17;
                group.barrier();
            } catch (NumberFormatException failure) {
                group.abort(failure); // the other ranks fail with this exception
                throw failure;
            }
        }
    }
}
