package ferro.group;

import ferro.spi.LeakReport;
import ferro.spi.LogLines;

/**
 * Logs a warning for a group whose {@link ProcessGroup} was garbage collected while the group was open. The engine's
 * loops keep the rest of a group reachable, so only the user's object is watched. The group stays open, because a close
 * sends a goodbye to the other ranks, and only the program knows whether they may continue without this rank.
 * Thread-safe.
 */
final class DroppedGroup {
    private static final System.Logger LOG = LogLines.logger("ferro.group");

    private final String name;
    private LeakReport report;
    private boolean over;

    /** Prepares to watch; {@code name} contains rank and group. */
    DroppedGroup(String name) {
        this.name = name;
    }

    /**
     * Returns the object that is watched for a group or a view of it. Views refer to this object, so that it is
     * collected after all views.
     *
     * @param <T>   type of the user's object
     * @param made  object that is made now
     * @param first object of the group if {@code made} is a view of it; otherwise null
     */
    synchronized <T> T watched(T made, T first) {
        if (first != null) {
            return first;
        }
        if (!over) {
            report = LeakReport.watch(made, name, LOG);
        }
        return made;
    }

    /** Ends the watch, because the group is closed by the program or with its context. */
    synchronized void closed() {
        over = true;
        if (report != null) {
            report.closed();
        }
    }
}
