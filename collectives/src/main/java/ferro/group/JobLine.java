package ferro.group;

import ferro.job.Findings;
import ferro.job.JobFinder;
import ferro.spi.GroupSpec;
import ferro.spi.RankContext;
import java.lang.System.Logger.Level;

/** Says in one line by which launcher of a cluster a rank knows who it is: several may be there, one around the other. */
final class JobLine implements AutoCloseable {
    private static final System.Logger LOG = System.getLogger("ferro.join");

    private JobLine() {}

    /** Says it once per context, however often it joins: one use is never given back, and holds nothing. */
    static void tellOnce(GroupSpec group, RankContext context) {
        context.shared(JobLine.class, () -> tell(group, context));
    }

    private static JobLine tell(GroupSpec group, RankContext context) {
        Findings found = JobFinder.of(context);
        boolean ofACluster = found.job()
                .filter(job -> job.family().ofACluster())
                .filter(job -> job.rank() == group.rank() && job.worldSize() == group.worldSize())
                .isPresent();
        if (ofACluster) {
            LOG.log(Level.INFO, found.line());
        }
        return new JobLine();
    }

    @Override
    public void close() {
        // nothing is held
    }
}
