package ferro.backend.simulated;

import ferro.spi.Transport.Lane;

/**
 * Both directions of one lane between two ranks; a rank's wire to itself has one channel.
 *
 * @param low  lower rank of the world
 * @param up   from the lower rank to the higher one
 * @param down from the higher rank to the lower one
 */
record Wire(int low, Channel up, Channel down) {
    static Wire between(int one, int other, Lane lane) {
        Channel up = new Channel(lane);
        return new Wire(Math.min(one, other), up, one == other ? up : new Channel(lane));
    }

    Channel from(int rank) {
        return rank == low ? up : down;
    }

    Channel to(int rank) {
        return rank == low ? down : up;
    }
}
