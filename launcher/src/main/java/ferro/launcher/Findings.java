package ferro.launcher;

import ferro.launcher.analyze.Analysis;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;

/**
 * What the recordings of a node's ranks say.
 *
 * @param guilty  ranks to look at
 * @param verdict one sentence, then one line for each thing that it rests on
 */
record Findings(Set<Integer> guilty, List<String> verdict) {
    static Findings of(Analysis analysis) {
        return new Findings(new TreeSet<>(analysis.guilty()), analysis.verdict());
    }
}
