package ferro.backend.tcp;

import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.sun.management.ThreadMXBean;
import ferro.ReduceOp;
import ferro.backend.tcp.net.TlsProvider;
import ferro.backend.tcp.net.TlsSession;
import ferro.group.ProcessGroup;
import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What a call over TLS allocates on its thread, by the JVM's own count: what its engines do, and nothing of ours for a record. */
@Timeout(120)
@Tag("long")
class TlsAllocationTest {
    private static final int CALLS = 10;
    private static final int ROUNDS = 20;
    /** What a call may allocate that is not encrypted. */
    private static final long BYTES_PER_CALL_MOST = 128;

    private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();

    @ParameterizedTest(name = "{0}: {1} bytes to seal a record and open another")
    @CsvSource({"jdk, 4096", "openssl, 80"})
    @DisplayName("a call over TLS allocates so many bytes for a record, and what any call may")
    void aCallOverTlsAllocatesOnlyWhatItsEnginesAllocate(String provider, long bytesPerRecord) {
        String missing = provider.equals("openssl") ? TlsProvider.missingOpenSsl() : null;
        assumeTrue(missing == null, missing);
        Map<String, String> settings = TcpJob.encrypted(Map.of("ferro.tls.provider", provider));
        try (TcpJob job = new TcpJob(2, Duration.ofSeconds(60), settings)) {
            List<ProcessGroup> groups = job.joinAll("g");
            for (int count : new int[] {1, 60_000}) {
                // what this rank sends and what comes are as long as the array, in two halves with a head each
                int records = count * Float.BYTES / TlsSession.RECORD_BYTES + 2;
                long most = BYTES_PER_CALL_MOST + records * bytesPerRecord;
                List<Long> calls = TcpJob.onAll(groups, group -> leastOf(group, new float[count]));
                assertTrue(
                        calls.stream().allMatch(bytes -> bytes <= most),
                        () -> calls + " bytes a call of " + count + " elements, allowed " + most);
            }
        }
    }

    /** Returns the least that one call took: a warm one's. */
    private static long leastOf(ProcessGroup group, float[] data) {
        long thread = Thread.currentThread().getId();
        long least = Long.MAX_VALUE;
        for (int round = 0; round < ROUNDS; round++) {
            long before = THREADS.getThreadAllocatedBytes(thread);
            for (int i = 0; i < CALLS; i++) {
                group.allReduce(data, ReduceOp.MAX);
            }
            least = Math.min(least, (THREADS.getThreadAllocatedBytes(thread) - before) / CALLS);
        }
        return least;
    }
}
