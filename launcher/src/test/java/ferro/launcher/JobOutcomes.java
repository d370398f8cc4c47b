package ferro.launcher;

import ferro.launcher.nodes.LauncherEntry;
import ferro.launcher.output.RankOutput;
import ferro.launcher.program.RecordingsFolder;
import ferro.launcher.rank.JobEvent;
import ferro.launcher.rank.Supervisor.JobOutcome;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** How the ranks of a job ended, as tests say it. */
final class JobOutcomes {
    private JobOutcomes() {}

    static JobEvent.RankEndEvent ended(int rank, int code) {
        return new JobEvent.RankEndEvent(rank, code, 17);
    }

    /** Returns the report on a job of one node whose ranks have recorded in a folder. */
    static Postmortem alone(JobOutcome outcome, List<RankOutput> printed, Path folder) {
        RecordingsFolder recordings = new RecordingsFolder(folder, false, Map.of());
        NodeReport end = NodeReport.of(outcome, printed, recordings, 0);
        return Postmortem.of(
                Map.of(0, end), List.of(LauncherEntry.alone("a", 4)), 0, ends -> recordings.analyzed("job", ends));
    }

    static JobOutcome outcome(List<JobEvent.RankEndEvent> failures, List<JobEvent.RankEndEvent> left) {
        return outcome(failures, left, Set.of(), null, null, Map.of());
    }

    /** The launcher has stopped some ranks just now. */
    static JobOutcome outcome(
            List<JobEvent.RankEndEvent> failures, List<JobEvent.RankEndEvent> left, Set<Integer> stopped) {
        return outcome(failures, left, stopped, null, null, Map.of());
    }

    static JobOutcome outcome(
            List<JobEvent.RankEndEvent> failures,
            List<JobEvent.RankEndEvent> left,
            Set<Integer> stopped,
            String signal,
            String unshown,
            Map<String, Set<Integer>> passed) {
        Long nanos = stopped.isEmpty() ? null : System.nanoTime();
        return new JobOutcome(failures, left, stopped, nanos, Map.of(), signal, unshown, passed, null);
    }

    /** Returns the fields of the recording of a rank whose only group, of these ranks, has failed. */
    static Map<String, Object> recording(int rank, List<Integer> all, Map<String, Object> failure) {
        Map<String, Object> group = Map.of("name", "world", "rank", rank, "ranks", all, "failure", failure);
        Map<String, Object> recording =
                new HashMap<>(Map.of("format", 1, "job", "job", "rank", rank, "worldSize", all.size()));
        recording.putAll(Map.of("wallNanos", 5_000_000_000L, "clockNanos", 7, "operations", List.of()));
        recording.put("groups", List.of(group));
        return recording;
    }
}
