package ferro.integration;

import ferro.DataType;
import ferro.DeviceTensor;
import ferro.FerroException;
import ferro.GroupEvent;
import ferro.NcclBackend;
import ferro.ReduceOp;
import ferro.dispatch.GpuCollectives;
import ferro.group.ProcessGroup;
import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/** A rank of {@code cpu:tcp,cuda:nccl} that adds up device tensors, says what ended it and how soon, and then stays. */
final class PairUntilAFailure {
    private static final int WARM_UP = 50;
    private static final int ELEMENTS = 1024;

    private PairUntilAFailure() {}

    public static void main(String[] arguments) throws IOException, InterruptedException {
        Duration deadline = Duration.ofMillis(Long.parseLong(arguments[0]));
        CountDownLatch told = new CountDownLatch(1);
        try (ProcessGroup group = ProcessGroup.join()) {
            group.onEvent(event -> {
                if (event.kind() == GroupEvent.Kind.FAILED) {
                    told.countDown();
                }
            });
            NcclBackend nccl = group.backend().asNcclBackend().orElseThrow();
            DeviceTensor data = nccl.allocate(DataType.FLOAT32, ELEMENTS);
            long last = System.nanoTime();
            try {
                for (int call = 0; ; call++) {
                    group.within(deadline).allReduce(data, ReduceOp.MAX);
                    last = System.nanoTime();
                    if (call == WARM_UP) {
                        System.out.println("going");
                    }
                }
            } catch (FerroException failure) {
                long millis = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - last);
                System.out.println("call " + story(failure));
                boolean heard = told.await(5, TimeUnit.SECONDS);
                System.out.println(
                        "group " + group.failure().map(PairUntilAFailure::story).orElse("works"));
                System.out.println("host " + hostCall(group) + (heard ? "" : ", listener not told"));
                System.out.println(millis);
                System.out.println(failure.getMessage().replace('\n', ' '));
                System.in.read();
            } finally {
                GpuCollectives.free(data);
            }
        }
    }

    private static String story(FerroException failure) {
        return failure.code() + " of rank " + Culprits.of(failure);
    }

    /** The other half has failed as well. */
    private static String hostCall(ProcessGroup group) {
        try {
            group.barrier();
            return "works";
        } catch (FerroException failure) {
            return story(failure);
        }
    }
}
