package ferro.launcher;

import ferro.analyze.Analysis;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;

/**
 * The analysis of the recordings of a node's ranks.
 *
 * @param guilty  ranks to look at
 * @param verdict one sentence, then one line for each reason
 */
record NodeFindings(Set<Integer> guilty, List<String> verdict) {
    static NodeFindings of(Analysis analysis) {
        return new NodeFindings(new TreeSet<>(analysis.guilty()), analysis.verdict());
    }
}
