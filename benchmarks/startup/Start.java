import ferro.DataType;
import ferro.HostTensor;
import ferro.ReduceOp;
import ferro.group.ProcessGroup;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * What a rank takes to start: {@code run.sh} beside this file starts it and reads what it prints. It prints milliseconds from
 * {@code START_NANOS} (of the clock of the day, taken before the first process was started) to the return of {@code join}, CPU
 * milliseconds of the process until then, and microseconds of the first, the second and the hundredth all-reduce of 4 bytes.
 */
public class Start {
    private static final int CALLS = 100;

    public static void main(String[] words) throws IOException {
        try (ProcessGroup group = ProcessGroup.join()) {
            long nowMillis = java.time.Instant.now().toEpochMilli();
            long cpuMillis = cpuMillis();
            HostTensor tensor = HostTensor.allocate(DataType.FLOAT32, 1);
            group.barrier();
            long[] nanos = new long[CALLS];
            for (int call = 0; call < CALLS; call++) {
                long begun = System.nanoTime();
                group.allReduce(tensor, ReduceOp.SUM);
                nanos[call] = System.nanoTime() - begun;
            }
            long started = Long.parseLong(System.getenv("START_NANOS")) / 1_000_000;
            System.out.println("start " + group.rank() + " " + (nowMillis - started) + " " + cpuMillis + " " + nanos[0] / 1000
                    + " " + nanos[1] / 1000 + " " + nanos[CALLS - 1] / 1000);
        }
    }

    /** CPU time of all threads of this process, in the kernel and out of it; Linux counts in hundredths of a second. */
    private static long cpuMillis() throws IOException {
        String stat = new String(Files.readAllBytes(Path.of("/proc/self/stat")), StandardCharsets.UTF_8);
        String[] fields = stat.substring(stat.lastIndexOf(')') + 2).split(" ");
        return 10 * (Long.parseLong(fields[11]) + Long.parseLong(fields[12]));
    }
}
