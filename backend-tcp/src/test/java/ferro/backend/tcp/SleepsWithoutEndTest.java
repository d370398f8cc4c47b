package ferro.backend.tcp;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import ferro.ReduceOp;
import ferro.Work;
import ferro.backend.tcp.mesh.Ranks;
import ferro.backend.tcp.mesh.TcpMesh;
import ferro.backend.tcp.net.Threads;
import ferro.backend.tcp.store.JoiningContext;
import ferro.collectives.CollectiveEngine;
import ferro.group.ProcessGroup;
import ferro.spi.GroupSpec;
import ferro.spi.Transport;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Ranks that sleep at once, and whose sleeps only a wake-up ends: no timer repairs a lost wake-up. */
@Timeout(300)
class SleepsWithoutEndTest {
    private static final int RANKS = 3;
    private static final int ROUNDS = 100;
    /** Numbers of elements: in one packet, in several, and longer than what is sent before a receive matches. */
    private static final int[] LENGTHS = {1, 5_000, 50_000};

    @ParameterizedTest
    @ValueSource(strings = {"epoll", "nio"})
    @DisplayName("data, connections and calls of other threads end sleeps that do not end with their time")
    void dataConnectionsAndCallsOfOtherThreadsWakeASleepingRank(String io) {
        Map<String, String> settings = Map.of("ferro.tcp.io", io, "ferro.links", "tcp", "ferro.spin.count", "0");
        try (Ranks ranks = Ranks.onLoopback()) {
            List<CompletableFuture<ProcessGroup>> joining = new ArrayList<>();
            for (int rank = 0; rank < RANKS; rank++) {
                GroupSpec spec = GroupSpec.of("g", rank, RANKS, Ranks.LONG);
                JoiningContext context = ranks.context(spec, settings);
                joining.add(Threads.start(() -> joined(spec, context)));
            }
            List<ProcessGroup> groups = joining.stream().map(Ranks::result).toList();
            TcpJob.onAll(groups, group -> {
                for (int round = 0; round < ROUNDS; round++) {
                    exchange(group, round);
                }
                return null;
            });
            groups.forEach(ProcessGroup::close);
        }
    }

    private static ProcessGroup joined(GroupSpec spec, JoiningContext context) {
        Transport medium = new TcpTransport(TcpMesh.join(spec, context), 0, new int[] {0, 1, 2}, System::nanoTime);
        return ProcessGroup.of(CollectiveEngine.over(sleepingWithoutEnd(medium), spec, context));
    }

    private static Transport sleepingWithoutEnd(Transport medium) {
        return (Transport) Proxy.newProxyInstance(
                Transport.class.getClassLoader(), new Class<?>[] {Transport.class}, (proxy, method, arguments) -> {
                    Object[] given = method.getName().equals("park")
                            ? new Object[] {System.nanoTime() + TimeUnit.HOURS.toNanos(1)}
                            : arguments;
                    try {
                        return method.invoke(medium, given);
                    } catch (InvocationTargetException thrown) {
                        throw thrown.getCause();
                    }
                });
    }

    /** A collective and a send that the progress thread runs while this thread waits in a receive. */
    private static void exchange(ProcessGroup group, int round) {
        int next = (group.rank() + 1) % RANKS;
        int before = (group.rank() + RANKS - 1) % RANKS;
        float[] sum = {group.rank() + 1, round + 1};
        float[] sent = new float[LENGTHS[round % LENGTHS.length]];
        Arrays.fill(sent, group.rank() + 5);
        float[] received = new float[sent.length];

        Work collective = group.allReduceAsync(sum, ReduceOp.SUM);
        Work sending = group.sendAsync(sent, next, round);
        group.recv(received, before, round);
        sending.await();
        collective.await();
        group.barrier();

        assertArrayEquals(new float[] {6, RANKS * (round + 1)}, sum);
        assertEquals(before + 5, received[received.length - 1]);
    }
}
