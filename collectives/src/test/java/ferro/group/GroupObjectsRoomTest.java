package ferro.group;

import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.when;

import ferro.Backend;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** A rank that has no memory for the objects that are announced to it. */
class GroupObjectsRoomTest {
    private static Stream<Function<GroupObjects<String>, Object>> calls() {
        return Stream.of(
                objects -> objects.gather("abc", 0),
                objects -> objects.allGather("abc"),
                objects -> objects.scatter(List.of("abc"), 0),
                objects -> objects.allToAll(List.of("abc")),
                objects -> objects.reduce("abc", String::concat, 0),
                objects -> objects.allReduce("abc", String::concat));
    }

    @Test
    void partsThatDoNotFitIntoOneArrayBlameNoSingleRank() {
        Backend alone = mock(Backend.class);
        when(alone.worldSize()).thenReturn(1);
        when(alone.timeout()).thenReturn(Duration.ofSeconds(10));
        try (SystemContext context = SystemContext.of(Map.of())) {
            ObjectHeaders headers = ObjectHeaders.exchange(
                    Groups.of(alone, context),
                    ObjectHeaders.ObjectCall.ALL_GATHER.with(0),
                    Long.MAX_VALUE,
                    3_000_000_000L);
            String refusal = assertThrows(
                            IllegalArgumentException.class, () -> headers.requireOneArray(headers.byteCounts()))
                    .getMessage();
            assertTrue(
                    refusal.endsWith(
                            ": one rank sends or receives 3000000000 bytes of objects, need at most 2147483639: send"
                                    + " them in several calls"),
                    refusal);
        }
    }

    @ParameterizedTest
    @MethodSource("calls")
    void aRankWithoutMemoryForObjectsFailsTheGroup(Function<GroupObjects<String>, Object> call) {
        Backend alone = mock(Backend.class);
        when(alone.worldSize()).thenReturn(1);
        when(alone.timeout()).thenReturn(Duration.ofSeconds(10));
        OutOfMemoryError none = new OutOfMemoryError("of a test");
        try (SystemContext context = SystemContext.of(Map.of())) {
            ProcessGroup group = Groups.of(alone, context);
            GroupObjects<String> objects =
                    new GroupObjects<>(group, new CoalescedBlocks(), Codec.utf8(), 1000, bytes -> {
                        throw none;
                    });

            assertSame(none, assertThrows(OutOfMemoryError.class, () -> call.apply(objects)));

            String told = group.failure().orElseThrow().getMessage();
            assertTrue(told.contains("there is no memory for 3 bytes of objects"), told);
        }
    }
}
