package ferro.launcher;

import ferro.launcher.analyze.Analysis;
import ferro.launcher.analyze.Ends;
import ferro.launcher.program.Recordings;
import ferro.launcher.rank.Endings;
import ferro.launcher.rank.Supervisor;
import java.util.Set;

/**
 * The recordings of a node's ranks, as its launcher reports them: one launcher analyses those of all nodes.
 *
 * @param brief          recordings with the last calls of each rank
 * @param blamed         ranks that these recordings blame: the report keeps what they printed
 * @param heardWallNanos when the launcher heard of the first failure, in nanoseconds since 1970 on the clock of its host. Its
 *     ranks may have lost ranks of other nodes afterwards because launchers ended them
 */
record NodeRecordings(Analysis.Brief brief, Set<Integer> blamed, long heardWallNanos) {
    static NodeRecordings of(Recordings recordings, String job, Supervisor.JobOutcome outcome) {
        Analysis.Brief brief = recordings.brief(job);
        return new NodeRecordings(
                brief,
                // node 0 analyses these recordings as well and says if that fails
                Recordings.analyzed(brief, Ends.UNSEEN, why -> {})
                        .map(Analysis::guilty)
                        .orElse(Set.of()),
                outcome.heardNanos().map(Endings::onTheWall).orElse(Long.MAX_VALUE));
    }
}
