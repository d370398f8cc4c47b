package ferro.training.optimizer;

import static ferro.harness.Says.assertSays;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import com.sun.management.ThreadMXBean;
import ferro.DataType;
import ferro.HostTensor;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

class ParameterUpdaterTest {
    /** Two whole blocks and a part of one. */
    private static final int COUNT = 2 * BlockBuffer.LENGTH + 77;

    private static final int STEPS = 6;

    static List<UpdateRule> rules() {
        SgdRule sgd = UpdateRule.sgd().withRate(0.1);
        AdamRule adam = UpdateRule.adam().withRate(0.03);
        return List.of(
                sgd,
                sgd.withWeightDecay(0.01),
                sgd.withMomentum(0.9),
                sgd.withMomentum(0.9).withDampening(0.3).withWeightDecay(0.02),
                sgd.withNesterov(0.8).withWeightDecay(0.02),
                adam,
                adam.withWeightDecay(0.05).withBetas(0.8, 0.95),
                adam.withBetas(0.3, 0.99).withEpsilon(1e-3),
                UpdateRule.adamW().withRate(0.02).withWeightDecay(0.1),
                UpdateRule.adamW().withWeightDecay(0));
    }

    static Stream<Arguments> rulesAndTypes() {
        return rules().stream()
                .flatMap(rule -> Stream.of(DataType.FLOAT32, DataType.FLOAT64).map(type -> Arguments.of(rule, type)));
    }

    @ParameterizedTest
    @MethodSource("rulesAndTypes")
    void updatesHaveTheBitsOfTheFormulas(UpdateRule rule, DataType type) {
        Rows rows = new Rows(rule, type, true);
        ScalarRule scalar = new ScalarRule(rule, type);
        double[] parameters = new double[COUNT];
        double[][] state = new double[COUNT][2];
        for (int i = 0; i < COUNT; i++) {
            parameters[i] = rows.get(rows.parameters, i);
        }
        for (int step = 1; step <= STEPS; step++) {
            rows.newGradients(step);
            double rate = rule.rate() / step;
            rows.updater.update(0, COUNT, step, rate);
            scalar.begin(step, rate);
            for (int i = 0; i < COUNT; i++) {
                parameters[i] = scalar.update(parameters[i], rows.get(rows.gradients, i), state[i]);
                assertEquals(parameters[i], rows.get(rows.parameters, i), "element " + i + " after step " + step);
                for (int s = 0; s < rows.state.size(); s++) {
                    assertEquals(state[i][s], rows.get(rows.state.get(s), i), "state " + s + " of element " + i);
                }
            }
        }
    }

    @ParameterizedTest
    @MethodSource("rulesAndTypes")
    void updatesHaveTheSameBitsInAnyPiecesAndMemory(UpdateRule rule, DataType type) {
        Rows full = new Rows(rule, type, true);
        Rows cut = new Rows(rule, type, false);
        Random random = new Random(7);
        for (int step = 1; step <= STEPS; step++) {
            full.newGradients(step);
            cut.newGradients(step);
            full.updater.update(0, COUNT, step, rule.rate());
            for (int from = 0; from < COUNT; ) {
                int to = Math.min(COUNT, from + random.nextInt(1500));
                cut.updater.update(from, to, step, rule.rate());
                from = to;
            }
        }
        assertEquals(full.bits(), cut.bits());
    }

    /** By hand: the buffer is 1, 1.9 and 2.71, so the parameter falls by 0.1 of 5.61. */
    @Test
    void momentumAccumulates() {
        double[] parameters = {2};
        ParameterUpdater updater = ParameterUpdater.of(
                UpdateRule.sgd().withMomentum(0.9),
                HostTensor.of(parameters),
                HostTensor.of(new double[] {1}),
                List.of(HostTensor.of(new double[1])));
        for (int step = 1; step <= 3; step++) {
            updater.update(0, 1, step, 0.1);
        }
        assertEquals(2 - 0.561, parameters[0], 1e-12);
    }

    /** By hand: the corrected averages of the first step are g and g², so each parameter moves by the rate, whatever its gradient. */
    @Test
    void theFirstStepOfAdamMovesByTheRate() {
        double[] parameters = {2, 2, 2};
        ParameterUpdater updater = ParameterUpdater.of(
                UpdateRule.adam(),
                HostTensor.of(parameters),
                HostTensor.of(new double[] {1e-3, -5, 700}),
                List.of(HostTensor.of(new double[3]), HostTensor.of(new double[3])));
        updater.update(0, 3, 1, 0.25);
        assertEquals(1.75, parameters[0], 1e-5);
        assertEquals(2.25, parameters[1], 1e-8);
        assertEquals(1.75, parameters[2], 1e-8);
    }

