package ferro.collectives.reduce;

import java.nio.ByteBuffer;
import java.util.function.Supplier;

/**
 * A kernel that uses a fast kernel while the fast kernel measures as faster than a plain kernel, and otherwise uses the
 * plain kernel. The fast and the plain kernel give the same bits. Each pair of kinds of memory has a separate trial,
 * because each pair has a separate loop.
 *
 * <p>The same line of code combines the samples and the rest of a call. The JVM therefore compiles the line for both
 * kernels, and does not discard the compiled code when the other kernel becomes the faster kernel.
 */
final class AdaptiveKernel extends Kernel {
    /** Elements per sample. A loop that is not compiled yet takes some microseconds per sample. */
    private static final int SAMPLE = 1024;

    private final Supplier<Kernel> made;
    private final BlockKernel plain;
    private Kernel fast;
    /** Trials by the number of results and the kinds of memory of both operands. */
    private final KernelTrial[] trials = new KernelTrial[8];

    /** Makes a kernel. {@code fast} is called when a run is long enough for the fast kernel. */
    AdaptiveKernel(Supplier<Kernel> fast, BlockKernel plain) {
        super(plain.type.byteSize());
        this.made = fast;
        this.plain = plain;
        for (int i = 0; i < trials.length; i++) {
            trials[i] = new KernelTrial();
        }
    }

    @Override
    void combine(Object first, long firstOffset, Object second, long secondOffset, long count, boolean both) {
        if (count <= BlockKernel.FEW) {
            plain.combine(first, firstOffset, second, secondOffset, count, both);
            return;
        }
        KernelTrial trial = trials[(both ? 4 : 0) + pair(first, second)];
        long samples = samples(trial, count);
        for (long done = 0; done < count; ) {
            boolean isSample = done < samples;
            long part = isSample ? Math.min(SAMPLE, count - done) : count - done;
            Kernel kernel = (isSample ? trial.fastsTurn() : trial.won()) ? fast() : plain;
            long firstAt = at(first, firstOffset, done);
            long start = isSample ? System.nanoTime() : 0;
            kernel.combine(first, firstAt, second, at(second, secondOffset, done), part, both);
            done += part;
            if (isSample) {
                trial.took(System.nanoTime() - start, part);
                trial.sampled(done, count);
            }
        }
    }

    /** Returns how many elements of a call are part of samples. The last sample may include more elements. */
    private static long samples(KernelTrial trial, long count) {
        if (!trial.due()) {
            return 0;
        }
        return trial.undecided() ? Math.max(1, count / KernelTrial.SHARE) : 1;
    }

    private Kernel fast() {
        if (fast == null) {
            fast = made.get();
        }
        return fast;
    }

    private static int pair(Object first, Object second) {
        return (first instanceof ByteBuffer ? 2 : 0) + (second instanceof ByteBuffer ? 1 : 0);
    }
}
