package ferro.backend.tcp;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.ReduceOp;
import ferro.Work;
import ferro.backend.tcp.connect.TcpProxy;
import ferro.group.ProcessGroup;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Asynchronous calls on arrays over real sockets; rank 1 stands behind a proxy that counts the bytes. */
@Timeout(120)
class AsyncArraysTest {
    private static final int PART = 10_000;
    private static final int ALL = 2 * PART;

    /** What a rank has after the calls, in the order of the calls. */
    private interface Calls {
        float[][] make(ProcessGroup group);
    }

    @Test
    void asynchronousCallsOnArraysMoveTheirBytesOverTcp() throws IOException {
        try (TcpProxy proxy = new TcpProxy();
                TcpJob job = new TcpJob(2, Duration.ofSeconds(60), Map.of())) {
            List<ProcessGroup> groups =
                    List.of(job.joining("g", 0, job.context()), job.joining("g", 1, job.context(proxy.settings())))
                            .stream()
                            .map(TcpJob::result)
                            .toList();
            List<float[][]> blocking = onBoth(groups, AsyncArraysTest::blocking);
            long before = proxy.passed();
            List<float[][]> asynchronous = onBoth(groups, AsyncArraysTest::asynchronous);
            long passed = proxy.passed() - before;

            for (int rank = 0; rank < 2; rank++) {
                assertArrayEquals(blocking.get(rank), asynchronous.get(rank), "rank " + rank);
            }
            // rank 1 gets the broadcast and the message whole; the proxy may not have counted its last piece yet
            assertTrue(passed > 2L * ALL * Float.BYTES, passed + " bytes passed on to rank 1");
        }
    }

    private static List<float[][]> onBoth(List<ProcessGroup> groups, Calls calls) {
        return TcpJob.onAll(groups, calls::make);
    }

    private static float[][] blocking(ProcessGroup group) {
        float[][] memory = memory(group.rank());
        group.allReduce(memory[0], ReduceOp.SUM);
        group.broadcast(memory[1], 0);
        group.reduce(memory[2], ReduceOp.MAX, 1);
        group.allGather(memory[3], memory[4]);
        group.reduceScatter(memory[5], memory[6], ReduceOp.SUM);
        group.gather(memory[7], memory[8], 1);
        group.scatter(memory[9], memory[10], 0);
        group.allToAll(memory[11], memory[12]);
        if (group.rank() == 0) {
            group.send(memory[13], 1, 3);
        } else {
            group.recv(memory[13], 0, 3);
        }
        return memory;
    }

    private static float[][] asynchronous(ProcessGroup group) {
        float[][] memory = memory(group.rank());
        Work message = group.rank() == 0 ? group.sendAsync(memory[13], 1, 3) : group.recvAsync(memory[13], 0, 3);
        List<Work> works = List.of(
                group.allReduceAsync(memory[0], ReduceOp.SUM),
                group.broadcastAsync(memory[1], 0),
                group.reduceAsync(memory[2], ReduceOp.MAX, 1),
                group.allGatherAsync(memory[3], memory[4]),
                group.reduceScatterAsync(memory[5], memory[6], ReduceOp.SUM),
                group.gatherAsync(memory[7], memory[8], 1),
                group.scatterAsync(memory[9], memory[10], 0),
                group.allToAllAsync(memory[11], memory[12]),
                message);
        Work.all(works).await();
        return memory;
    }

    private static float[][] memory(int rank) {
        int[] lengths = {ALL, ALL, ALL, PART, ALL, ALL, PART, PART, ALL, ALL, PART, ALL, ALL, ALL};
        float[][] memory = new float[lengths.length][];
        for (int array = 0; array < lengths.length; array++) {
            memory[array] = new float[lengths[array]];
            for (int i = 0; i < lengths[array]; i++) {
                memory[array][i] = (rank + 2) * 7 + 3 * i + array;
            }
        }
        return memory;
    }
}
