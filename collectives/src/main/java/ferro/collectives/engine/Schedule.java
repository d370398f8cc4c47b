package ferro.collectives.engine;

import ferro.collectives.plan.Extent;
import ferro.collectives.plan.Plan;
import ferro.collectives.plan.Region;
import ferro.collectives.plan.Step;
import java.util.Arrays;
import java.util.List;

/**
 * A plan for a given number of elements: its steps as flat arrays of posts, cut into segments, so that running it allocates
 * nothing and looks nothing up.
 *
 * <p>Elements are cut into the plan's chunks as {@link ChunkCounts} defines. A step of one chunk is cut into segments. A
 * step that waits for another step of one chunk waits only for the same segment of it (both concern the same chunk), so that
 * segments pipeline through rounds. Where scratch memory for whole chunks would be too much, the plan is run several times
 * over parts of each chunk ("passes"), one pass after the other.
 */
final class Schedule {
    /** Largest scratch memory of one operation. */
    static final long SCRATCH_BYTES_MOST = 32L << 20;

    /** A receive that overwrites. */
    static final byte RECEIVE = 0;
    /** A receive that combines with the present elements. */
    static final byte COMBINE = 1;
    /** A combine after which the elements are those of the result. */
    static final byte COMPLETE = 2;
    /** A copy between regions. */
    static final byte COPY = 3;
    /** A combine of one region into another. */
    static final byte LOCAL_COMBINE = 4;
    /** A combine of one region into another, after which the elements are those of the result. */
    static final byte LOCAL_COMPLETE = 5;

    final Posts sends = new Posts();
    final Posts receives = new Posts();
    final long scratchElements;
    /** Whether elements are sent directly from the operand. */
    final boolean sendsOperand;

    private final Plan plan;
    private final Chunking cut;
    private final ChunkCounts parts;
    private final int passes;
    private final long scratchStride;

    /** One list of posts, with an array for each field. */
    static final class Posts {
        int count;
        byte[] kind = new byte[8];
        int[] peer = new int[8];
        Region[] region = new Region[8];
        long[] from = new long[8];
        long[] elements = new long[8];
        Region[] source = new Region[8];
        long[] sourceFrom = new long[8];
        /** Whether a combine has the elements that are read first, see {@link Step.Combine#readsFirst}. */
        boolean[] readsFirst = new boolean[8];

        int[] afterSends = new int[8];
        int[] afterReceives = new int[8];

        private void add(ScheduledPost post, int sendsBefore, int receivesBefore) {
            if (count == kind.length) {
                grow();
            }
            kind[count] = post.kind;
            peer[count] = post.peer;
            region[count] = post.region;
            from[count] = post.from;
            elements[count] = post.elements;
            source[count] = post.source;
            sourceFrom[count] = post.sourceFrom;
            readsFirst[count] = post.readsFirst;
            afterSends[count] = sendsBefore;
            afterReceives[count] = receivesBefore;
            count++;
        }

        /** Returns whether a post moves nothing between ranks. */
        boolean isLocal(int index) {
            return kind[index] >= COPY;
        }

        private long moved() {
            long sum = 0;
            for (int i = 0; i < count; i++) {
                sum += isLocal(i) ? 0 : elements[i];
            }
            return sum;
        }

        private void grow() {
            int longer = 2 * kind.length;
            kind = Arrays.copyOf(kind, longer);
            peer = Arrays.copyOf(peer, longer);
            region = Arrays.copyOf(region, longer);
            from = Arrays.copyOf(from, longer);
            elements = Arrays.copyOf(elements, longer);
            source = Arrays.copyOf(source, longer);
            sourceFrom = Arrays.copyOf(sourceFrom, longer);
            readsFirst = Arrays.copyOf(readsFirst, longer);
            afterSends = Arrays.copyOf(afterSends, longer);
            afterReceives = Arrays.copyOf(afterReceives, longer);
        }
    }

