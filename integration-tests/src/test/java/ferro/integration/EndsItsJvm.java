package ferro.integration;

import ferro.FerroException;
import ferro.HostTensor;
import ferro.ReduceOp;
import ferro.group.ProcessGroup;
import java.util.Arrays;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/**
 * Ranks that end their JVMs: stages of a pipeline, each of which ends as the first argument says once it has done its part, or a
 * rank 1 that ends while the others are in a call with it.
 */
final class EndsItsJvm {
    private static final int BATCHES = 5;

    private EndsItsJvm() {}

    public static void main(String[] arguments) throws Exception {
        ProcessGroup group = ProcessGroup.join();
        System.out.println("links: " + group.linkReport());
        switch (arguments[0]) {
            case "close" -> {
                pipeline(group, Integer.parseInt(arguments[1]));
                group.close();
            }
            case "exit" -> {
                pipeline(group, Integer.parseInt(arguments[1]));
                System.exit(0);
            }
            case "return" -> pipeline(group, Integer.parseInt(arguments[1]));
            case "exit-beside-calls" -> exitBesideCalls(group);
            default -> endInRankOne(group, arguments[0]);
        }
    }

    static void pipeline(ProcessGroup group, int floats) {
        for (int batch = 0; batch < BATCHES; batch++) {
            float[] data = new float[floats];
            if (group.rank() == 0) {
                Arrays.fill(data, batch + 2);
            } else {
                group.recv(data, group.rank() - 1, 7);
            }
            if (data[floats - 1] != batch + 2) {
                throw new IllegalStateException("batch " + batch + " has " + data[floats - 1]);
            }
            if (group.rank() < group.worldSize() - 1) {
                group.send(HostTensor.of(data), group.rank() + 1, 7);
            }
        }
    }

    /** Rank 1's JVM exits while its main is busy in a group of its own; the others look when it is gone. */
    private static void exitBesideCalls(ProcessGroup group) throws InterruptedException {
        long[] pids = new long[group.worldSize()];
        pids[group.rank()] = ProcessHandle.current().pid();
        group.allReduce(pids, ReduceOp.SUM);
        if (group.rank() == 1) {
            ProcessGroup own = group.newGroup(1);
            new Thread(() -> System.exit(0), "exits").start();
            while (true) {
                own.barrier();
            }
        }
        while (ProcessHandle.of(pids[1]).isPresent()) {
            TimeUnit.MILLISECONDS.sleep(2);
        }
        try {
            group.barrier();
        } catch (FerroException failure) {
            Culprits.print(failure);
        }
    }

    /** Whether a thread has given its call to the engine, and waits for its end. */
    private static boolean waits(Thread caller) {
        return Arrays.stream(caller.getStackTrace())
                .anyMatch(frame -> frame.getClassName().startsWith("ferro.collectives.engine.")
                        && frame.getMethodName().equals("await"));
    }

    private static void endInRankOne(ProcessGroup group, String how) throws InterruptedException {
        if (group.rank() != 1) {
            try {
                // rank 1 may end while this one is still in the first call
                group.allReduce(new float[] {3, 4}, ReduceOp.SUM);
                group.barrier();
            } catch (FerroException failure) {
                Culprits.print(failure);
            }
            return;
        }
        group.allReduce(new float[] {3, 4}, ReduceOp.SUM);
        if (how.equals("exit-in-call")) {
            Thread caller = new Thread(() -> group.recv(new float[2], 0, 9), "in-a-call");
            caller.setDaemon(true);
            caller.start();
            while (!waits(caller)) {
                Thread.onSpinWait();
            }
            System.exit(3);
        }
        System.out.println("pid: " + ProcessHandle.current().pid());
        new CountDownLatch(1).await();
    }
}
