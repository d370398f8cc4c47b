package ferro.launcher.doctor;

import ferro.job.DetectedLauncher;
import ferro.job.JobFinder;
import ferro.job.JobVariables;
import ferro.spi.RankContext;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** What {@code ferro doctor} reports about launchers around it: the rank as which a program started here would join. */
final class JobFacts {
    private JobFacts() {}

    /** Returns the rank of this process, and every launcher whose variables were seen. */
    static Map<String, String> of(RankContext context, List<String> problems) {
        JobVariables found = JobFinder.of(context);
        Map<String, String> facts = new LinkedHashMap<>();
        facts.put("a program started here", found.job().isPresent() ? "joins: " + found.line() : refusal(found));
        for (DetectedLauncher one : found.seen()) {
            boolean named = one.verdict().startsWith(one.variables());
            facts.put("seen: " + one.family().title(), (named ? "" : one.variables() + ", ") + one.verdict());
        }
        // the doctor usually runs in a shell in which nothing has been started yet
        boolean contradicts = found.seen().stream()
                        .anyMatch(one -> one.verdict().equals("refused"))
                || found.refusal().isPresent()
                        && found.seen().stream().anyMatch(one -> one.verdict().equals("chosen"));
        if (contradicts) {
            problems.add("a program started here would be refused: "
                    + found.refusal().orElseThrow());
        }
        return facts;
    }

    private static String refusal(JobVariables found) {
        return found.seen().isEmpty()
                ? "has no rank: no launcher's variables are set"
                : "is refused: " + found.refusal().orElseThrow();
    }
}
