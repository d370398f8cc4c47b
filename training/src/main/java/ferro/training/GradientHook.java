package ferro.training;

import ferro.DataType;
import ferro.HostTensor;
import ferro.Work;
import ferro.group.ProcessGroup;
import java.util.Objects;
import java.util.Optional;

/**
 * The way in which ranks send a bucket of gradients. By default ranks send the elements unchanged.
 *
 * <p>The hook must be the same on all ranks. {@link GradientBuckets} opens the hook once for each bucket, in the order
 * in which buckets travel, which is the same on all ranks. The resulting exchange belongs to one bucket and keeps its
 * own memory. Calls for buckets have the same order on all ranks, and one thread at a time makes the calls.
 *
 * <p>A custom hook must average over {@code contributors}, the number of ranks that have data in this step. The
 * gradients of the other ranks are zeros. If a hook throws an exception, the group of the buckets ends on all ranks.
 */
@FunctionalInterface
public interface GradientHook {
    /**
     * Creates the exchange that sends a bucket. An implementation may make collective calls of the bucket's group, such
     * as {@code allocate}.
     *
     * @param bucket the bucket that the exchange sends
     * @return exchange that sends the bucket in every step
     */
    Exchange open(SentBucket bucket);

    /**
     * Returns why this hook cannot send gradients of a type. The builder calls this method before ranks build buckets,
     * so that all ranks throw the same exception.
     *
     * @param gradients f32 or f64
     * @return continuation of the text "bucket 0 has gradients of f64, and"; empty if the hook can send the type
     */
    default Optional<String> unsupportedBecause(DataType gradients) {
        Objects.requireNonNull(gradients, "gradients");
        return Optional.empty();
    }

    /** A bucket that a hook sends. */
    final class SentBucket {
        private final ProcessGroup group;
        private final int index;
        private final HostTensor gradients;
        private final boolean sharded;

        SentBucket(ProcessGroup group, int index, HostTensor gradients, boolean sharded) {
            Objects.requireNonNull(group, "group");
            Objects.requireNonNull(gradients, "gradients");
            this.group = group;
            this.index = index;
            this.gradients = gradients;
            this.sharded = sharded;
        }

        /** {@return the group of the buckets, in which the calls of all buckets have one order} */
        public ProcessGroup group() {
            return group;
        }

        /** {@return the index of the bucket} */
        public int index() {
            return index;
        }

        /**
         * {@return the whole bucket including padding, f32 or f64, in shared memory if the ranks share memory; its
         * length is a multiple of the number of ranks}
         */
        public HostTensor gradients() {
            return gradients;
        }

        /** {@return whether each rank needs only its part of the average} */
        public boolean sharded() {
            return sharded;
        }

        /**
         * Returns this rank's part of a tensor that is as long as the bucket.
         *
         * @param full tensor with as many elements as the bucket
         * @return elements {@code rank * n} to {@code (rank + 1) * n - 1}, where n is the length divided by the number
         *     of ranks
         */
        public HostTensor ownPart(HostTensor full) {
            long part = full.elementCount() / group.worldSize();
            return full.slice(group.rank() * part, part);
        }
    }

    /** An exchange that sends the same bucket once in each step. */
    interface Exchange {
        /**
         * Starts to send the bucket and does not wait for other ranks. No other code reads or writes the gradients
         * until {@link #finish}.
         *
         * @param contributors number of ranks that have data in this step; all ranks unless some ranks have run out of
         *     data ({@link Join})
         * @return handle of the collective; {@link Work#all} makes one handle of several handles
         */
        Work start(int contributors);

        /**
         * Replaces the gradients by their average over the contributors, in the whole bucket, or in this rank's part if
         * the bucket is sharded. This method is called when the work of {@link #start} is done.
         *
         * @param contributors number of ranks that have data in this step, as in {@link #start}
         */
        void finish(int contributors);
    }

    /** {@return the default hook, for f32 and f64, which averages gradients unchanged} */
    static GradientHook average() {
        return AverageExchange.HOOK;
    }

    /**
     * {@return a hook for f32 that sends gradients as bf16, which halves the bytes;
     * {@link GradientBucketsBuilder#build} rejects buckets of f64. The type bf16 has the range of f32 and 8 bits of
     * precision. Each gradient is rounded once to bf16, to nearest with ties to even. The average is converted back to
     * f32. Each bucket needs additional memory of half its size. Each step creates a few KiB of garbage per bucket}
     */
    static GradientHook bf16() {
        return new CompressedHook(DataType.BFLOAT16);
    }

    /**
     * {@return a hook for f32 that sends gradients as f16, which halves the bytes; {@link GradientBucketsBuilder#build}
     * rejects buckets of f64. The type f16 has 11 bits of precision, and its largest finite value is 65504. Gradients
     * whose sum over all ranks is larger than 65504 become infinite. Apart from the type, the hook works like
     * {@link #bf16}}
     */
    static GradientHook f16() {
        return new CompressedHook(DataType.FLOAT16);
    }
}
