package ferro.integration;

import ferro.FerroException;
import ferro.ReduceOp;
import ferro.group.JoinOptions;
import ferro.group.ProcessGroup;

/**
 * A rank that joins, says whether it has a device's view, and adds up a host tensor. With a rank, a world size, a host and a port
 * it joins by options: rank 0 serves the store at that host, and the others are told where it is.
 */
final class JoinsByAuto {
    private JoinsByAuto() {}

    public static void main(String[] arguments) {
        try (ProcessGroup group = arguments.length == 0 ? ProcessGroup.join() : ProcessGroup.join(options(arguments))) {
            long[] data = {group.rank() + 5};
            group.allReduce(data, ReduceOp.PRODUCT);
            System.out.println("view " + group.backend().asNcclBackend().isPresent() + " product " + data[0]);
        } catch (FerroException failure) {
            System.out.println("culprits " + failure.where().culprits());
            throw failure;
        }
    }

    private static JoinOptions options(String[] arguments) {
        int rank = Integer.parseInt(arguments[0]);
        JoinOptions options = JoinOptions.of(rank, Integer.parseInt(arguments[1]));
        return rank == 0
                ? options.serveStore(arguments[2], arguments[3])
                : options.storeAt(arguments[2] + ":" + arguments[3]);
    }
}
