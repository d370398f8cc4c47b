package ferro.benchmarks;

import java.util.concurrent.locks.LockSupport;

/**
 * The computation of {@code ferro bench overlap}, in place of a model. Each layer takes a fixed amount of computing.
 * The last layer comes first.
 *
 * <p>Only one thread may use an object.
 */
abstract class LayerComputation {
    /** The effect of computing on the core that the rank runs on. */
    enum CoreUse {
        /** Computing leaves the core idle, as when an accelerator computes. */
        IDLE,
        /** Computing keeps the core busy. */
        BUSY;

        static CoreUse parse(String text) {
            for (CoreUse kind : values()) {
                if (kind.label().equals(text)) {
                    return kind;
                }
            }
            throw new IllegalArgumentException("--computing " + text + ": need idle or busy");
        }

        String label() {
            return name().toLowerCase(java.util.Locale.ROOT);
        }

        /** Creates computing that takes {@code layerNanos} for each layer on the core of the caller. */
        LayerComputation of(long layerNanos) {
            return this == IDLE ? new FakeAccelerator(layerNanos) : new BusyComputation(layerNanos);
        }
    }

    /** Begins the layers of one step. */
    abstract void begin();

    /** Waits until the next layer is done. */
    abstract void layer();

    /** Begins a step and computes {@code count} layers. */
    final void layers(int count) {
        begin();
        for (int layer = 0; layer < count; layer++) {
            layer();
        }
    }

    /** An accelerator that gets all layers of a step at once. Each layer ends a fixed time after the previous layer. */
    private static final class FakeAccelerator extends LayerComputation {
        private final long layerNanos;
        private long done;

        FakeAccelerator(long layerNanos) {
            this.layerNanos = layerNanos;
        }

        @Override
        void begin() {
            done = System.nanoTime();
        }

        @Override
        void layer() {
            done += layerNanos;
            for (long rest = done - System.nanoTime(); rest > 0; rest = done - System.nanoTime()) {
                LockSupport.parkNanos(this, rest);
            }
        }
    }

    /** A fixed amount of arithmetic for each layer. The arithmetic takes longer if the core has other work too. */
    private static final class BusyComputation extends LayerComputation {
        private static final int TRIALS = 5;
        private static final int TRIAL_ROUNDS = 2000;

        private final float[] numbers = new float[4096];
        private final long rounds;
        private float sum;

        BusyComputation(long layerNanos) {
            java.util.Arrays.fill(numbers, 1e-3f);
            long fastest = Long.MAX_VALUE;
            for (int trial = 0; trial < TRIALS; trial++) {
                long start = System.nanoTime();
                calculate(TRIAL_ROUNDS);
                fastest = Math.min(fastest, System.nanoTime() - start);
            }
            rounds = Math.max(1, Math.round((double) layerNanos * TRIAL_ROUNDS / fastest));
        }

        @Override
        void begin() {
            // the amount of work for each layer
        }

        @Override
        void layer() {
            calculate(rounds);
        }

        private void calculate(long count) {
            float value = sum;
            for (long round = 0; round < count; round++) {
                for (float number : numbers) {
                    value = value * 0.999f + number;
                }
            }
            sum = value;
        }
    }
}
