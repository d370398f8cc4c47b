package ferro.collectives.plan;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Finds two steps of a rank of which one may write a chunk while the other still uses it.
 *
 * <p>A step uses memory from the time when it is posted until it is finished; a copy is posted and finished at once. So two
 * steps are ordered only if one is certainly finished when the other is posted. This follows from the declared dependencies
 * of the other step, of all steps posted before it in its list, and of all steps that those dependencies name as finished.
 * Nothing is concluded from what other ranks do.
 */
final class PlanRaces {
    private final PlanSet plans;
    private final int rank;
    private final Plan plan;
    /** For each step, the lengths of the prefixes of both lists that are finished when it is posted. */
    private final int[][] sendKnows;

    private final int[][] receiveKnows;

    private PlanRaces(PlanSet plans, int rank) {
        this.plans = plans;
        this.rank = rank;
        this.plan = plans.of(rank);
        this.sendKnows = declared(plan.sends());
        this.receiveKnows = declared(plan.receives());
        boolean moved = true;
        while (moved) {
            moved = spread(sendKnows) | spread(receiveKnows);
        }
    }

    /** A step's use of a chunk; its list, its position there, and whether it writes. */
    private record ChunkAccess(boolean isSend, int index, boolean writes) {}

    /** A chunk of a region. */
    private record RegionChunk(Region region, int chunk) {}

    static Optional<String> whyNot(PlanSet plans, boolean inPlace) {
        return PlanSet.first(plans.size(), rank -> new PlanRaces(plans, rank).find(inPlace));
    }

    private static int[][] declared(List<? extends Step> steps) {
        int[][] knows = new int[steps.size()][];
        for (int i = 0; i < knows.length; i++) {
            knows[i] = new int[] {steps.get(i).afterSends(), steps.get(i).afterReceives()};
        }
        return knows;
    }

    private boolean spread(int[][] knows) {
        boolean moved = false;
        for (int i = 0; i < knows.length; i++) {
            if (i > 0) {
                moved |= learn(knows[i], knows[i - 1]);
            }
            if (knows[i][0] > 0) {
                moved |= learn(knows[i], sendKnows[knows[i][0] - 1]);
            }
            if (knows[i][1] > 0) {
                moved |= learn(knows[i], receiveKnows[knows[i][1] - 1]);
            }
        }
        return moved;
    }

    private static boolean learn(int[] knows, int[] known) {
        boolean more = known[0] > knows[0] || known[1] > knows[1];
        knows[0] = Math.max(knows[0], known[0]);
        knows[1] = Math.max(knows[1], known[1]);
        return more;
    }

    private Optional<String> find(boolean inPlace) {
        for (Map.Entry<RegionChunk, List<ChunkAccess>> chunk : uses(inPlace).entrySet()) {
            List<ChunkAccess> uses = chunk.getValue();
            for (int i = 0; i < uses.size(); i++) {
                for (int j = i + 1; j < uses.size(); j++) {
                    ChunkAccess one = uses.get(i);
                    ChunkAccess two = uses.get(j);
                    if ((one.writes || two.writes) && !ordered(one, two) && !ordered(two, one)) {
                        return Optional.of(name(two) + " is not ordered with " + name(one) + " at "
                                + PlanSet.chunks(chunk.getKey().region, chunk.getKey().chunk, 1));
                    }
                }
            }
        }
        return Optional.empty();
    }

    /** Returns whether the first is finished when the second is posted. */
    private boolean ordered(ChunkAccess first, ChunkAccess second) {
        int[] knows = second.isSend ? sendKnows[second.index] : receiveKnows[second.index];
        if (first.isSend) {
            return first.index < knows[0];
        }
        boolean earlierCopy = !second.isSend
                && first.index < second.index
                && plan.receives().get(first.index) instanceof Step.LocalStep;
        return first.index < knows[1] || earlierCopy;
    }

    private Map<RegionChunk, List<ChunkAccess>> uses(boolean inPlace) {
        Map<RegionChunk, List<ChunkAccess>> uses = new HashMap<>();
        for (int i = 0; i < plan.sends().size(); i++) {
            Step.Send send = plan.sends().get(i);
            for (int chunk = send.chunk(); chunk < send.chunk() + send.chunks(); chunk++) {
                add(uses, chunk(plan, send.region(), chunk, inPlace), new ChunkAccess(true, i, false));
            }
        }
        for (int i = 0; i < plan.receives().size(); i++) {
            Step.WriteStep arrival = plan.receives().get(i);
            for (int chunk = arrival.chunk(); chunk < arrival.chunk() + arrival.chunks(); chunk++) {
                RegionChunk into = chunk(plan, arrival.region(), chunk, inPlace);
                if (arrival instanceof Step.LocalStep local) {
                    RegionChunk from = chunk(plan, local.from(), chunk, inPlace);
                    if (from.equals(into)) {
                        continue;
                    }
                    add(uses, from, new ChunkAccess(false, i, false));
                }
                add(uses, into, new ChunkAccess(false, i, true));
            }
        }
        return uses;
    }

    private static void add(Map<RegionChunk, List<ChunkAccess>> uses, RegionChunk chunk, ChunkAccess use) {
        uses.computeIfAbsent(chunk, unused -> new ArrayList<>()).add(use);
    }

    /** Returns where a chunk lies; in an in-place call, the chunks of IN that OUT also holds lie in OUT. */
    private static RegionChunk chunk(Plan plan, Region region, int chunk, boolean inPlace) {
        boolean moved = inPlace && region == Region.IN && plan.out().holds(chunk, 1);
        return new RegionChunk(moved ? Region.OUT : region, chunk);
    }

    private String name(ChunkAccess use) {
        return use.isSend ? plans.send(rank, use.index) : plans.arrival(rank, use.index);
    }
}
