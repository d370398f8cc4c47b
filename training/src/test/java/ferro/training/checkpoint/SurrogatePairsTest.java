package ferro.training.checkpoint;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.HostTensor;
import ferro.harness.Medium;
import ferro.harness.Ranks;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Names and metadata with surrogate pairs come back as they were saved; half of a pair is refused before a save begins. */
class SurrogatePairsTest {
    private static final String PAIRED = "a \uD83D\uDE00";
    private static final HostTensor VALUES = HostTensor.of(new float[] {3, 5});

    @Test
    void textsWithSurrogatePairsAreRestored() {
        TrainingState state = new TrainingState(
                List.of(NamedTensor.of(PAIRED, HostTensor.of(new float[] {3, 5}), 2)),
                List.of(StateSlice.of(PAIRED, PAIRED, 0, HostTensor.of(new float[] {7, 9}))),
                Map.of(PAIRED, PAIRED));
        MemoryStorage storage = new MemoryStorage();
        List<Map<String, String>> loaded = Ranks.run(Medium.SIMULATED, 1, group -> {
            try (Checkpoints checkpoints = Checkpoints.open(group, storage)) {
                checkpoints.save(1, state);
                return checkpoints.load(state).metadata();
            }
        });

        assertEquals(List.of(Map.of(PAIRED, PAIRED)), loaded);
    }

    static Stream<Arguments> halves() {
        TrainingState state = TrainingState.of(List.of());
        return Stream.of(
                half("metadata \"epoch\"", 3, () -> state.withMetadata(Map.of("epoch", "ab\uD83D"))),
                half("the name of metadata \"", 2, () -> state.withMetadata(Map.of("a\uDE00", "1"))),
                half("the name of tensor \"", 2, () -> NamedTensor.of("w\uD83D", VALUES, 2)),
                half("the name of state \"", 4, () -> StateSlice.of("avg\uD83D", "w", 0, VALUES)),
                half("the name of parameter \"", 1, () -> StateSlice.of("avg", "\uDE00w", 0, VALUES)));
    }

    private static Arguments half(String what, int character, Executable making) {
        return Arguments.of(what, character, making);
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("halves")
    void aHalfSurrogatePairIsRefusedWithNameAndPosition(String what, int character, Executable making) {
        String message = assertThrows(IllegalArgumentException.class, making).getMessage();

        assertTrue(message.startsWith(what), message);
        assertTrue(message.contains(", as character " + character + ":"), message);
    }
}
