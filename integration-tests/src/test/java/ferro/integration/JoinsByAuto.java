package ferro.integration;

import ferro.FerroException;
import ferro.ReduceOp;
import ferro.group.ProcessGroup;

/** A rank that joins, says whether it has a device's view, and adds up a host tensor. */
final class JoinsByAuto {
    private JoinsByAuto() {}

    public static void main(String[] arguments) {
        try (ProcessGroup group = ProcessGroup.join()) {
            long[] data = {group.rank() + 5};
            group.allReduce(data, ReduceOp.PRODUCT);
            System.out.println("view " + group.backend().asNcclBackend().isPresent() + " product " + data[0]);
        } catch (FerroException failure) {
            System.out.println("culprits " + failure.where().culprits());
            throw failure;
        }
    }
}
