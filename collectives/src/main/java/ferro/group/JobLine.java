package ferro.group;

import ferro.job.JobFinder;
import ferro.job.JobVariables;
import ferro.job.RankOfJob;
import ferro.spi.GroupSpec;
import ferro.spi.LogLines;
import ferro.spi.OncePerContext;
import ferro.spi.RankContext;
import ferro.spi.Settings;
import java.lang.System.Logger.Level;

/**
 * Logs one line with the cluster launcher that gave this rank its number, because several launchers may be nested. Logs a
 * warning if {@code ferro.debug} is on, because a rank that hangs is then never reported.
 */
final class JobLine {
    private JobLine() {}

    /** Logs the lines once per context, even if the context joins several times. */
    static void tellOnce(GroupSpec group, RankContext context) {
        if (OncePerContext.isFirst(context, JobLine.class.getName())) {
            tell(group, context);
            warnOfDebug(group, context);
        }
    }

    private static void warnOfDebug(GroupSpec group, RankContext context) {
        if (group.rank() == 0 && Settings.DEBUG.of(context)) {
            LogLines.write(
                    "ferro.join",
                    Level.WARNING,
                    Settings.DEBUG.name()
                            + " is on: calls, joins and closes have no time limit, and silent ranks are not"
                            + " reported, so a job that hangs does not end; use this only with a debugger");
        }
    }

    private static void tell(GroupSpec group, RankContext context) {
        JobVariables found = JobFinder.of(context);
        if (found.job().isEmpty()) {
            return;
        }
        RankOfJob job = found.job().get();
        if (job.family().ofACluster() && job.rank() == group.rank() && job.worldSize() == group.worldSize()) {
            LogLines.write("ferro.join", Level.INFO, found.line());
        }
    }
}
