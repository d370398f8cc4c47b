package ferro.collectives.algorithm;

import ferro.collectives.plan.Extent;
import ferro.collectives.plan.Plan;
import ferro.collectives.plan.PlanBuilder;
import ferro.collectives.plan.Region;

/**
 * All-to-all for small parts of equal length, with {@code ceil(log2 p)} steps and about {@code n/2 log2 p} bytes. The
 * bits of i, the distance of a part to its destination rank, decide how the part moves. If bit k of i is set, then in
 * step k the part goes to the rank that is {@code 2^k} higher, together with all other parts that have this bit. A rank
 * that forwards a part stores the part between the two steps. Source: Bruck and others 1997, doi:10.1109/71.642949.
 *
 * <p>No part is packed or rotated, because links put all parts that are sent to one rank at the same time into one
 * write. A forwarded part is alternately in SCRATCH and in its chunk of OUT, and at the end in OUT. So no part is
 * received into memory from which another part is still being sent.
 */
final class BruckAllToAll {
    private BruckAllToAll() {}

    static Plan plan(int rank, int size) {
        PlanBuilder plan = new PlanBuilder("bruck", size).in(Extent.all(size)).out(Extent.all(size));
        if (size > 2) {
            plan.scratch(Extent.all(size));
        }
        plan.copy(Region.IN, Region.OUT, rank, 1);
        for (int bit = 1; bit < size; bit *= 2) {
            int to = (rank + bit) % size;
            int from = Math.floorMod(rank - bit, size);
            for (int up = bit; up < size; up++) {
                if ((up & bit) != 0) {
                    boolean isFirst = up % bit == 0;
                    Region source = isFirst ? Region.IN : kept(up, bit / 2);
                    plan.send(to, source, isFirst ? (rank + up) % size : indexOf(source, rank, up, size), 1);
                    Region target = kept(up, bit);
                    plan.receive(from, target, indexOf(target, rank, up, size), 1);
                }
            }
        }
        return plan.build();
    }

    /** Returns the region of a part after all its steps up to a bit: OUT if an even number of its steps remains. */
    private static Region kept(int up, int bit) {
        int left = Integer.bitCount(up & -(2 * bit));
        return left % 2 == 0 ? Region.OUT : Region.SCRATCH;
    }

    private static int indexOf(Region region, int rank, int up, int size) {
        return region == Region.OUT ? Math.floorMod(rank - up, size) : up;
    }
}
