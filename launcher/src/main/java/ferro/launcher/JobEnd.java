package ferro.launcher;

import ferro.launcher.analyze.Ends;
import ferro.launcher.analyze.EndsFile;
import ferro.launcher.input.Placement;
import ferro.launcher.nodes.LostNode;
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
 * @param printed    output of the ranks, without the job's secret
 * @param job        name of the job
 * @param recordings where the ranks recorded
 * @param host       name of this host
 */
record JobEnd(Supervisor.JobOutcome outcome, List<RankOutput> printed, String job, Recordings recordings, String host) {
    /** Writes how the ranks ended, and which nodes are lost, beside the recordings of the ranks, if there are any. */
    void keep(Placement placement, List<LostNode> lost) throws IOException {
        if (recordings.hasAny(job)) {
            Ends ends = placement.nodes() == 1 ? Endings.of(outcome, printed) : Endings.ofOneNode(outcome, printed);
            EndsFile.write(
                    recordings.folder(),
                    job,
                    placement.nodeRank(),
                    ends.without(lost.stream().map(LostNode::said).toList()));
        }
    }
}
