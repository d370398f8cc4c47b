package ferro.backend.tcp;

import ferro.spi.Transport.Lane;

/**
 * Which data channel; one connection per epoch.
 *
 * @param peer  rank of the joined group
 * @param group identity of the (sub)group
 * @param lane  lane
 */
record DataKey(int peer, long group, Lane lane) {
    static final int LANES = Lane.values().length;

    static DataKey of(int peer, ControlFrame frame) {
        return new DataKey(peer, frame.group(), Lane.values()[frame.lane()]);
    }
}