    @Test
    void gradientsStayUnchanged() {
        Rows rows = new Rows(UpdateRule.sgd().withNesterov(0.9).withWeightDecay(0.1), DataType.FLOAT32, true);
        rows.newGradients(1);
        float before = rows.gradients.getFloat(3);
        rows.updater.update(0, COUNT, 1, 0.1);
        assertEquals(before, rows.gradients.getFloat(3));
    }

    @ParameterizedTest
    @MethodSource("rulesAndTypes")
    void anUpdateAllocatesNothing(UpdateRule rule, DataType type) {
        Rows rows = new Rows(rule, type, true);
        ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        long thread = Thread.currentThread().getId();
        rows.updater.update(0, COUNT, 1, rule.rate());
        long least = Long.MAX_VALUE;
        // the interpreter and loading classes may take some at first
        for (int step = 2; step < 200 && least > 0; step++) {
            long before = threads.getThreadAllocatedBytes(thread);
            rows.updater.update(0, COUNT, step, rule.rate());
            least = Math.min(least, threads.getThreadAllocatedBytes(thread) - before);
        }
        assertEquals(0, least);
    }

    @ParameterizedTest
    @EnumSource(
            value = DataType.class,
            names = {"FLOAT16", "BFLOAT16", "INT32"})
    void refusesTypesThatRoundUpdatesAway(DataType type) {
        HostTensor tensor = HostTensor.allocate(type, 4);
        String text = "found " + type.label() + "; a 16-bit float loses updates that are smaller than";
        assertRefused(text, UpdateRule.sgd(), tensor, tensor, List.of());
    }

    @Test
    void refusesTensorsThatDoNotFit() {
        HostTensor four = HostTensor.of(new float[4]);
        HostTensor three = HostTensor.of(new float[3]);
        List<HostTensor> state = List.of(four, four);
        assertRefused("found f32[3]", UpdateRule.adam(), four, three, state);
        assertRefused("found f32[3]", UpdateRule.adam(), four, four, List.of(four, three));
        assertRefused("found f64[4]", UpdateRule.adam(), four, HostTensor.of(new double[4]), state);
        String adam = "adam needs 2 state tensors [exp_avg, exp_avg_sq], found 1";
        assertRefused(adam, UpdateRule.adam(), four, four, List.of(four));
        assertRefused("sgd needs 0 state tensors [], found 2", UpdateRule.sgd(), four, four, state);
        ParameterUpdater updater = ParameterUpdater.of(UpdateRule.adam(), four, four, state);
        assertThrows(IndexOutOfBoundsException.class, () -> updater.update(2, 5, 1, 0.1));
        assertThrows(IllegalArgumentException.class, () -> updater.update(0, 4, 0, 0.1));
    }

    private static void assertRefused(
            String text, UpdateRule rule, HostTensor parameters, HostTensor gradients, List<HostTensor> state) {
        assertSays(
                assertThrows(
                        IllegalArgumentException.class, () -> ParameterUpdater.of(rule, parameters, gradients, state)),
                text);
    }

    /** Parameters, gradients and state, in direct memory or in the middle of arrays. */
    private static final class Rows {
        final HostTensor parameters;
        final HostTensor gradients;
        final List<HostTensor> state = new ArrayList<>();
        final ParameterUpdater updater;
        private final DataType type;

        Rows(UpdateRule rule, DataType type, boolean isDirect) {
            this.type = type;
            parameters = row(isDirect);
            gradients = row(isDirect);
            rule.stateNames().forEach(name -> state.add(row(isDirect)));
            Random random = new Random(1);
            for (int i = 0; i < COUNT; i++) {
                set(parameters, i, random.nextGaussian());
            }
            updater = ParameterUpdater.of(rule, parameters, gradients, state);
        }

        private HostTensor row(boolean isDirect) {
            if (isDirect) {
                return HostTensor.allocate(type, COUNT);
            }
            Object array = type == DataType.FLOAT32 ? new float[COUNT + 9] : new double[COUNT + 9];
            return HostTensor.ofArray(type, array, 5, COUNT);
        }

        void newGradients(int step) {
            Random random = new Random(100 + step);
            for (int i = 0; i < COUNT; i++) {
                set(gradients, i, random.nextGaussian() * Math.pow(10, random.nextInt(7) - 3));
            }
        }

        double get(HostTensor row, int i) {
            return type == DataType.FLOAT32 ? row.getFloat(i) : row.getDouble(i);
        }

        private void set(HostTensor row, int i, double value) {
            if (type == DataType.FLOAT32) {
                row.setFloat(i, (float) value);
            } else {
                row.setDouble(i, value);
            }
        }

        List<Long> bits() {
            List<Long> bits = new ArrayList<>();
            for (HostTensor row :
                    Stream.concat(Stream.of(parameters), state.stream()).toList()) {
                for (int i = 0; i < COUNT; i++) {
                    bits.add(Double.doubleToRawLongBits(get(row, i)));
                }
            }
            return bits;
        }
    }
}
