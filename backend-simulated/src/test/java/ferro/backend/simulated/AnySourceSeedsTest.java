package ferro.backend.simulated;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.CollectiveBackend;
import ferro.DataType;
import ferro.HostTensor;
import ferro.Message;
import ferro.MessageStatus;
import ferro.Work;
import ferro.control.failure.FailurePolicy;
import ferro.group.ProcessGroup;
import ferro.group.SystemContext;
import ferro.spi.Link;
import ferro.spi.Settings;
import ferro.spi.Transport;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.CompletionStage;
import java.util.function.UnaryOperator;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestReporter;
import org.junit.jupiter.api.Timeout;

/**
 * Receives from any rank get every message once, in the order of each rank and tag, under every seed. The setting
 * {@code -Dferro.simulation.seeds=20000} runs that many seeds, and {@code -Dferro.simulation.first=5001} begins at another seed
 * than 1, so that many can be run in parts. {@link CancelledReceivesTest} has the same settings.
 */
@Timeout(1200)
class AnySourceSeedsTest {
    private static final int SEEDS_MAX = 20_000;
    private static final int TAGS = 3;
    private static final int SMALL_MAX = 40;
    private static final int LARGE = 20_000;
    private static final int LONGEST = LARGE + 100;

    /** How a message is received: by a receive, by a match before it, or by a probe before it. */
    private enum Receiving {
        AT_ONCE,
        MATCHED,
        PROBED
    }

    /** A message; its first element is its number. */
    private record Sent(int from, int to, int tag, int[] data, Receiving by) {}

    /** A posted receive of a rank. */
    private record Posted(int rank, Work work, int[] buffer) {}

    @Test
    void everyMessageIsReceivedOnceAndInOrder(TestReporter reporter) {
        seeds(reporter).forEach(AnySourceSeedsTest::exchange);
    }

    @Test
    void aReceiveFromAnyRankOpensOnlyLanesThatPeersHaveOpened() {
        Set<List<Integer>> opened = new HashSet<>();
        UnaryOperator<Transport> recording = straight -> new BentTransport(straight, UnaryOperator.identity()) {
            @Override
            public Link link(int peer, Lane lane) {
                if (lane == Lane.POINT_TO_POINT) {
                    opened.add(List.of(rank(), peer));
                }
                return super.link(peer, lane);
            }

            @Override
            public boolean isOpenedBy(int peer, Lane lane) {
                return opened.contains(List.of(peer, rank()));
            }
        };
        new Simulation(3, 4, Map.of(), new SteppedRank.EngineInputs(recording, FailurePolicy.SHIPPED))
                .onRank(0, group -> group.recvAsync(HostTensor.of(new int[1]), ProcessGroup.ANY_SOURCE, 7))
                .onRank(1, group -> group.sendAsync(HostTensor.of(new int[] {5}), 0, 7))
                .run();
        assertEquals(Set.of(List.of(0, 1), List.of(1, 0)), opened, "rank and peer of each lane");
    }

    /** Returns the seeds of the tests of receives: 200, or as many as the settings say, at most 20,000; reports them. */
    static LongStream seeds(TestReporter reporter) {
        SystemContext context = SystemContext.ofProcess();
        if (Settings.SEED.find(context).isPresent()) {
            return Simulation.seeds(1, context);
        }
        long count = Math.min(SEEDS_MAX, number(context, "ferro.simulation.seeds", 200));
        long first = number(context, "ferro.simulation.first", 1);
        reporter.publishEntry("seeds", count + " from " + first);
        return LongStream.range(first, first + count);
    }

    private static long number(SystemContext context, String setting, long usual) {
        return context.setting(setting).map(Long::valueOf).orElse(usual);
    }

    private static void exchange(long seed) {
        Random random = new Random(seed);
        int worldSize = 1 + random.nextInt(4);
        boolean isAnyTag = random.nextBoolean();
        List<Sent> messages = messages(random, worldSize);
        List<Posted> receives = new ArrayList<>();
        Simulation.of(worldSize, seed)
                .onEveryRank(group -> post(group, messages, receives, isAnyTag))
                .check(() -> check(messages, receives))
                .run();
    }

