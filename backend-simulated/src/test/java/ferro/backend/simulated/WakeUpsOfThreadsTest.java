package ferro.backend.simulated;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.CollectiveBackend;
import ferro.HostTensor;
import ferro.ReduceOp;
import ferro.Work;
import ferro.collectives.CollectiveEngine;
import ferro.group.ProcessGroup;
import ferro.spi.GroupSpec;
import ferro.spi.Transport;
import ferro.tck.Ranks;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Collectors;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledForJreRange;
import org.junit.jupiter.api.condition.JRE;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Ranks on threads that sleep at once, and whose sleeps only a wake-up ends. */
@Timeout(120)
class WakeUpsOfThreadsTest {
    private static final int RANKS = 3;
    private static final int ROUNDS = 200;
    private static final Duration LONG = Duration.ofSeconds(60);
    private static final Map<String, String> SETTINGS =
            Map.of("ferro.heartbeat.interval", "0s", "ferro.spin.count", "0");

    private final ScheduledExecutorService background = Executors.newSingleThreadScheduledExecutor(task -> {
        Thread thread = new Thread(task, "test-background");
        thread.setDaemon(true);
        return thread;
    });

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    @DisplayName("data and calls of other threads end the sleeps of platform threads, over links and in shared memory")
    void dataAndCallsOfOtherThreadsWakeAPlatformThread(boolean sharesMemory) {
        try (Ranks ranks = Ranks.of(ranks(sharesMemory), RANKS)) {
            ranks.run(LONG, group -> exchange(group, sharesMemory));
        }
        background.shutdown();
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    @EnabledForJreRange(min = JRE.JAVA_21)
    @DisplayName("data and calls of other threads end the sleeps of virtual threads, over links and in shared memory")
    void dataAndCallsOfOtherThreadsWakeAVirtualThread(boolean sharesMemory) {
        LightThreads.run(ranks(sharesMemory), LONG, group -> exchange(group, sharesMemory));
        background.shutdown();
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void blockingMessagesStartNoOtherThread(boolean sharesMemory) {
        try (Ranks ranks = Ranks.of(ranks(sharesMemory), RANKS)) {
            Set<Thread> before = progressThreads();
            ranks.run(LONG, group -> {
                int next = (group.rank() + 1) % RANKS;
                int previous = (group.rank() + RANKS - 1) % RANKS;
                int[] message = {0};
                for (int i = 0; i < RANKS * ROUNDS; i++) {
                    if (i % RANKS == group.rank()) {
                        assertEquals(i, message[0]);
                        group.send(message, next, 7);
                        group.send(message, next, 8);
                    } else if (i % RANKS == previous) {
                        group.recv(message, previous, 7);
                        group.probe(previous, 8);
                        group.match(previous, 8).recv(HostTensor.of(message));
                        message[0]++;
                    }
                }
            });
            assertTrue(
                    before.containsAll(progressThreads()),
                    () -> progressThreads().toString());
        }
        background.shutdown();
    }

    private static Set<Thread> progressThreads() {
        return Thread.getAllStackTraces().keySet().stream()
                .filter(thread -> thread.getName().endsWith("-progress"))
                .collect(Collectors.toSet());
    }

    private List<CollectiveBackend> ranks(boolean shareMemory) {
        NetworkState network = new NetworkState(RANKS, new ThreadedMedium(background, System::nanoTime));
        List<CollectiveBackend> ranks = new ArrayList<>();
        for (int rank = 0; rank < RANKS; rank++) {
            GroupSpec spec = GroupSpec.of("g", rank, RANKS, LONG);
            Transport medium = sleepingWithoutEnd(network.join("g", rank), shareMemory);
            ranks.add(CollectiveEngine.over(
                    medium, spec, new SimulatedContext(rank, SETTINGS, System::nanoTime, background)));
        }
        return ranks;
    }

    private static Transport sleepingWithoutEnd(Transport medium, boolean sharesMemory) {
        return (Transport) Proxy.newProxyInstance(
                Transport.class.getClassLoader(), new Class<?>[] {Transport.class}, (proxy, method, arguments) -> {
                    if (method.getName().equals("sharedMemory") && !sharesMemory) {
                        return Optional.empty();
                    }
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

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void aSendOfAnotherThreadEndsTheSleepOfAReceiver(boolean sharesMemory) {
        try (Ranks ranks = Ranks.of(ranks(sharesMemory), RANKS)) {
            ranks.run(Duration.ofSeconds(20), WakeUpsOfThreadsTest::sendBesideAReceiver);
        }
        background.shutdown();
    }

    private static void sendBesideAReceiver(ProcessGroup group) throws InterruptedException {
        int next = (group.rank() + 1) % RANKS;
        int before = (group.rank() + RANKS - 1) % RANKS;
        for (int round = 0; round < ROUNDS; round++) {
            int tag = round;
            float[] received = new float[1];
            Thread receiver = new Thread(() -> group.recv(received, before, tag), "test-receiver");
            receiver.start();
            while (receiver.getState() == Thread.State.NEW || receiver.getState() == Thread.State.RUNNABLE) {
                LockSupport.parkNanos(50_000); // leaves its core to the receiver
            }
            Work sending = group.sendAsync(new float[] {group.rank() + 5}, next, tag);
            receiver.join();
            sending.await();
            assertEquals(before + 5, received[0]);
        }
    }

    /** A collective and a send that the progress thread runs while this thread waits in a receive. */
    private static void exchange(ProcessGroup group, boolean sharesMemory) {
        int next = (group.rank() + 1) % RANKS;
        int before = (group.rank() + RANKS - 1) % RANKS;
        for (int round = 0; round < ROUNDS; round++) {
            float[] sum = {group.rank() + 1, round + 1};
            float[] received = new float[1];

            Work collective = group.allReduceAsync(sum, ReduceOp.SUM);
            Work sending = group.sendAsync(new float[] {group.rank() + 5}, next, round);
            group.recv(received, before, round);
            sending.await();
            collective.await();
            group.barrier();

            assertArrayEquals(new float[] {6, RANKS * (round + 1)}, sum);
            assertEquals(before + 5, received[0]);
        }
        assertEquals(sharesMemory, group.linkReport().contains("all 3 ranks share memory"), group.linkReport());
    }
}
