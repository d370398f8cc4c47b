package ferro.collectives.plan;

import java.util.ArrayList;
import java.util.List;

/**
 * A plan cut into segments as the engine cuts them: a step of one chunk becomes one per segment, in step-major order; of
 * a step of one chunk that it waits for, a segment waits for the same segment only.
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
            for (int g = 0; g < posts(send.chunks()); g++) {
                Piece piece = piece(send, send.chunk(), send.chunks(), g);
                sends.add(new Step.Send(
                        send.peer(), send.region(), piece.first, piece.count, piece.afterSends, piece.afterReceives));
            }
        }
        List<Step.WriteStep> receives = new ArrayList<>();
        for (Step.WriteStep arrival : plan.receives()) {
            for (int g = 0; g < posts(arrival.chunks()); g++) {
                receives.add(cut(arrival, piece(arrival, arrival.chunk(), arrival.chunks(), g)));
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

    /** What one post of a step moves and waits for. */
    private record Piece(int first, int count, int afterSends, int afterReceives) {}

    private int posts(int chunks) {
        return chunks == 1 ? segments : 1;
    }

    private Piece piece(Step step, int chunk, int chunks, int g) {
        boolean single = chunks == 1;
        return new Piece(
                single ? chunk * segments + g : chunk * segments,
                single ? 1 : chunks * segments,
                after(plan.sends().stream().map(Step.Send::chunks).toList(), step.afterSends(), single ? g : -1),
                after(
                        plan.receives().stream().map(Step.WriteStep::chunks).toList(),
                        step.afterReceives(),
                        single ? g : -1));
    }

    private static Step.WriteStep cut(Step.WriteStep arrival, Piece piece) {
        Region region = arrival.region();
        if (arrival instanceof Step.LocalCopy copy) {
            return new Step.LocalCopy(
                    copy.from(), region, piece.first, piece.count, piece.afterSends, piece.afterReceives);
        }
        if (arrival instanceof Step.LocalCombine combine) {
            return new Step.LocalCombine(
                    combine.from(),
                    region,
                    piece.first,
                    piece.count,
                    piece.afterSends,
                    piece.afterReceives,
                    combine.completes(),
                    combine.readsFirst());
        }
        int peer = arrival.peer();
        return arrival instanceof Step.Receive
                ? new Step.Receive(peer, region, piece.first, piece.count, piece.afterSends, piece.afterReceives)
                : new Step.ReceiveCombine(
                        peer,
                        region,
                        piece.first,
                        piece.count,
                        piece.afterSends,
                        piece.afterReceives,
                        ((Step.ReceiveCombine) arrival).completes(),
                        ((Step.ReceiveCombine) arrival).readsFirst());
    }

    /** Returns how many posts stand for the first steps of a list, as far as one segment, or all (-1), needs them. */
    private int after(List<Integer> chunks, int steps, int segment) {
        int posts = 0;
        for (int i = 0; i < steps; i++) {
            boolean same = i == steps - 1 && segment >= 0 && chunks.get(i) == 1;
            posts += same ? segment + 1 : posts(chunks.get(i));
        }
        return posts;
    }

    private ChunkExtent grown(ChunkExtent extent) {
        return new ChunkExtent(extent.first() * segments, extent.count() * segments);
    }
}