    /** Returns whether a kind of post combines, whether it completes or not. */
    static boolean isCombine(byte kind) {
        return kind != RECEIVE && kind != COPY;
    }

    /** Returns how many elements are sent to other ranks and received from them. */
    long movedElements() {
        return sends.moved() + receives.moved();
    }

    int steps() {
        return sends.count + receives.count;
    }

    /** What a step moves, before its dependencies. */
    private record ScheduledPost(
            byte kind,
            int peer,
            Region region,
            long from,
            long elements,
            Region source,
            long sourceFrom,
            boolean readsFirst) {
        /** Returns the same step with every element replaced by so many others. */
        ScheduledPost times(int others) {
            return others == 1
                    ? this
                    : new ScheduledPost(
                            kind,
                            peer,
                            region,
                            from * others,
                            elements * others,
                            source,
                            sourceFrom * others,
                            readsFirst);
        }
    }

    /** Where the posts of each step begin in their list, within one pass, and whether the step is segmented. */
    private record Layout(int[] start, boolean[] segmented) {}

    /**
     * How the elements of an operation are cut; equal on all its ranks, since both ends of a link must cut alike.
     *
     * @param parts        lengths of the chunks
     * @param elementBytes size of one element of the parts: of a record, if they count records
     * @param segmentBytes size of a piece in flight
     * @param passes       how many times the plan is run, each for a part of every chunk
     */
    record Chunking(ChunkCounts parts, int elementBytes, long segmentBytes, int passes) {
        /**
         * Returns the cut with which no rank needs more scratch memory than {@code scratchBytesMost}. Without passes, the
         * rank with the most scratch memory needs {@code scratch} elements.
         */
        static Chunking of(
                ChunkCounts parts, long scratch, int elementBytes, long segmentBytes, long scratchBytesMost) {
            int passes = (int) Math.max(1, (scratch * elementBytes + scratchBytesMost - 1) / scratchBytesMost);
            return new Chunking(parts, elementBytes, segmentBytes, passes);
        }
    }

