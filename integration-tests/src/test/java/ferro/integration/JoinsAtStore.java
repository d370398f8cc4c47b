package ferro.integration;

import ferro.ReduceOp;
import ferro.group.JoinOptions;
import ferro.group.ProcessGroup;
import ferro.group.SystemContext;

/** A rank that joins by options: rank 0 serves the store at a named host, and the others are told where it is. */
final class JoinsAtStore {
    private JoinsAtStore() {}

    public static void main(String[] arguments) {
        int rank = Integer.parseInt(arguments[0]);
        String host = arguments[2];
        String port = arguments[3];
        JoinOptions options = JoinOptions.of(rank, Integer.parseInt(arguments[1]));
        JoinOptions joining = rank == 0 ? options.serveStore(host, port) : options.storeAt(host + ":" + port);
        try (SystemContext context = SystemContext.of(joining);
                ProcessGroup group = context.join()) {
            long[] data = {group.rank() + 5};
            group.allReduce(data, ReduceOp.PRODUCT);
            System.out.println("product " + data[0]);
        }
    }
}
