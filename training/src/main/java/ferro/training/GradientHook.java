package ferro.training;

import ferro.DataType;
import ferro.HostTensor;
import ferro.Work;
import ferro.group.ProcessGroup;
import java.util.Objects;
import java.util.Optional;

/**
 * What ranks send of a bucket of gradients: by default its elements as they are.
 *
 * <p>A hook must be the same on all ranks. {@link GradientBuckets} opens it once for each bucket, in the order in which buckets
 * travel, on all ranks alike; what is opened then belongs to that bucket and keeps its own memory. All calls for a bucket are made in
 * one order on all ranks, by one thread at a time.
 *
 * <p>A hook of your own averages over {@code contributors}, the number of ranks that have data in this step: the gradients of the
 * others are zeros. An exception that it throws ends the group of the buckets on all ranks.
 */
@FunctionalInterface
public interface GradientHook {
    /**
     * Makes what sends a bucket. It may make collective calls of the bucket's group, such as {@code allocate}.
     *
     * @param bucket the bucket
     * @return what sends it in every step
     */
    Exchange open(SentBucket bucket);

    /**
     * Says why it cannot send gradients of a type. It is asked before ranks build buckets, so that all of them refuse alike.
     *
     * @param gradients f32 or f64
     * @return what follows "bucket 0 has gradients of f64, and"; empty if it can
     */
    default Optional<String> unsupportedBecause(DataType gradients) {
        Objects.requireNonNull(gradients, "gradients");
        return Optional.empty();
    }

    /**
     * A bucket that a hook sends.
     *
     * @param group the group of the buckets; calls of all buckets have one order in it
     * @param index which bucket
     * @param gradients the whole bucket, padding included, f32 or f64, in memory that ranks share where possible; its length is a
     *     multiple of the number of ranks
     * @param sharded whether only this rank's part of the average is needed
     */
    record SentBucket(ProcessGroup group, int index, HostTensor gradients, boolean sharded) {
        /**
         * Checks that all is given.
         *
         * @param group the group of the buckets
         * @param index which bucket
         * @param gradients the whole bucket
         * @param sharded whether only this rank's part of the average is needed
         */
        public SentBucket {
            Objects.requireNonNull(group, "group");
            Objects.requireNonNull(gradients, "gradients");
        }

        /**
         * Returns this rank's part of a tensor that is as long as the bucket.
         *
         * @param whole as many elements as the bucket has
         * @return elements {@code rank * n} to {@code (rank + 1) * n}, where n is the length divided by the number of ranks
         */
        public HostTensor ownPart(HostTensor whole) {
            long part = whole.elementCount() / group.worldSize();
            return whole.slice(group.rank() * part, part);
        }
    }

    /** Sends one bucket, once per step. */
    interface Exchange {
        /**
         * Starts sending, and does not wait for other ranks. Nobody else touches the gradients until {@link #finish}.
         *
         * @param contributors number of ranks that have data in this step; all of them unless some have run out ({@link Join})
         * @return handle of the collective, or of all of them ({@link Work#all})
         */
        Work start(int contributors);

        /**
         * Puts the average over the contributors where the gradients were: into the whole bucket, or into this rank's part if it
         * is sharded. Called when the work of {@link #start} is done.
         *
         * @param contributors as in {@link #start}
         */
        void finish(int contributors);
    }

    /**
     * Averages gradients as they are; the default.
     *
     * @return hook for f32 and f64
     */
    static GradientHook average() {
        return AverageExchange.HOOK;
    }

    /**
     * Sends half of the bytes as bf16: the range of f32, and 8 bits of precision. Each gradient is rounded once to bf16, to nearest
     * and to even; the average comes back as f32. A bucket takes memory of half its size besides; each step makes a few KiB of
     * garbage per bucket.
     *
     * @return hook for f32; buckets of f64 are refused when it is opened
     */
    static GradientHook bf16() {
        return new CompressedHook(DataType.BFLOAT16);
    }

    /**
     * Sends half of the bytes as f16: 11 bits of precision, and nothing beyond 65504, so that gradients whose sum over all ranks is
     * larger become infinite. Otherwise as {@link #bf16}.
     *
     * @return hook for f32; buckets of f64 are refused when it is opened
     */
    static GradientHook f16() {
        return new CompressedHook(DataType.FLOAT16);
    }
}
