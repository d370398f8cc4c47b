package ferro.launcher;

import ferro.launcher.rank.JobEvent;
import ferro.launcher.rank.Supervisor.JobOutcome;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/** How the ranks of a job ended, as tests say it. */
final class JobOutcomes {
    private JobOutcomes() {}

    static JobEvent.Ended ended(int rank, int code) {
        return new JobEvent.Ended(rank, code, 17);
    }

    static JobOutcome outcome(List<JobEvent.Ended> failures, List<JobEvent.Ended> left) {
        return outcome(failures, left, Set.of(), Optional.empty(), Optional.empty(), Map.of());
    }

    /** The launcher has stopped some ranks just now. */
    static JobOutcome outcome(List<JobEvent.Ended> failures, List<JobEvent.Ended> left, Set<Integer> stopped) {
        return outcome(failures, left, stopped, Optional.empty(), Optional.empty(), Map.of());
    }

    static JobOutcome outcome(
            List<JobEvent.Ended> failures,
            List<JobEvent.Ended> left,
            Set<Integer> stopped,
            Optional<String> signal,
            Optional<String> unshown,
            Map<String, Set<Integer>> passed) {
        Optional<Long> nanos = stopped.isEmpty() ? Optional.empty() : Optional.of(System.nanoTime());
        return new JobOutcome(failures, left, stopped, nanos, Map.of(), signal, unshown, passed, Optional.empty());
    }
}
