package ferro.control.group;

import ferro.FerroException;
import ferro.GroupEvent;
import ferro.control.membership.Membership;

/** A subgroup that records the last loss. */
final class LossRecorder implements Membership.RankListener {
    /** The lost rank, by its number in the subgroup; -1 if none. */
    int lost = -1;

    String text = "";

    @Override
    public void gone(int rank, FerroException cause) {
        lost = rank;
        text = cause.getMessage();
    }

    @Override
    public void event(GroupEvent.Kind kind, int rank, String said) {
        // the tests check only losses
    }

    @Override
    public void heartbeat() {
        // this group has made no call
    }
}
