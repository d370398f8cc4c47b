package ferro.integration;

import ferro.ReduceOp;
import ferro.group.ProcessGroup;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;

/**
 * Ranks that add up until rank 1 does something that it should not: the first argument says what. The second is the deadline of
 * the calls that follow.
 */
final class FailsInOneRank {
    private static final int CALLS = 20;

    private FailsInOneRank() {}

    public static void main(String[] arguments) throws InterruptedException {
        if (arguments[0].equals("throwsWithTheGroupOpen")) {
            addUp(ProcessGroup.join(), arguments);
        }
        try (ProcessGroup group = ProcessGroup.join()) {
            addUp(group, arguments);
        }
    }

    private static void addUp(ProcessGroup group, String[] arguments) throws InterruptedException {
        System.out.println("links: " + group.linkReport());
        float[] data = {group.rank() + 1f, 7f};
        for (int call = 0; call < CALLS; call++) {
            group.allReduce(data, ReduceOp.MAX);
        }
        System.out.println("going");
        if (group.rank() == 1) {
            misbehave(arguments[0]);
        }
        ProcessGroup hasty = group.within(Duration.parse(arguments[1]));
        while (true) {
            hasty.allReduce(data, ReduceOp.MAX);
        }
    }

    private static void misbehave(String how) throws InterruptedException {
        switch (how) {
            case "leaves" -> System.exit(0);
            case "throws", "throwsWithTheGroupOpen" -> throw deep(25);
            case "sleeps" -> new CountDownLatch(1).await();
            default -> System.out.println("rank 1 behaves");
        }
    }

    /** More frames than the launcher keeps last lines. */
    private static RuntimeException deep(int depth) {
        return depth == 0 ? new IllegalStateException("no data for rank 1") : deep(depth - 1);
    }
}
