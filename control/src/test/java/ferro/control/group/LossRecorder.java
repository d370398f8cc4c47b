package ferro.control.group;

import ferro.FerroException;
import ferro.GroupEvent;
import ferro.control.membership.Membership;

/** A subgroup that keeps the last loss. */
final class LossRecorder implements Membership.Member {
    /** The lost rank, in the numbers of the subgroup; -1 if none. */
    int lost = -1;

    String text = "";

    @Override
    public void gone(int rank, FerroException cause) {
        lost = rank;
        text = cause.getMessage();
    }

    @Override
    public void event(GroupEvent.Kind kind, int rank, String said) {
        // only losses count here
    }

    @Override
    public void heartbeat() {
        // nothing was called
    }
}
