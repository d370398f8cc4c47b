package ferro.integration;

import ferro.DataType;
import ferro.DeviceTensor;
import ferro.FerroException;
import ferro.NcclBackend;
import ferro.ReduceOp;
import ferro.dispatch.GpuCollectives;
import ferro.group.ProcessGroup;
import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.TimeUnit;

/** A rank that adds up device tensors without end, says what ended it and how soon, and then stays until its input ends. */
final class DeviceSumsUntilAFailure {
    private static final int WARM_UP = 50;
    private static final int ELEMENTS = 1024;

    private DeviceSumsUntilAFailure() {}

    public static void main(String[] arguments) throws IOException {
        Duration deadline = Duration.ofMillis(Long.parseLong(arguments[0]));
        try (ProcessGroup group = ProcessGroup.join()) {
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
                System.out.println("failed " + failure.code() + " by " + Culprits.of(failure));
                System.out.println(TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - last));
                System.out.println(failure.getMessage());
                System.in.read();
            } finally {
                GpuCollectives.free(data);
            }
        }
    }
}
