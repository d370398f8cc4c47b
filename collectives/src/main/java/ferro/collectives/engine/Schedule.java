package ferro.collectives.engine;

import ferro.collectives.plan.ChunkExtent;
import ferro.collectives.plan.Plan;
import ferro.collectives.plan.Region;
import ferro.collectives.plan.Step;
import java.util.List;

/**
 * A plan for a given number of elements. The steps of the plan are arrays of posts, cut into segments. A run of the
 * plan therefore allocates nothing and searches nothing.
 *
 * <p>{@link ChunkLengths} defines how the elements are cut into the chunks of the plan. A step of one chunk is cut into
 * segments. If a step of one chunk waits for another step of one chunk, the two steps have the same chunk. So each
 * segment waits only for the same segment of the other step, and segments move through rounds as a pipeline. If scratch
 * memory for full chunks would be too large, the plan runs several times over parts of each chunk. The runs over parts
 * of chunks are called passes, and follow one after the other.
 */
final class Schedule {
    static final long SCRATCH_BYTES_MOST = 32L << 20;

    // a local kind is COPY plus the kind of the receive that combines in the same way

    /** A receive that overwrites. */
    static final byte RECEIVE = 0;
    /** A receive that combines the received elements with the elements in memory. */
    static final byte COMBINE = 1;
    /** A combine that completes the elements of the result. */
    static final byte COMPLETE = 2;
    /** A copy between regions. */
    static final byte COPY = 3;
    /** A combine of one region into another. */
    static final byte LOCAL_COMBINE = COPY + COMBINE;
    /** A combine of one region into another that completes the elements of the result. */
    static final byte LOCAL_COMPLETE = COPY + COMPLETE;

    final ScheduledPost[] sends;
    final ScheduledPost[] receives;
    final long scratchElements;
    /** Whether elements are sent directly from the operand. */
    final boolean sendsOperand;

    private final Plan plan;
    private final Chunking cut;
    private final ChunkLengths parts;
    private final int passes;
    private final long scratchStride;

    /**
     * The elements that a post moves, and the numbers of sends and receives that must be finished before the post can
     * begin.
     *
     * @param peer       rank of the peer; -1 if the post moves nothing between ranks
     * @param source     region that a local post reads; null for other posts
     * @param readsFirst whether a combine has the elements that are read as its first operand, see
     *     {@link Step.CombineStep#readsFirst}
     */
    record ScheduledPost(
            byte kind,
            int peer,
            Region region,
            long from,
            long elements,
            Region source,
            long sourceFrom,
            boolean readsFirst,
            int afterSends,
            int afterReceives) {
        boolean isLocal() {
            return kind >= COPY;
        }

        boolean isCombine() {
            return kind != RECEIVE && kind != COPY;
        }

        boolean isComplete() {
            return kind == COMPLETE || kind == LOCAL_COMPLETE;
        }
    }

    long movedElements() {
        return moved(sends) + moved(receives);
    }

    private static long moved(ScheduledPost... posts) {
        long sum = 0;
        for (ScheduledPost post : posts) {
            sum += post.isLocal() ? 0 : post.elements;
        }
        return sum;
    }

    int steps() {
        return sends.length + receives.length;
    }

    /** The index of the first post of each step within a pass, and whether each step is cut into segments. */
    private record PostLayout(int[] start, boolean[] segmented) {
        int count() {
            return start[segmented.length];
        }
    }

    /**
     * The division of the elements of an operation into posts. The division is equal on all ranks, because sender and
     * receiver must cut each message into the same segments.
     *
     * @param parts        lengths of the chunks
     * @param elementBytes size of one element of the parts in bytes, or of one record if the parts count records
     * @param segmentBytes size of a segment in bytes
     * @param passes       number of runs of the plan, each for a part of every chunk
     */
    record Chunking(ChunkLengths parts, int elementBytes, long segmentBytes, int passes) {
        /**
         * Returns a division with which no rank needs more than {@code scratchBytesMost} bytes of scratch memory. In a
         * single pass, the rank with the most scratch memory would need {@code scratch} elements.
         */
        static Chunking of(
                ChunkLengths parts, long scratch, int elementBytes, long segmentBytes, long scratchBytesMost) {
            int passes = (int) Math.max(1, (scratch * elementBytes + scratchBytesMost - 1) / scratchBytesMost);
            return new Chunking(parts, elementBytes, segmentBytes, passes);
        }
    }

    Schedule(Plan plan, Chunking cut) {
        this.plan = plan;
        this.cut = cut;
        this.parts = cut.parts;
        this.passes = cut.passes;
        // whole chunks have the same layout in scratch as in the operation; parts of chunks are one stride apart
        this.scratchStride = (parts.longest(plan.chunkCount()) + passes - 1) / passes;
        ChunkExtent scratch = plan.scratch();
        this.scratchElements = parts.recordElements()
                * (passes == 1
                        ? start(Region.SCRATCH, scratch.first() + scratch.count())
                                - start(Region.SCRATCH, scratch.first())
                        : scratchStride * scratch.count());
        this.sendsOperand = sendsOperand(plan);
        PostLayout sendLayout = layout(plan.sends());
        PostLayout receiveLayout = layout(plan.receives());
        this.sends = new ScheduledPost[passes * sendLayout.count()];
        this.receives = new ScheduledPost[passes * receiveLayout.count()];
        for (int pass = 0; pass < passes; pass++) {
            expand(plan.sends(), sends, pass, sendLayout, receiveLayout);
            expand(plan.receives(), receives, pass, sendLayout, receiveLayout);
        }
    }

