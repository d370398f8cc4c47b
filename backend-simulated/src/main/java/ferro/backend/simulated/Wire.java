package ferro.backend.simulated;

import ferro.spi.Transport.Lane;

/**
 * Both directions of one lane between two ranks. The wire from a rank to itself has one channel.
 *
 * @param low  lower rank, in the group of all ranks
 * @param up   channel from the lower rank to the higher one
 * @param down channel from the higher rank to the lower one
 */
record Wire(int low, LaneQueue up, LaneQueue down) {
    static Wire between(int one, int other, Lane lane) {
        int low = Math.min(one, other);
        int high = Math.max(one, other);
        LaneQueue up = new LaneQueue(lane, low, high);
        return new Wire(low, up, one == other ? up : new LaneQueue(lane, high, low));
    }

    LaneQueue from(int rank) {
        return rank == low ? up : down;
    }

    LaneQueue to(int rank) {
        return rank == low ? down : up;
    }
}
