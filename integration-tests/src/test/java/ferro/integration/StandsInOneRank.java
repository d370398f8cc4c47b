package ferro.integration;

import ferro.FerroException;
import ferro.ReduceOp;
import ferro.group.ProcessGroup;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;

/** Two ranks, of which rank 1 does not make the call that rank 0 waits in: the argument says what it does instead. */
final class StandsInOneRank {
    private StandsInOneRank() {}

    public static void main(String[] arguments) throws Exception {
        switch (arguments[0]) {
            case "joins on another thread" -> joinOnAnotherThread();
            case "joins on a virtual thread" ->
                startVirtual(() -> work("sleeps")).join();
            default -> work(arguments[0]);
        }
    }

    private static void joinOnAnotherThread() throws InterruptedException {
        Thread joins = new Thread(
                () -> {
                    ProcessGroup group = ProcessGroup.join();
                    group.barrier();
                    if (group.rank() == 0) {
                        call(group);
                    }
                },
                "joins");
        joins.start();
        joins.join();
        if (System.getenv("RANK").equals("1")) {
            new CountDownLatch(1).await();
        }
    }

    private static void work(String how) {
        ProcessGroup group = ProcessGroup.join();
        group.barrier();
        if (group.rank() == 0) {
            call(group);
        } else if (how.equals("calls")) {
            group.allReduce(new float[7], ReduceOp.MAX);
        } else {
            sleep();
        }
    }

    private static void call(ProcessGroup group) {
        try {
            group.within(Duration.ofSeconds(2)).barrier();
        } catch (FerroException failure) {
            System.out.println("failure: " + failure.getMessage().replace('\n', ' '));
            throw failure;
        }
    }

    private static void sleep() {
        try {
            Thread.sleep(60_000);
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    private static Thread startVirtual(Runnable task) throws ReflectiveOperationException {
        return (Thread)
                Thread.class.getMethod("startVirtualThread", Runnable.class).invoke(null, task);
    }
}
