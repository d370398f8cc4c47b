package ferro.group;

import ferro.spi.GroupSpec;
import ferro.spi.OncePerContext;
import ferro.spi.RankContext;
import ferro.spi.Settings;
import java.lang.System.Logger.Level;

/** Logs a warning if {@code ferro.debug} is on, because a rank that hangs is then never reported. */
final class DebugLine {
    private static final System.Logger LOG = System.getLogger("ferro.join");

    private DebugLine() {}

    /** Logs the line on rank 0, once per context, even if the context joins several times. */
    static void tellOnce(GroupSpec group, RankContext context) {
        if (group.rank() == 0
                && Settings.DEBUG.of(context)
                && OncePerContext.isFirst(context, DebugLine.class.getName())) {
            LOG.log(
                    Level.WARNING,
                    Settings.DEBUG.name()
                            + " is on: calls, joins and closes have no time limit, and silent ranks are not"
                            + " reported, so a job that hangs does not end; use this only with a debugger");
        }
    }
}
