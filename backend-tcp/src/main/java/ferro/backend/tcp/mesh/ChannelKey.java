package ferro.backend.tcp.mesh;

/**
 * The identity of a data channel, which has one connection per epoch. This record overrides {@code equals} and {@code
 * hashCode}, to make the join faster: the generated methods link sixty method handles at their first calls.
 *
 * @param peer  rank of the joined group
 * @param group identity of the group or subgroup
 * @param lane  lane of the group
 */
record ChannelKey(int peer, long group, ConnectionPurpose lane) {
    static final int LANES = ConnectionPurpose.values().length;

    static ChannelKey of(int peer, ControlFrame frame) {
        return new ChannelKey(peer, frame.group(), ConnectionPurpose.values()[frame.lane()]);
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof ChannelKey key && peer == key.peer && group == key.group && lane == key.lane;
    }

    @Override
    public int hashCode() {
        return 31 * (31 * peer + Long.hashCode(group)) + lane.ordinal();
    }
}
