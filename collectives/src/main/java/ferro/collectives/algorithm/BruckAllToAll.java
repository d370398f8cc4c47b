package ferro.collectives.algorithm;

import ferro.collectives.plan.Extent;
import ferro.collectives.plan.Plan;
import ferro.collectives.plan.PlanBuilder;
import ferro.collectives.plan.Region;

/**
 * All-to-all for small parts: {@code ceil(log2 p)} steps, about {@code n/2 log2 p} bytes, of parts of equal length. What goes i
 * ranks up goes there by the bits of i: in step k to the rank {@code 2^k} above, together with all others that have that bit; who
 * passes it on keeps it meanwhile. Source: Bruck and others 1997, doi:10.1109/71.642949.
 *
 * <p>No part is packed or turned: the links put what is sent to one rank at once into one write. A part that is passed on lies in
 * SCRATCH and in its place in OUT by turns, last in OUT, so that none is received where another is still being sent.
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
                    Region there = isFirst ? Region.IN : kept(up, bit / 2);
                    plan.send(to, there, isFirst ? (rank + up) % size : place(there, rank, up, size), 1);
                    Region here = kept(up, bit);
                    plan.receive(from, here, place(here, rank, up, size), 1);
                }
            }
        }
        return plan.build();
    }

    /** Returns where a part lies that has gone all steps up to a bit: in OUT if an even number of them is left. */
    private static Region kept(int up, int bit) {
        int left = Integer.bitCount(up & -(2 * bit));
        return left % 2 == 0 ? Region.OUT : Region.SCRATCH;
    }

    private static int place(Region region, int rank, int up, int size) {
        return region == Region.OUT ? Math.floorMod(rank - up, size) : up;
    }
}
