package ferro.collectives.reduce;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.DataType;
import ferro.ReduceOp;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class AdaptiveKernelTest {
    private static final int SAMPLES = 32;

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 15, 16, 17, 1_024, 1_025, 5_000, 70_001})
    void combinesEachElementOnceDuringATrial(int length) {
        Kernel tried = tried(DataType.INT32);
        int[] into = new int[length + 2];
        ByteBuffer source = ByteBuffer.allocateDirect(4 * length + 3).order(ByteOrder.nativeOrder());
        for (int i = 0; i < length; i++) {
            source.putInt(3 + 4 * i, i + 1);
        }
        int[] expected = new int[length + 2];
        for (int call = 1; call <= 100; call++) {
            tried.combine(into, 1, source, 3, length);
            for (int i = 0; i < length; i++) {
                expected[i + 1] = call * (i + 1);
            }
            assertArrayEquals(expected, into, "call " + call);
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 16, 1_025, 5_000})
    void writesEachElementIntoBothTargetsDuringATrial(int length) {
        Kernel tried = tried(DataType.INT64);
        for (int call = 1; call <= 100; call++) {
            long[] first = new long[length + 1];
            ByteBuffer second = ByteBuffer.allocateDirect(8 * length).order(ByteOrder.nativeOrder());
            for (int i = 0; i < length; i++) {
                first[i + 1] = 5L * i;
                second.putLong(8 * i, call);
            }
            tried.combineBoth(first, 1, second, 0, length);
            for (int i = 0; i < length; i++) {
                assertEquals(5L * i + call, first[i + 1]);
                assertEquals(5L * i + call, second.getLong(8 * i));
            }
        }
    }

    @Test
    void usesTheFasterKernelAndComparesAgainRarely() {
        KernelTrial trial = new KernelTrial();
        sample(trial, 10, 20);
        assertTrue(trial.won());
        for (int call = 0; call < 1_024; call++) {
            assertFalse(trial.due(), "call " + call);
        }
        assertTrue(trial.due());
        sample(trial, 20, 10);
        assertFalse(trial.won(), "the fast one has become slow");
        assertTrue(trial.undecided());
    }

    @Test
    void endsTheTrialAfterThousandsOfLostComparisons() {
        KernelTrial trial = new KernelTrial();
        for (int comparison = 0; comparison < 4_000; comparison++) {
            assertTrue(trial.due(), "comparison " + comparison);
            sample(trial, 21, 20);
        }
        assertFalse(trial.due());
        assertFalse(trial.won());
    }

    @Test
    void aSinglePauseDoesNotDecideTheTrial() {
        KernelTrial trial = new KernelTrial();
        trial.took(10_000, 1);
        trial.took(10_000, 1);
        for (int i = 2; i < SAMPLES; i++) {
            trial.took(trial.fastsTurn() ? 10 : 20, 1);
        }
        assertTrue(trial.won());
    }

    @ParameterizedTest(name = "{0} elements")
    @ValueSource(longs = {17, 256, 4_096, 32_768, 100_000, 4_194_304})
    void oneOf32ElementsIsASampleDuringATrial(long count) {
        KernelTrial trial = new KernelTrial();
        long sampled = 0;
        int calls = 640;
        for (int call = 0; call < calls; call++) {
            if (trial.due()) {
                long part = 0;
                while (part < Math.max(1, count / 32)) {
                    part += Math.min(1_024, count - part);
                    trial.took(trial.fastsTurn() ? 20 : 10, 1);
                    trial.sampled(part, count);
                }
                sampled += part;
            }
        }

        double share = (double) sampled / (calls * count);
        assertTrue(share > 0.6 / 32 && share < 1.4 / 32, "share " + share);
    }

    private static void sample(KernelTrial trial, long fastNanos, long plainNanos) {
        for (int i = 0; i < SAMPLES; i++) {
            trial.took(trial.fastsTurn() ? fastNanos : plainNanos, 1);
        }
    }

    private static Kernel tried(DataType type) {
        BlockKernel plain = KernelFactory.plain(type, ReduceOp.SUM, 2, PreMulOperands.NEITHER);
        return new AdaptiveKernel(() -> KernelFactory.plain(type, ReduceOp.SUM, 2, PreMulOperands.NEITHER), plain);
    }
}
