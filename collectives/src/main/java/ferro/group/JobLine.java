package ferro.group;

import ferro.job.JobFinder;
import ferro.job.JobVariables;
import ferro.job.RankOfJob;
import ferro.spi.GroupSpec;
import ferro.spi.OncePerContext;
import ferro.spi.RankContext;
import java.lang.System.Logger.Level;

/**
 * Logs one line with the cluster launcher that gave this rank its number. The line is logged because several launchers
 * may be nested.
 */
final class JobLine {
    private static final System.Logger LOG = System.getLogger("ferro.join");

    private JobLine() {}

    /** Logs the line once per context, even if the context joins several times. */
    static void tellOnce(GroupSpec group, RankContext context) {
        if (OncePerContext.isFirst(context, JobLine.class.getName())) {
            tell(group, context);
        }
    }

    private static void tell(GroupSpec group, RankContext context) {
        JobVariables found = JobFinder.of(context);
        if (found.job().isEmpty()) {
            return;
        }
        RankOfJob job = found.job().get();
        if (job.family().ofACluster() && job.rank() == group.rank() && job.worldSize() == group.worldSize()) {
            LOG.log(Level.INFO, found.line());
        }
    }
}
