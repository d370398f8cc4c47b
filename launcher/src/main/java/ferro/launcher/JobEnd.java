package ferro.launcher;

import ferro.launcher.analyze.EndsFile;
import ferro.launcher.output.RankOutput;
import ferro.launcher.program.Recordings;
import ferro.launcher.rank.Endings;
import ferro.launcher.rank.Supervisor;
import java.io.IOException;
import java.util.List;

/**
 * The end of a job on one node.
 *
 * @param outcome    how the ranks ended
 * @param printed    output of the ranks
 * @param job        name of the job
 * @param recordings where the ranks recorded
 * @param host       name of this host
 */
record JobEnd(Supervisor.JobOutcome outcome, List<RankOutput> printed, String job, Recordings recordings, String host) {
    /** Writes how the ranks ended beside their recordings, if there are any. */
    void keep(int node) throws IOException {
        if (recordings.hasAny(job)) {
            EndsFile.write(recordings.folder(), job, node, Endings.of(outcome, printed));
        }
    }
}
