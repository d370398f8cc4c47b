package ferro.launcher;

import java.util.ArrayList;
import java.util.List;

/**
 * How a generation has ended, and what follows. The launcher of node 0 decides it, and all launchers do the same.
 *
 * @param conclusion how the ranks ended
 * @param restarts   whether all ranks are started again
 * @param waitMillis rest of the wait until then, which begins at the failure; 0 if the job ends
 * @param line       what each launcher prints before it waits; empty if the job ends
 * @param past       one line for each generation until now; none for a job that ends with its only one
 */
record GenerationEnd(Conclusion conclusion, boolean restarts, long waitMillis, String line, List<String> past) {
    /** Returns the end of a job. */
    static GenerationEnd last(Conclusion conclusion, List<String> past) {
        return new GenerationEnd(conclusion, false, 0, "", past);
    }

    Conclusion ofJob() {
        return past.isEmpty() ? conclusion : conclusion.with(listed(past));
    }

    /** Returns the list of generations as the end of a job prints it; empty if there are no lines. */
    static List<String> listed(List<String> past) {
        if (past.isEmpty()) {
            return List.of();
        }
        List<String> lines = new ArrayList<>(List.of("the job had these generations:"));
        past.forEach(line -> lines.add("  " + line));
        return lines;
    }
}
