package ferro.backend.tcp.mesh;

/**
 * Identifies a data channel, which has one connection per epoch.
 *
 * @param peer  rank of the joined group
 * @param group identity of the (sub)group
 * @param lane  lane
 */
record DataKey(int peer, long group, DataLane lane) {
    static final int LANES = DataLane.values().length;

    static DataKey of(int peer, ControlFrame frame) {
        return new DataKey(peer, frame.group(), DataLane.values()[frame.lane()]);
    }
}
