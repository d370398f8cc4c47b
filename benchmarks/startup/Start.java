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
 * milliseconds of the process until then, the begin and the end of the first all-reduce of 4 bytes in microseconds of the
 * clock that all processes share, and microseconds of the second and the hundredth all-reduce.
 */
public class Start {
    private static final int CALLS = 100;

    public static void main(String[] words) throws IOException {
        try (ProcessGroup group = ProcessGroup.join()) {
            long nowMillis = java.time.Instant.now().toEpochMilli();
            long cpuMillis = cpuMillis();
            HostTensor tensor = HostTensor.allocate(DataType.FLOAT32, 1);
            // no barrier before the first call: a barrier would be the first call
            long[] ended = new long[CALLS + 1];
            ended[0] = System.nanoTime();
            for (int call = 1; call <= CALLS; call++) {
                group.allReduce(tensor, ReduceOp.SUM);
                ended[call] = System.nanoTime();
            }
            long started = Long.parseLong(System.getenv("START_NANOS")) / 1_000_000;
            System.out.println("start " + group.rank() + " " + (nowMillis - started) + " " + cpuMillis + " " + ended[0] / 1000
                    + " " + ended[1] / 1000 + " " + (ended[2] - ended[1]) / 1000 + " "
                    + (ended[CALLS] - ended[CALLS - 1]) / 1000);
        }
    }

    /** CPU time of all threads of this process, in the kernel and out of it; Linux counts in hundredths of a second. */
    private static long cpuMillis() throws IOException {
        String stat = new String(Files.readAllBytes(Path.of("/proc/self/stat")), StandardCharsets.UTF_8);
        String[] fields = stat.substring(stat.lastIndexOf(')') + 2).split(" ");
        return 10 * (Long.parseLong(fields[11]) + Long.parseLong(fields[12]));
    }
}
