package ferro.collectives.reduce;

import java.nio.ByteBuffer;
import java.util.function.Supplier;

/**
 * A kernel that uses a fast kernel while the fast kernel measures as faster than a plain kernel, and otherwise uses the
 * plain kernel. Both kernels give the same bits. Each pair of kinds of memory has a separate trial, because each pair
 * has a separate loop.
 */
final class TriedKernel extends Kernel {
    /** Elements per sample. A loop that is not compiled yet takes some microseconds per sample. */
    private static final int SAMPLE = 1024;
    /** Share of samples while a trial is undecided: one in so many elements of a run is part of a sample. */
    private static final int SHARE = 32;

    private final Supplier<Kernel> made;
    private final BlockKernel plain;
    private Kernel fast;
    private final Trial[] into = {new Trial(), new Trial(), new Trial(), new Trial()};
    private final Trial[] both = {new Trial(), new Trial(), new Trial(), new Trial()};

    /** Makes a kernel. {@code fast} is called when a run is long enough for the fast kernel. */
    TriedKernel(Supplier<Kernel> fast, BlockKernel plain) {
        this.made = fast;
        this.plain = plain;
    }

    @Override
    public void combine(Object into, long intoOffset, Object source, long sourceOffset, long count) {
        Trial trial = count <= BlockKernel.FEW ? null : this.into[pair(into, source)];
        long done = 0;
        if (trial != null && trial.due()) {
            for (long max = maxElements(trial, count); done < max; ) {
                long part = Math.min(SAMPLE, count - done);
                Kernel kernel = trial.fastsTurn() ? fast() : plain;
                long start = System.nanoTime();
                kernel.combine(into, at(into, intoOffset, done), source, at(source, sourceOffset, done), part);
                trial.took(System.nanoTime() - start, part);
                done += part;
            }
        }
        Kernel kernel = trial != null && trial.won() ? fast() : plain;
        if (done < count) {
            kernel.combine(into, at(into, intoOffset, done), source, at(source, sourceOffset, done), count - done);
        }
    }

    @Override
    public void combineBoth(Object first, long firstOffset, Object second, long secondOffset, long count) {
        Trial trial = count <= BlockKernel.FEW ? null : both[pair(first, second)];
        long done = 0;
        if (trial != null && trial.due()) {
            for (long max = maxElements(trial, count); done < max; ) {
                long part = Math.min(SAMPLE, count - done);
                Kernel kernel = trial.fastsTurn() ? fast() : plain;
                long start = System.nanoTime();
                kernel.combineBoth(first, at(first, firstOffset, done), second, at(second, secondOffset, done), part);
                trial.took(System.nanoTime() - start, part);
                done += part;
            }
        }
        Kernel kernel = trial != null && trial.won() ? fast() : plain;
        if (done < count) {
            long left = count - done;
            kernel.combineBoth(first, at(first, firstOffset, done), second, at(second, secondOffset, done), left);
        }
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

    private long at(Object memory, long offset, long elements) {
        return offset + elements * (memory instanceof ByteBuffer ? plain.byteSize() : 1);
    }

    private static long maxElements(Trial trial, long count) {
        return trial.undecided() ? Math.max(1, count / SHARE) : 1;
    }
}
