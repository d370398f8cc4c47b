package ferro.launcher;

import ferro.launcher.nodes.NodeCard;
import ferro.launcher.output.RankOutput;
import ferro.launcher.program.Recordings;
import ferro.launcher.rank.JobEvent;
import ferro.launcher.rank.Supervisor.JobOutcome;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** How the ranks of a job ended, as tests say it. */
final class JobOutcomes {
    private JobOutcomes() {}

    static JobEvent.Ended ended(int rank, int code) {
        return new JobEvent.Ended(rank, code, 17);
    }

    /** Returns the report on a job of one node whose ranks have recorded in a folder. */
    static Postmortem alone(JobOutcome outcome, List<RankOutput> printed, Path folder) {
        Recordings recordings = new Recordings(folder, false, Map.of());
        NodeEnd end = NodeEnd.of(outcome, printed, recordings, 0);
        return Postmortem.of(
                Map.of(0, end), List.of(NodeCard.alone("a", 4)), 0, ends -> recordings.analyzed("job", ends));
    }

    static JobOutcome outcome(List<JobEvent.Ended> failures, List<JobEvent.Ended> left) {
        return outcome(failures, left, Set.of(), null, null, Map.of());
    }

    /** The launcher has stopped some ranks just now. */
    static JobOutcome outcome(List<JobEvent.Ended> failures, List<JobEvent.Ended> left, Set<Integer> stopped) {
        return outcome(failures, left, stopped, null, null, Map.of());
    }

    static JobOutcome outcome(
            List<JobEvent.Ended> failures,
            List<JobEvent.Ended> left,
            Set<Integer> stopped,
            String signal,
            String unshown,
            Map<String, Set<Integer>> passed) {
        Long nanos = stopped.isEmpty() ? null : System.nanoTime();
        return new JobOutcome(failures, left, stopped, nanos, Map.of(), signal, unshown, passed, null);
    }
}
