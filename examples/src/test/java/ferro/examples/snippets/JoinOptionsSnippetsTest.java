package ferro.examples.snippets;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.ReduceOp;
import ferro.group.JoinOptions;
import ferro.group.ProcessGroup;
import ferro.group.SystemContext;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import org.junit.jupiter.api.Test;

class JoinOptionsSnippetsTest {
    private static final byte[] SECRET = "0123456789abcdefghijklmnopqrstuv".getBytes(StandardCharsets.US_ASCII);

    private final int rank = 0;
    private final int worldSize = 1;
    private final byte[] secret = SECRET;
    private String announced = "";

    @Test
    void optionsDescribeARank() {
        int localRank = 0;
        int localSize = 1;
        // @start region="options"
        JoinOptions options = JoinOptions.of(rank, worldSize)
                .group("stage3.0") // the same name on all ranks
                .local(localRank, localSize) // place among the ranks of this host
                .cores(4) // which all ranks of this host share
                .job("app-17", 2) // second attempt: ranks of the first are refused
                .storeAt("10.0.0.1:29500")
                .secret(secret) // 16 random bytes or more, the same on all ranks
                .timeout(Duration.ofSeconds(60))
                .setting("ferro.links", "tcp");
        // @end
        try (SystemContext context = SystemContext.of(options)) {
            assertEquals("stage3.0", context.spec().name());
            assertEquals("10.0.0.1:29500", context.storeEndpoint());
        }
    }

    @Test
    void aRankJoinsByOptions() {
        float[] gradient = {1, 2, 3};
        // @start region="join"
        JoinOptions options =
                JoinOptions.of(rank, worldSize).storeAt("10.0.0.1:29500").secret(secret);
        try (ProcessGroup group = ProcessGroup.join(options)) {
            group.allReduce(gradient, ReduceOp.AVG);
        }
        // @end
        assertArrayEquals(new float[] {1, 2, 3}, gradient);
    }

    @Test
    void aRankJoinsInAContext() {
        float[] gradient = {1, 2, 3};
        // @start region="context"
        JoinOptions options = JoinOptions.of(rank, worldSize).serveStore("127.0.0.1", "0");
        try (SystemContext context = SystemContext.of(options)) {
            announce(context.storeEndpoint()); // to the other ranks, before this rank joins
            ProcessGroup group = context.join();
            group.allReduce(gradient, ReduceOp.AVG);
            group.close();
        } // ends what is still open
        // @end
        assertArrayEquals(new float[] {1, 2, 3}, gradient);
        assertTrue(announced.startsWith("127.0.0.1:"), announced);
    }

    private void announce(String endpoint) {
        announced = endpoint;
    }
}
