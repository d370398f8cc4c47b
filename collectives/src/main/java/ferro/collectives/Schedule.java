package ferro.collectives;

import ferro.collectives.plan.Extent;
import ferro.collectives.plan.Plan;
import ferro.collectives.plan.Region;
import ferro.collectives.plan.Step;
import java.util.Arrays;
import java.util.List;

/**
 * A plan for a number of elements: its steps as flat arrays of posts, cut into segments, so that running it allocates and
 * looks up nothing.
 *
 * <p>Elements are cut into the plan's chunks as {@link Parts} says. A step of
 * one chunk is cut into segments; a step that waits for another of one chunk waits for the same segment of it only (both
 * concern the same chunk), so that segments pipeline through rounds. Where scratch memory for whole chunks would be too
 * much, the plan is run several times over parts of each chunk ("passes"), one after the other.
 */
final class Schedule {
    /** Scratch memory of one operation at most. */
    static final long SCRATCH_BYTES_MOST = 32L << 20;

    /** A receive over what is there. */
    static final byte RECEIVE = 0;
    /** A receive into what is there. */
    static final byte COMBINE = 1;
    /** A copy between regions. */
    static final byte COPY = 2;

    final Posts sends = new Posts();
    final Posts receives = new Posts();
    final long scratchElements;

    private final Plan plan;
    private final Cut cut;
    private final Parts parts;
    private final int passes;
    private final long scratchStride;

    /** One list of posts, a field an array. */
    static final class Posts {
        int count;
        byte[] kind = new byte[8];
        int[] peer = new int[8];
        Region[] region = new Region[8];
        long[] from = new long[8];
        long[] elements = new long[8];
        Region[] source = new Region[8];
        long[] sourceFrom = new long[8];
        int[] afterSends = new int[8];
        int[] afterReceives = new int[8];

        private void add(Post post, int sendsBefore, int receivesBefore) {
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
            afterSends[count] = sendsBefore;
            afterReceives[count] = receivesBefore;
            count++;
        }

        private long moved() {
            long sum = 0;
            for (int i = 0; i < count; i++) {
                sum += kind[i] == COPY ? 0 : elements[i];
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
            afterSends = Arrays.copyOf(afterSends, longer);
            afterReceives = Arrays.copyOf(afterReceives, longer);
        }
    }

    /** Returns how many elements go to other ranks and come from them. */
    long movedElements() {
        return sends.moved() + receives.moved();
    }

    int steps() {
        return sends.count + receives.count;
    }

    /** What a step moves, before its dependencies. */
    private record Post(byte kind, int peer, Region region, long from, long elements, Region source, long sourceFrom) {}

    /** How many posts a step becomes in one pass, and where they begin in their list. */
    private record Layout(int[] start, boolean[] segmented) {}

    /**
     * How the elements of an operation are cut; equal on all its ranks, since both ends of a link must cut alike.
     *
     * @param parts        how long the chunks are
     * @param elementBytes size of one
     * @param segmentBytes size of a piece in flight
     * @param passes       how many times the plan is run, each for a part of every chunk
     */
    record Cut(Parts parts, int elementBytes, long segmentBytes, int passes) {
        /** Cuts so that no rank needs more scratch memory than {@code scratchBytesMost}. */
        static Cut of(List<Plan> plans, Parts parts, int elementBytes, long segmentBytes, long scratchBytesMost) {
            long most = 0;
            for (Plan plan : plans) {
                most = Math.max(
                        most, parts.longest(plan.chunkCount()) * plan.scratch().count() * elementBytes);
            }
            int passes = (int) Math.max(1, (most + scratchBytesMost - 1) / scratchBytesMost);
            return new Cut(parts, elementBytes, segmentBytes, passes);
        }
    }

    /**
     * Cuts a plan.
     *
     * @param plan steps of this rank
     * @param cut  how
     */
    Schedule(Plan plan, Cut cut) {
        this.plan = plan;
        this.cut = cut;
        this.parts = cut.parts;
        this.passes = cut.passes;
        // whole chunks lie in scratch as in the operation; parts of chunks lie one stride apart
        this.scratchStride = (parts.longest(plan.chunkCount()) + passes - 1) / passes;
        Extent scratch = plan.scratch();
        this.scratchElements = passes == 1
                ? start(Region.SCRATCH, scratch.first() + scratch.count()) - start(Region.SCRATCH, scratch.first())
                : scratchStride * scratch.count();
        Layout sendLayout = layout(plan.sends());
        Layout receiveLayout = layout(plan.receives());
        for (int pass = 0; pass < passes; pass++) {
            expand(plan.sends(), sends, pass, sendLayout, receiveLayout);
            expand(plan.receives(), receives, pass, sendLayout, receiveLayout);
        }
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
                        post(step, pass, i, posts),
                        sendBase + before(sendLayout, step.afterSends(), segment),
                        receiveBase + before(receiveLayout, step.afterReceives(), segment));
            }
        }
    }

    /** Returns how many posts stand for the first {@code steps} steps, as far as one segment needs them. */
    private static int before(Layout layout, int steps, int segment) {
        if (steps == 0) {
            return 0;
        }
        return segment >= 0 && layout.segmented[steps - 1]
                ? Math.min(layout.start[steps - 1] + segment + 1, layout.start[steps])
                : layout.start[steps];
    }

    private Post post(Step step, int pass, int index, int posts) {
        Place place = place(step, pass, index, posts);
        if (step instanceof Step.Send send) {
            return new Post(RECEIVE, send.peer(), send.region(), offset(send.region(), place), place.count, null, 0);
        }
        if (step instanceof Step.Copy copy) {
            long source = offset(copy.from(), place);
            return new Post(COPY, -1, copy.region(), offset(copy.region(), place), place.count, copy.from(), source);
        }
        Step.Arrival arrival = (Step.Arrival) step;
        int peer = step instanceof Step.Receive receive ? receive.peer() : ((Step.ReceiveCombine) step).peer();
        byte kind = step instanceof Step.Receive ? RECEIVE : COMBINE;
        return new Post(kind, peer, arrival.region(), offset(arrival.region(), place), place.count, null, 0);
    }

    private Place place(Step step, int pass, int index, int posts) {
        Region region = region(step);
        int first = chunk(step);
        int chunks = chunks(step);
        if (chunks == 1) {
            long low = passStart(region, first, pass);
            long length = passStart(region, first, pass + 1) - low;
            long from = Parts.even(length, index, posts);
            return new Place(first, pass, low + from, Parts.even(length, index + 1, posts) - from);
        }
        if (passes == 1) {
            return new Place(first, pass, 0, start(region, first + chunks) - start(region, first));
        }
        int chunk = first + index;
        long low = passStart(region, chunk, pass);
        return new Place(chunk, pass, low, passStart(region, chunk, pass + 1) - low);
    }

    /** Some elements from an element of a chunk on, over several chunks if whole ones. */
    private record Place(int chunk, int pass, long from, long count) {}

    /** Returns where elements lie in a region. */
    private long offset(Region region, Place place) {
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

    /** Returns at which of its elements the part of a chunk begins that a pass does. */
    private long passStart(Region region, int chunk, int pass) {
        return Parts.even(length(region, chunk), pass, passes);
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