    private static List<Sent> messages(Random random, int worldSize) {
        List<Sent> messages = new ArrayList<>();
        for (int number = 0; number < 14; number++) {
            int length = random.nextInt(4) == 0 ? LARGE + number : 1 + random.nextInt(SMALL_MAX);
            int[] data = random.ints(length).toArray();
            data[0] = number;
            int from = random.nextInt(worldSize);
            int to = random.nextInt(worldSize);
            messages.add(new Sent(from, to, random.nextInt(TAGS), data, Receiving.values()[random.nextInt(3)]));
        }
        return messages;
    }

    /** Posts as many receives as messages come, before, between or behind the sends of this rank. */
    private static void post(ProcessGroup group, List<Sent> messages, List<Posted> receives, boolean isAnyTag) {
        for (Sent message : messages) {
            if (message.to == group.rank()) {
                int[] buffer = new int[LONGEST];
                int tag = isAnyTag ? ProcessGroup.ANY_TAG : message.tag;
                if (message.by == Receiving.PROBED) {
                    probe(group, tag).thenRun(() -> receives.add(receive(group, tag, buffer)));
                } else if (message.by == Receiving.MATCHED) {
                    receives.add(new Posted(group.rank(), match(group, tag, buffer), buffer));
                } else {
                    receives.add(receive(group, tag, buffer));
                }
            }
            if (message.from == group.rank()) {
                group.sendAsync(HostTensor.of(message.data), message.to, message.tag);
            }
        }
    }

    private static Posted receive(ProcessGroup group, int tag, int[] buffer) {
        Work work = group.recvUpToAsync(HostTensor.of(buffer), ProcessGroup.ANY_SOURCE, tag);
        return new Posted(group.rank(), work, buffer);
    }

    /** Starts a probe. It ends, because the receive of a message is not posted before. */
    private static CompletionStage<Void> probe(ProcessGroup group, int tag) {
        CollectiveBackend backend = (CollectiveBackend) group.backend();
        Work probe = backend.submit(Message.probe(ProcessGroup.ANY_SOURCE, tag), Duration.ofSeconds(60));
        return probe.completion().thenRun(() -> {
            MessageStatus found = probe.status().orElseThrow();
            assertTrue(tag == ProcessGroup.ANY_TAG || tag == found.tag(), () -> "tag " + tag + " found " + found);
        });
    }

    /** Starts a match, whose message is received when it has ended. */
    private static Work match(ProcessGroup group, int tag, int[] buffer) {
        Duration limit = Duration.ofSeconds(60);
        CollectiveBackend backend = (CollectiveBackend) group.backend();
        Work match = backend.submit(Message.match(ProcessGroup.ANY_SOURCE, tag), limit);
        match.completion().thenRun(() -> backend.submit(Message.recvMatched(match, HostTensor.of(buffer)), limit));
        return match;
    }

    private static void check(List<Sent> messages, List<Posted> receives) {
        assertEquals(messages.size(), receives.size(), "receives");
        Map<List<Integer>, Integer> last = new HashMap<>();
        boolean[] isReceived = new boolean[messages.size()];
        for (Posted receive : receives) {
            int number = receive.buffer[0];
            Sent message = messages.get(number);
            assertFalse(isReceived[number], "message " + number + " was received twice");
            isReceived[number] = true;
            MessageStatus status =
                    MessageStatus.of(message.from, message.tag, DataType.INT32, 4L * message.data.length);
            assertEquals(status, receive.work.status().orElseThrow(), "status of message " + number);
            assertEquals(receive.rank, message.to, "receiver of message " + number);
            assertArrayEquals(message.data, Arrays.copyOf(receive.buffer, message.data.length), "message " + number);
            Integer before = last.put(List.of(message.from, message.to, message.tag), number);
            assertTrue(before == null || before < number, "message " + number + " came after message " + before);
        }
    }
}
