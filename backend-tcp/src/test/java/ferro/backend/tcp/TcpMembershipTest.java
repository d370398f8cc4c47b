package ferro.backend.tcp;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.FerroException;
import ferro.FerroException.Code;
import ferro.GroupEvent;
import ferro.GroupEvent.Kind;
import ferro.ReduceOp;
import ferro.backend.tcp.mesh.Ranks;
import ferro.group.ProcessGroup;
import ferro.group.SystemContext;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Heartbeats over real sockets; a rank stands still where its timers do. */
@Timeout(90)
class TcpMembershipTest {
    private static final Duration BOUND = Duration.ofSeconds(30);
    private static final Map<String, String> OFTEN = Map.of(
            "ferro.heartbeat.interval", "100ms", "ferro.heartbeat.suspect", "800ms", "ferro.heartbeat.limit", "60s");

    private final CountDownLatch goOn = new CountDownLatch(1);
    private final List<BlockingQueue<GroupEvent>> events = new ArrayList<>();
    private final List<SystemContext> contexts = new ArrayList<>();

    private List<ProcessGroup> join(TcpJob job, int worldSize) {
        for (int rank = 0; rank < worldSize; rank++) {
            contexts.add(job.context());
        }
        List<ProcessGroup> groups = job.joined("world", contexts);
        groups.forEach(group -> events.add(listenTo(group)));
        return groups;
    }

    private static int sum(ProcessGroup group) {
        int[] data = {5 + group.rank()};
        group.allReduce(data, ReduceOp.SUM);
        return data[0];
    }

    private static BlockingQueue<GroupEvent> listenTo(ProcessGroup group) {
        BlockingQueue<GroupEvent> heard = new LinkedBlockingQueue<>();
        group.onEvent(heard::add);
        return heard;
    }

    /** No timer of this rank runs any more, so it sends no heartbeats, as if its process were stopped. */
    private void stop(SystemContext context) {
        context.background().execute(() -> {
            try {
                goOn.await();
            } catch (InterruptedException closed) {
                Thread.currentThread().interrupt();
            }
        });
    }

    private static GroupEvent await(BlockingQueue<GroupEvent> heard, Predicate<GroupEvent> wanted) throws Exception {
        List<GroupEvent> others = new ArrayList<>();
        for (GroupEvent event = next(heard, others); ; event = next(heard, others)) {
            if (wanted.test(event)) {
                return event;
            }
            others.add(event);
        }
    }

    private static GroupEvent next(BlockingQueue<GroupEvent> heard, List<GroupEvent> others) throws Exception {
        GroupEvent event = heard.poll(BOUND.toMillis(), TimeUnit.MILLISECONDS);
        if (event == null) {
            throw new AssertionError("not told within " + BOUND + "; told: " + others);
        }
        return event;
    }

    private static Predicate<GroupEvent> about(Kind kind, int rank) {
        return event -> event.kind() == kind && event.ranks().equals(List.of(rank));
    }

    @AfterEach
    void letAllGoOn() {
        goOn.countDown();
    }

    @Test
    @DisplayName(
            "row 5, row 6: a rank that stands still is an event on the others, recovers, and the next call is right")
    void aPausedRankCausesEventsAndRecovers() throws Exception {
        try (TcpJob job = new TcpJob(3, Ranks.LONG, OFTEN)) {
            List<ProcessGroup> groups = join(job, 3);
            stop(contexts.get(2));
            for (int rank = 0; rank < 2; rank++) {
                await(events.get(rank), about(Kind.SUSPECTED, 2));
            }
            goOn.countDown();

            for (int rank = 0; rank < 3; rank++) {
                GroupEvent pause = await(events.get(rank), about(Kind.PAUSED, 2));
                assertTrue(pause.text().startsWith("rank 2 was paused "), pause.text());
            }
            for (int rank = 0; rank < 2; rank++) {
                await(events.get(rank), about(Kind.RECOVERED, 2));
            }
            assertEquals(List.of(18, 18, 18), TcpJob.onAll(groups, TcpMembershipTest::sum));
        }
    }

    @Test
    @DisplayName(
            "row 6: a rank that stays silent ends the group at the limit, on all ranks with the same culprit, nobody calling")
    void aRankThatStaysSilentEndsTheGroup() throws Exception {
        Map<String, String> short2s = new HashMap<>(OFTEN);
        short2s.put("ferro.heartbeat.limit", "2s");
        try (TcpJob job = new TcpJob(3, Ranks.LONG, short2s)) {
            List<ProcessGroup> groups = join(job, 3);
            stop(contexts.get(2));

            for (int rank = 0; rank < 2; rank++) {
                await(events.get(rank), event -> event.kind() == Kind.FAILED);
                FerroException failure = groups.get(rank).failure().orElseThrow();
                assertEquals(Code.PARTITION, failure.code());
                assertEquals(Set.of(2), failure.where().culprits());
                assertTrue(failure.getMessage().contains("limit ferro.heartbeat.limit 2.0 s"), failure.getMessage());
            }
            goOn.countDown();
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1})
    @DisplayName(
            "row 16: ranks with different roots that have all returned hear of it by a heartbeat, without a next call")
    void differentRootsAreFoundWithoutANextCall(int elements) throws Exception {
        Map<String, String> rarely = Map.of("ferro.heartbeat.interval", "1s");
        try (TcpJob job = new TcpJob(2, Ranks.LONG, rarely)) {
            List<ProcessGroup> groups = join(job, 2);
            TcpJob.onAll(groups, TcpMembershipTest::sum);
            // each sends, and listens to nobody
            TcpJob.runOnAll(groups, group -> group.broadcast(new float[elements], group.rank()));

            for (int rank = 0; rank < 2; rank++) {
                await(events.get(rank), event -> event.kind() == Kind.FAILED);
                FerroException failure = groups.get(rank).failure().orElseThrow();
                Ranks.assertSays(failure, Code.MISMATCH, "root 0", "root 1");
                assertEquals(Set.of(0, 1), failure.where().culprits());
            }
            // whoever did not look is told by close
            for (ProcessGroup group : groups) {
                assertEquals(Code.MISMATCH, TcpJob.failure(group::close).code());
            }
        }
    }

    @Test
    void subgroupsAreWatchedAfterTheJoinedGroupIsClosedAndNoTimerIsLeftAfterTheLast() throws Exception {
        try (TcpJob job = new TcpJob(2, Ranks.LONG, OFTEN)) {
            List<ProcessGroup> groups = join(job, 2);
            List<ProcessGroup> subgroups = TcpJob.onAll(groups, group -> group.newGroup(1, 0));
            BlockingQueue<GroupEvent> heard = listenTo(subgroups.get(0));
            groups.forEach(ProcessGroup::close);
            stop(contexts.get(1));
            await(heard, about(Kind.SUSPECTED, 0));
            goOn.countDown();
            await(heard, about(Kind.RECOVERED, 0));
            subgroups.forEach(ProcessGroup::close);

            for (SystemContext context : contexts) {
                ScheduledThreadPoolExecutor timers = (ScheduledThreadPoolExecutor) context.background();
                assertEquals(List.of(), List.copyOf(timers.getQueue()), "timers are left");
            }
        }
    }
}
