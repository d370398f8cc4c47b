package ferro.launcher;

import ferro.launcher.analyze.Agreed;
import ferro.launcher.analyze.Analysis;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;

/**
 * The analysis of the recordings of a node's ranks.
 *
 * @param guilty  ranks to look at
 * @param verdict one sentence, then one line for each reason
 * @param early   the same analysis without failures that blame ranks of other nodes and were seen after this node's
 *     launcher had heard of the end of the job; null for a job of one node
 * @param agreed   failure on which ranks agree; the verdict contains it
 * @param deadlock whether the ranks to look at wait for each other
 */
record NodeFindings(Set<Integer> guilty, List<String> verdict, NodeFindings early, Agreed agreed, boolean deadlock) {
    NodeFindings(Set<Integer> guilty, List<String> verdict) {
        this(guilty, verdict, null);
    }

    NodeFindings(Set<Integer> guilty, List<String> verdict, NodeFindings early) {
        this(guilty, verdict, early, Agreed.NONE, false);
    }

    static NodeFindings of(Analysis analysis) {
        return new NodeFindings(
                new TreeSet<>(analysis.guilty()),
                analysis.verdict(),
                null,
                new Agreed(
                        analysis.agreed().code(),
                        new TreeSet<>(analysis.agreed().ranks())),
                analysis.isDeadlock());
    }

    NodeFindings with(NodeFindings withoutLate) {
        return new NodeFindings(guilty, verdict, withoutLate, agreed, deadlock);
    }

    /**
     * Returns these findings if they blame no rank that its own launcher has ended, else the early ones: that a rank was
     * ended is no cause, but it may have been the cause before. Empty if the early ones blame nobody.
     *
     * @param stopped ranks of all nodes that their launchers have ended
     */
    Optional<NodeFindings> withoutConsequences(Set<Integer> stopped) {
        return Collections.disjoint(guilty, stopped)
                ? Optional.of(this)
                : Optional.ofNullable(early).filter(one -> !one.guilty.isEmpty());
    }
}