    /**
     * Cuts a plan.
     *
     * @param plan steps of this rank
     * @param cut  how
     */
    Schedule(Plan plan, Chunking cut) {
        this.plan = plan;
        this.cut = cut;
        this.parts = cut.parts;
        this.passes = cut.passes;
        // whole chunks have the same layout in scratch as in the operation; parts of chunks are one stride apart
        this.scratchStride = (parts.longest(plan.chunkCount()) + passes - 1) / passes;
        Extent scratch = plan.scratch();
        this.scratchElements = parts.recordElements()
                * (passes == 1
                        ? start(Region.SCRATCH, scratch.first() + scratch.count())
                                - start(Region.SCRATCH, scratch.first())
                        : scratchStride * scratch.count());
        this.sendsOperand = sendsOperand(plan);
        Layout sendLayout = layout(plan.sends());
        Layout receiveLayout = layout(plan.receives());
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

    private Layout layout(List<? extends Step> steps) {
        int[] start = new int[steps.size() + 1];
        boolean[] segmented = new boolean[steps.size()];
        for (int i = 0; i < steps.size(); i++) {
            segmented[i] = chunks(steps.get(i)) == 1;
            start[i + 1] = start[i] + posts(steps.get(i));
        }
        return new Layout(start, segmented);
    }

    /** Returns how many posts a step becomes in one pass; both ends of a message know its length, so they cut it alike. */
    private int posts(Step step) {
        int chunks = chunks(step);
        if (chunks != 1) {
            return passes == 1 ? 1 : chunks;
        }
        long length = parts.areEqual() ? parts.longest(plan.chunkCount()) : length(region(step), chunk(step));
        long perPass = (length + passes - 1) / passes;
        return (int) Math.max(1, (perPass * cut.elementBytes + cut.segmentBytes - 1) / cut.segmentBytes);
    }

    private void expand(List<? extends Step> steps, Posts into, int pass, Layout sendLayout, Layout receiveLayout) {
        int sendBase = pass * sendLayout.start[sendLayout.segmented.length];
        int receiveBase = pass * receiveLayout.start[receiveLayout.segmented.length];
        for (Step step : steps) {
            int chunks = chunks(step);
            boolean segmented = chunks == 1;
            int posts = posts(step);
            for (int i = 0; i < posts; i++) {
                int segment = segmented ? i : -1;
                into.add(
                        post(step, pass, i, posts).times(parts.recordElements()),
                        sendBase + before(sendLayout, step.afterSends(), segment),
                        receiveBase + before(receiveLayout, step.afterReceives(), segment));
            }
        }
    }

    /** Returns how many posts belong to the first {@code steps} steps, as far as one segment depends on them. */
    private static int before(Layout layout, int steps, int segment) {
        if (steps == 0) {
            return 0;
        }
        return segment >= 0 && layout.segmented[steps - 1]
                ? Math.min(layout.start[steps - 1] + segment + 1, layout.start[steps])
                : layout.start[steps];
    }

    private ScheduledPost post(Step step, int pass, int index, int posts) {
        ElementRange place = place(step, pass, index, posts);
        if (step instanceof Step.Send send) {
            return new ScheduledPost(
                    RECEIVE, send.peer(), send.region(), offset(send.region(), place), place.count, null, 0, false);
        }
        boolean first = step instanceof Step.Combine combine && combine.readsFirst();
        if (step instanceof Step.Local local) {
            boolean completes = step instanceof Step.LocalCombine combine && combine.completes();
            byte kind = step instanceof Step.LocalCopy ? COPY : completes ? LOCAL_COMPLETE : LOCAL_COMBINE;
            long source = offset(local.from(), place);
            return new ScheduledPost(
                    kind, -1, local.region(), offset(local.region(), place), place.count, local.from(), source, first);
        }
        Step.Arrival arrival = (Step.Arrival) step;
        int peer = step instanceof Step.Receive receive ? receive.peer() : ((Step.ReceiveCombine) step).peer();
        byte kind = step instanceof Step.ReceiveCombine combine ? combine.completes() ? COMPLETE : COMBINE : RECEIVE;
        long from = offset(arrival.region(), place);
        return new ScheduledPost(kind, peer, arrival.region(), from, place.count, null, 0, first);
    }

    private ElementRange place(Step step, int pass, int index, int posts) {
        Region region = region(step);
        int first = chunk(step);
        int chunks = chunks(step);
        if (chunks == 1) {
            long low = passStart(region, first, pass);
            long length = passStart(region, first, pass + 1) - low;
            long from = ChunkCounts.even(length, index, posts);
            return new ElementRange(first, pass, low + from, ChunkCounts.even(length, index + 1, posts) - from);
        }
        if (passes == 1) {
            return new ElementRange(first, pass, 0, start(region, first + chunks) - start(region, first));
        }
        int chunk = first + index;
        long low = passStart(region, chunk, pass);
        return new ElementRange(chunk, pass, low, passStart(region, chunk, pass + 1) - low);
    }

    /** A range of elements that begins at an element of a chunk; it covers several chunks if they are whole. */
    private record ElementRange(int chunk, int pass, long from, long count) {}

    /** Returns the position of elements in a region. */
    private long offset(Region region, ElementRange place) {
        Extent extent = plan.extent(region);
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
        return ChunkCounts.even(length(region, chunk), pass, passes);
    }

    private static Region region(Step step) {
        return step instanceof Step.Send send ? send.region() : ((Step.Arrival) step).region();
    }

    private static int chunk(Step step) {
        return step instanceof Step.Send send ? send.chunk() : ((Step.Arrival) step).chunk();
    }

    private static int chunks(Step step) {
        return step instanceof Step.Send send ? send.chunks() : ((Step.Arrival) step).chunks();
    }
}
