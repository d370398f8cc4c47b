package ferro.integration.misuse;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.FerroException;
import ferro.HostTensor;
import ferro.ReduceOp;
import ferro.group.ProcessGroup;
import ferro.integration.misuse.PublicCalls.Call;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** The longest and the shortest time there is, for every argument of every public method that is a time: none is too much. */
class DeadlinesTest {
    private static final Duration LONGEST = Duration.ofSeconds(Long.MAX_VALUE, 999_999_999);
    private static final Duration SHORTEST = Duration.ofSeconds(Long.MIN_VALUE);
    private static final Duration SOON = Duration.ofSeconds(5);
    /** After which a call that may wait for ever is taken to do so, and interrupted; of the others none may wait. */
    private static final Duration WHILE = Duration.ofMillis(300);

    /** Users write these, and ferro calls them; ferro makes the last two; what needs a device is tested beside it. */
    private static final Set<String> NOT_CALLED_BY_USERS = Set.of(
            "Store",
            "Transport",
            "ControlLane",
            "NcclBackend",
            "DeviceMemory.Copy",
            "HostFallback",
            "CollectiveEngine.SteppedEngine",
            "Simulation.Result",
            "FerroException.Where");

    @TempDir
    private Path folder;

    /** One time as one argument of one call on one object, which of several by name. */
    private record Case(Call call, String receiver, int index, Duration time) {
        @Override
        public String toString() {
            return call + (receiver.isEmpty() ? "" : " on " + receiver) + " " + time;
        }
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("cases")
    void everyLongestOrShortestTimeIsAcceptedOrRefused(Case each) throws Exception {
        try (Rig rig = new Rig(1, SOON)) {
            Object receiver = rig.receiver(each.call(), each.receiver());
            Object[] arguments = new Sane(rig, folder, SOON).arguments(each.call());
            arguments[each.index()] = each.time();
            CompletableFuture<Throwable> ended = new CompletableFuture<>();
            Thread caller =
                    new Thread(() -> ended.complete(Rig.thrown(each.call(), receiver, arguments)), "test-caller");
            caller.setDaemon(true);
            caller.start();
            Duration patience = each.time().equals(LONGEST) ? WHILE : SOON;
            try {
                Throwable told = ended.get(patience.toMillis(), TimeUnit.MILLISECONDS);
                assertTrue(isExpected(told), () -> "found " + told);
            } catch (TimeoutException waits) {
                assertEquals(LONGEST, each.time(), "what it is that waits");
                caller.interrupt();
                assertTrue(
                        isExpected(ended.get(SOON.toMillis(), TimeUnit.MILLISECONDS)),
                        "the end of an interrupted wait");
            }
        }
    }

    @Test
    void everyCallWorksWithTheLongestTimeout() {
        try (Rig rig = new Rig(2, SOON)) {
            rig.onEachRank(rank -> callsOf(rank.within(LONGEST)));
        }
    }

    /** What a rank does in its first hour. */
    static void callsOf(ProcessGroup group) {
        float[] sum = {2 + group.rank(), 5};
        group.allReduce(sum, ReduceOp.SUM);
        assertArrayEquals(new float[] {5, 10}, sum, "sum of two ranks");
        int other = 1 - group.rank();
        int[] message = {7 + group.rank()};
        int[] answer = new int[1];
        group.recvAsync(HostTensor.of(answer), other, 3);
        group.send(message, other, 3);
        group.barrier();
        try (ProcessGroup both = group.newGroup(0, 1);
                ProcessGroup alone = group.split(group.rank(), 0).orElseThrow()) {
            both.coalesced(() -> both.allReduce(sum, ReduceOp.MAX));
            alone.barrier();
            assertTrue(both.barrierAsync().await(LONGEST), "a barrier that is awaited for ever");
        }
        assertEquals(7 + other, answer[0], "message of the other rank");
    }

    private static List<Case> cases() {
        try (Rig rig = new Rig(1, SOON)) {
            return PublicCalls.all().stream()
                    .filter(call -> !NOT_CALLED_BY_USERS.contains(PublicCalls.name(call.on())))
                    .flatMap(call -> indices(call)
                            .boxed()
                            .flatMap(index -> rig.names(call)
                                    .flatMap(receiver -> Stream.of(
                                                    LONGEST, SHORTEST, Duration.ZERO, Duration.ofNanos(-1))
                                            .map(time -> new Case(call, receiver, index, time)))))
                    .toList();
        }
    }

    private static IntStream indices(Call call) {
        Class<?>[] types = call.call().getParameterTypes();
        return IntStream.range(0, types.length).filter(index -> types[index] == Duration.class);
    }

    /** It ends well, is refused in words, or fails as communication does. */
    private static boolean isExpected(Throwable told) {
        return told == null
                || told instanceof FerroException
                || told instanceof IllegalArgumentException
                || told instanceof IllegalStateException
                || told instanceof UnsupportedOperationException;
    }
}
