package ferro.integration;

import ferro.FerroException;
import ferro.ReduceOp;
import ferro.group.Groups;
import ferro.group.ProcessGroup;
import ferro.group.SystemContext;
import ferro.harness.Ranks;
import ferro.spi.GroupSpec;
import java.io.IOException;
import java.time.Duration;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.locks.LockSupport;

/** A process with several ranks, a thread each, as an executor of Spark has them; says how they fail and whom they lose. */
final class SeveralRanks {
    private static final Duration TIMEOUT = Duration.ofSeconds(60);
    private static final long LOOK_NANOS = 2_000_000L;

    private SeveralRanks() {}

    /** Takes the port of the store, the kind of links, the world size, and its ranks; ends with its standard input. */
    public static void main(String[] arguments) throws IOException {
        for (int place = 3; place < arguments.length; place++) {
            int rank = Integer.parseInt(arguments[place]);
            Thread thread = new Thread(() -> run(rank, arguments), "rank-" + rank);
            thread.setDaemon(true);
            thread.start();
        }
        while (System.in.read() >= 0) {
            // until the test ends
        }
    }

    private static void run(int rank, String[] arguments) {
        Map<String, String> settings = Ranks.atStore(Integer.parseInt(arguments[0]), "ferro.links", arguments[1]);
        GroupSpec spec = GroupSpec.of("world", rank, Integer.parseInt(arguments[2]), TIMEOUT);
        try (ProcessGroup group = Groups.join(spec, SystemContext.of(settings))) {
            group.barrier();
            say(rank + " is in: " + group.linkReport());
            FerroException failure = sumUntilAFailure(group);
            say(rank + " failed " + failure.code() + " by " + Culprits.of(failure) + ": " + failure.getMessage());
            Set<Integer> told = Set.of();
            while (true) {
                Set<Integer> lost = group.lost();
                if (!lost.equals(told)) {
                    told = lost;
                    say(rank + " lost " + lost);
                    say(rank + " agrees on " + Culprits.of(group.failure().orElseThrow()));
                }
                LockSupport.parkNanos(LOOK_NANOS);
            }
        }
    }

    private static FerroException sumUntilAFailure(ProcessGroup group) {
        while (true) {
            try {
                group.allReduce(new float[100_000], ReduceOp.SUM);
            } catch (FerroException failure) {
                return failure;
            }
        }
    }

    private static void say(String line) {
        System.out.println(line.replace('\n', ' '));
    }
}
