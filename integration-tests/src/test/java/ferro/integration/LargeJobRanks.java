package ferro.integration;

import ferro.FerroException;
import ferro.group.Groups;
import ferro.group.ProcessGroup;
import ferro.group.SystemContext;
import ferro.harness.Ranks;
import ferro.spi.GroupSpec;
import java.io.IOException;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CountDownLatch;

/**
 * A process with some ranks of a large job, a thread each. They say when they are in, how their barrier
 * ends, and when a failure ended it, on the clock that all processes of a host share.
 */
final class LargeJobRanks {
    private static final Duration TIMEOUT = Duration.ofSeconds(120);
    private static final CountDownLatch GO = new CountDownLatch(1);

    private LargeJobRanks() {}

    /**
     * Takes the port of the store, the world size, the late rank, whether heartbeats are frequent, and its ranks; ends with
     * its standard input.
     */
    public static void main(String[] arguments) throws IOException {
        for (int index = 4; index < arguments.length; index++) {
            int rank = Integer.parseInt(arguments[index]);
            Thread thread = new Thread(() -> run(rank, arguments), "rank-" + rank);
            thread.setDaemon(true);
            thread.start();
        }
        while (System.in.read() >= 0) {
            GO.countDown();
        }
    }

    private static void run(int rank, String[] arguments) {
        Map<String, String> settings = Ranks.atStore(Integer.parseInt(arguments[0]), "ferro.links", "tcp");
        if (Boolean.parseBoolean(arguments[3])) {
            settings.put("ferro.heartbeat.interval", "500ms");
            settings.put("ferro.heartbeat.suspect", "3s");
            settings.put("ferro.heartbeat.limit", "6s");
        }
        GroupSpec spec = GroupSpec.of("world", rank, Integer.parseInt(arguments[1]), TIMEOUT);
        try {
            callBarriers(spec, SystemContext.of(settings), arguments[2].equals("" + rank));
            System.out.println(rank + " has closed");
        } catch (FerroException failure) {
            System.out.println(rank + " failed " + failure.code() + " by " + Culprits.of(failure));
        } catch (InterruptedException never) {
            throw new AssertionError(never);
        }
    }

    private static void callBarriers(GroupSpec spec, SystemContext context, boolean isLate)
            throws InterruptedException {
        try (ProcessGroup group = Groups.join(spec, context)) {
            group.barrier();
            System.out.println(spec.rank() + " is in");
            if (isLate) {
                GO.await();
            }
            awaitAll(group);
        }
    }

    /** Calls the barrier that may fail, and prints when it does: the close of the group takes longer. */
    private static void awaitAll(ProcessGroup group) {
        try {
            group.barrier();
        } catch (FerroException failure) {
            long knewAt = System.nanoTime();
            System.out.println(group.rank() + " knew at " + knewAt);
            throw failure;
        }
    }
}
