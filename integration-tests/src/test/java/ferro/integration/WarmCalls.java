package ferro.integration;

import ferro.DataType;
import ferro.DeviceTensor;
import ferro.FerroException;
import ferro.NcclBackend;
import ferro.ReduceOp;
import ferro.Work;
import ferro.dispatch.GpuCollectives;
import ferro.group.Groups;
import ferro.group.JoinOptions;
import ferro.group.ProcessGroup;
import ferro.group.SystemContext;
import ferro.spi.ForwardingContext;
import ferro.spi.GroupSpec;
import ferro.spi.ProcessTable;
import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.TimeUnit;

/**
 * One of two ranks that make a call until it is warm, and then again and again: rank 0 between {@link #begin} and {@link #end},
 * at which a debugger stops it, rank 1 once for each byte of its standard input.
 */
final class WarmCalls {
    private static final int WARM_UP = 300;
    private static final int ELEMENTS = 1000;

    private WarmCalls() {}

    /** Takes the name of the call, and the stores of the jobs to join one after the other. */
    public static void main(String[] arguments) throws IOException, InterruptedException {
        for (int job = 1; job < arguments.length; job++) {
            JoinOptions options = JoinOptions.ofProcess().storeAt(arguments[job]);
            try (ProcessGroup group = arguments[0].equals("kill") ? unwatched(options) : ProcessGroup.join(options)) {
                switch (arguments[0]) {
                    case "kill" -> hearOfAKill(group);
                    case "receive" -> receive(group);
                    case "queued" -> addUpOnDevices(group);
                    default -> {
                        float[] data = new float[ELEMENTS];
                        repeat(group, () -> group.allReduce(data, ReduceOp.SUM));
                    }
                }
            } catch (FerroException failure) {
                System.out.println(failure.getMessage());
            }
        }
    }

    /** Joins with ranks whose processes this rank cannot see, as if they were on other hosts. */
    private static ProcessGroup unwatched(JoinOptions options) {
        int rank = Integer.parseInt(System.getenv("RANK"));
        return Groups.join(
                GroupSpec.of("world", rank, 2, Duration.ofSeconds(60)),
                new ForwardingContext(SystemContext.of(options)) {
                    @Override
                    public ProcessTable processes() {
                        return ProcessTable.NONE;
                    }
                });
    }

    private static void receive(ProcessGroup group) throws IOException, InterruptedException {
        float[] data = new float[ELEMENTS];
        Runnable call =
                group.rank() == 0 ? () -> group.recv(data, ProcessGroup.ANY_SOURCE, 7) : () -> group.send(data, 0, 7);
        repeat(group, call);
    }

    private static void addUpOnDevices(ProcessGroup group) throws IOException, InterruptedException {
        NcclBackend nccl = group.backend().asNcclBackend().orElseThrow();
        DeviceTensor data = nccl.allocate(DataType.FLOAT32, ELEMENTS);
        repeat(group, () -> group.allReduceAsync(data, ReduceOp.MAX).await());
        GpuCollectives.free(data);
    }

    private static void repeat(ProcessGroup group, Runnable call) throws IOException, InterruptedException {
        for (int i = 0; i < WARM_UP; i++) {
            if (i % 50 == group.rank()) {
                // the other rank sleeps in its call, and has to be woken
                TimeUnit.MILLISECONDS.sleep(30);
            }
            call.run();
        }
        while (group.rank() == 0 || System.in.read() >= 0) {
            begin();
            call.run();
            end();
        }
    }

    /** Rank 0 waits in a call when it comes to {@link #begin}. */
    private static void hearOfAKill(ProcessGroup group) throws IOException, InterruptedException {
        float[] data = new float[ELEMENTS];
        group.allReduce(data, ReduceOp.SUM);
        if (group.rank() == 1) {
            System.in.read();
        }
        Work call = group.allReduceAsync(data, ReduceOp.SUM);
        letOthersWork();
        begin();
        try {
            call.await();
        } catch (FerroException killed) {
            letOthersWork();
        }
        end();
    }

    /** Lets other threads of the rank do what they have begun, of which nobody sends word. */
    private static void letOthersWork() throws InterruptedException {
        TimeUnit.MILLISECONDS.sleep(400);
    }

    /** Does nothing; a breakpoint is here. */
    private static void begin() {}

    /** Does nothing; a breakpoint is here. */
    private static void end() {}
}