    private static boolean sendsOperand(Plan plan) {
        for (Step.Send send : plan.sends()) {
            if (send.region() == Region.IN) {
                return true;
            }
        }
        return false;
    }

    private PostLayout layout(List<? extends Step> steps) {
        int[] start = new int[steps.size() + 1];
        boolean[] segmented = new boolean[steps.size()];
        for (int i = 0; i < steps.size(); i++) {
            segmented[i] = steps.get(i).chunks() == 1;
            start[i + 1] = start[i] + posts(steps.get(i));
        }
        return new PostLayout(start, segmented);
    }

    /** Returns the number of posts of a step in a pass. Sender and receiver of a message get the same number. */
    private int posts(Step step) {
        if (step.chunks() != 1) {
            return passes == 1 ? 1 : step.chunks();
        }
        long length = parts.areEqual() ? parts.longest(plan.chunkCount()) : length(step.region(), step.chunk());
        long perPass = (length + passes - 1) / passes;
        return (int) Math.max(1, (perPass * cut.elementBytes + cut.segmentBytes - 1) / cut.segmentBytes);
    }

    private void expand(
            List<? extends Step> steps,
            ScheduledPost[] into,
            int pass,
            PostLayout sendLayout,
            PostLayout receiveLayout) {
        int at = pass * (into.length / passes);
        for (Step step : steps) {
            int posts = posts(step);
            for (int i = 0; i < posts; i++) {
                int segment = step.chunks() == 1 ? i : -1;
                int afterSends = pass * sendLayout.count() + before(sendLayout, step.afterSends(), segment);
                int afterReceives = pass * receiveLayout.count() + before(receiveLayout, step.afterReceives(), segment);
                into[at++] = post(step, place(step, pass, i, posts), afterSends, afterReceives);
            }
        }
    }

    /** Returns the number of posts of the first {@code steps} steps that one segment depends on. */
    private static int before(PostLayout layout, int steps, int segment) {
        if (steps == 0) {
            return 0;
        }
        return segment >= 0 && layout.segmented[steps - 1]
                ? Math.min(layout.start[steps - 1] + segment + 1, layout.start[steps])
                : layout.start[steps];
    }

    private ScheduledPost post(Step step, ElementRange place, int afterSends, int afterReceives) {
        int record = parts.recordElements();
        Region source = step instanceof Step.LocalStep local ? local.from() : null;
        byte kind = source == null ? RECEIVE : COPY;
        boolean readsFirst = false;
        if (step instanceof Step.CombineStep combine) {
            kind += combine.completes() ? COMPLETE : COMBINE;
            readsFirst = combine.readsFirst();
        }
        return new ScheduledPost(
                kind,
                step.peer(),
                step.region(),
                record * offset(step.region(), place),
                record * place.count,
                source,
                source == null ? 0 : record * offset(source, place),
                readsFirst,
                afterSends,
                afterReceives);
    }

    private ElementRange place(Step step, int pass, int index, int posts) {
        Region region = step.region();
        int first = step.chunk();
        if (step.chunks() == 1) {
            long low = passStart(region, first, pass);
            long length = passStart(region, first, pass + 1) - low;
            long from = ChunkLengths.even(length, index, posts);
            return new ElementRange(first, pass, low + from, ChunkLengths.even(length, index + 1, posts) - from);
        }
        if (passes == 1) {
            return new ElementRange(first, pass, 0, start(region, first + step.chunks()) - start(region, first));
        }
        int chunk = first + index;
        long low = passStart(region, chunk, pass);
        return new ElementRange(chunk, pass, low, passStart(region, chunk, pass + 1) - low);
    }

    /** A range of elements that begins in a chunk. Only a range of full chunks covers more than one chunk. */
    private record ElementRange(int chunk, int pass, long from, long count) {}

    private long offset(Region region, ElementRange place) {
        ChunkExtent extent = plan.extent(region);
        if (region == Region.SCRATCH && passes > 1) {
            return (place.chunk - extent.first()) * scratchStride
                    + place.from
                    - passStart(region, place.chunk, place.pass);
        }
        return start(region, place.chunk) - start(region, extent.first()) + place.from;
    }

    private long start(Region region, int chunk) {
        return parts.start(region, chunk, plan.chunkCount());
    }

    private long length(Region region, int chunk) {
        return start(region, chunk + 1) - start(region, chunk);
    }

    /** Returns the first element, within a chunk, of the part that a pass handles. */
    private long passStart(Region region, int chunk, int pass) {
        return ChunkLengths.even(length(region, chunk), pass, passes);
    }
}
