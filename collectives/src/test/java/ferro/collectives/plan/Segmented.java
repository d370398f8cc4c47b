package ferro.collectives.plan;

import java.util.ArrayList;
import java.util.List;

/**
 * A plan cut into segments as the engine cuts them: each step becomes one per segment, in step-major order, and "after
 * the first k" becomes a prefix per segment.
 */
public final class Segmented {
    private final Plan plan;
    private final int segments;

    private Segmented(Plan plan, int segments) {
        this.plan = plan;
        this.segments = segments;
    }

    /** Returns the plan over {@code segments} times as many chunks. */
    public static Plan plan(Plan plan, int segments) {
        return new Segmented(plan, segments).cut();
    }

    private Plan cut() {
        List<Step.Send> sends = new ArrayList<>();
        for (Step.Send send : plan.sends()) {
            for (int g = 0; g < segments; g++) {
                sends.add(new Step.Send(
                        send.peer(),
                        send.region(),
                        first(send.chunk(), send.chunks(), g),
                        send.chunks(),
                        after(send.afterSends(), g),
                        after(send.afterReceives(), g)));
            }
        }
        List<Step.Arrival> receives = new ArrayList<>();
        for (Step.Arrival arrival : plan.receives()) {
            for (int g = 0; g < segments; g++) {
                receives.add(cut(arrival, g));
            }
        }
        return new Plan(
                plan.algorithm(),
                plan.chunkCount() * segments,
                grown(plan.in()),
                grown(plan.out()),
                grown(plan.scratch()),
                sends,
                receives);
    }

    private Step.Arrival cut(Step.Arrival arrival, int g) {
        int first = first(arrival.chunk(), arrival.chunks(), g);
        int afterSends = after(arrival.afterSends(), g);
        int afterReceives = after(arrival.afterReceives(), g);
        Region region = arrival.region();
        int chunks = arrival.chunks();
        if (arrival instanceof Step.Copy copy) {
            return new Step.Copy(copy.from(), region, first, chunks, afterSends, afterReceives);
        }
        int peer = PlanSet.peer(arrival);
        return arrival instanceof Step.Receive
                ? new Step.Receive(peer, region, first, chunks, afterSends, afterReceives)
                : new Step.ReceiveCombine(peer, region, first, chunks, afterSends, afterReceives);
    }

    private int first(int chunk, int chunks, int g) {
        return chunk * segments + g * chunks;
    }

    private int after(int steps, int g) {
        return steps == 0 ? 0 : plan.isUniform() ? (steps - 1) * segments + g + 1 : steps * segments;
    }

    private Extent grown(Extent extent) {
        return new Extent(extent.first() * segments, extent.count() * segments);
    }
}
