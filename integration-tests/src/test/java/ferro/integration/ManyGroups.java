package ferro.integration;

import ferro.FerroException;
import ferro.FerroException.Code;
import ferro.ReduceOp;
import ferro.group.Groups;
import ferro.group.ProcessGroup;
import ferro.group.SystemContext;
import ferro.harness.OnThread;
import ferro.harness.Ranks;
import ferro.spi.GroupSpec;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import java.util.stream.Stream;

/** Both ranks of many groups in one process: joins groups until one is refused, and goes on with the others. */
final class ManyGroups {
    private static final int MOST = 100;

    private ManyGroups() {}

    /** Prints how many groups were made, how the next one failed, and how a sum and a message of each of the others ended. */
    public static void main(String[] settings) {
        List<SystemContext> ranks = List.of(context(settings), context(settings));
        List<List<ProcessGroup>> made = new ArrayList<>();
        List<String> refused = List.of();
        while (refused.isEmpty() && made.size() < MOST) {
            String name = "g" + made.size();
            List<Object> joined =
                    both(rank -> Groups.join(GroupSpec.of(name, rank, 2, ScarceRank.TIMEOUT), ranks.get(rank)));
            refused = codes(joined);
            if (refused.isEmpty()) {
                made.add(joined.stream().map(ProcessGroup.class::cast).toList());
            }
        }
        System.out.println("made " + made.size());
        System.out.println("refused " + refused);
        for (List<ProcessGroup> group : made) {
            System.out.println("ended " + codes(both(rank -> summed(group.get(rank)))));
            System.out.println("ended " + codes(both(rank -> exchanged(group.get(rank)))));
        }
        System.exit(0);
    }

    private static SystemContext context(String[] settings) {
        // the other rank of one that is refused waits so long for it
        String limit = "20s";
        return SystemContext.of(
                Ranks.atStore(Integer.parseInt(settings[0]), "ferro.links", settings[1], "ferro.join.timeout", limit));
    }

    private static float summed(ProcessGroup group) {
        float[] data = {group.rank() + 3};
        group.allReduce(data, ReduceOp.SUM);
        return data[0];
    }

    private static int exchanged(ProcessGroup group) {
        int[] data = {7};
        if (group.rank() == 0) {
            group.send(data, 1, ScarceRank.TAG);
        } else {
            group.recv(data, 0, ScarceRank.TAG);
        }
        return data[0];
    }

    private static List<Object> both(Function<Integer, Object> call) {
        CompletableFuture<Object> first = OnThread.start(() -> call.apply(0));
        CompletableFuture<Object> second = OnThread.start(() -> call.apply(1));
        return Stream.of(first, second)
                .map(one -> one.handle((end, failure) -> failure == null ? end : failure)
                        .join())
                .toList();
    }

    private static List<String> codes(List<Object> ends) {
        return ends.stream()
                .filter(Throwable.class::isInstance)
                .map(one -> one instanceof FerroException known ? told(known) : one.toString())
                .toList();
    }

    private static String told(FerroException failure) {
        return failure.code() == Code.RESOURCE
                ? failure.code().toString()
                : failure.code() + " " + failure.getMessage();
    }
}
