package ferro.job;

import ferro.job.Surroundings.Ancestor;
import java.util.EnumSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/** Detects two families of which it cannot be known which is the inner one. */
final class Contradiction {
    /** Families that identify a rank by variables that an mpirun around or inside them does not set. */
    private static final Set<LauncherKind> BY_HAND =
            EnumSet.of(LauncherKind.BARE, LauncherKind.PYTORCH_JOB, LauncherKind.VOLCANO);

    private static final Set<LauncherKind> MPI = EnumSet.of(LauncherKind.OPEN_MPI, LauncherKind.HYDRA);

    private static final String FERRO_LAUNCHER = "ferro.launcher.";
    private static final String SLURM_LAUNCHER = "slurmstepd";

    private Contradiction() {}

    /** Returns the reason to refuse, if another family contradicts the one that would be chosen. */
    static Optional<String> find(LauncherCandidate chosen, List<LauncherCandidate> found, Surroundings around) {
        Optional<LauncherCandidate> other = found.stream()
                .filter(LauncherCandidate::isComplete)
                .filter(one -> unordered(chosen.family(), one.family()))
                .filter(one -> !one.ranks().equals(chosen.ranks()))
                .findFirst();
        if (other.isPresent()) {
            return Optional.of(text(chosen, other.get()));
        }
        return chosen.family() == LauncherKind.FERRO_RUN ? leftBehind(chosen, found, around) : Optional.empty();
    }

    /**
     * Detects variables of ferro run that are left over when one of its ranks starts mpirun or srun. The parent processes
     * show this.
     */
    private static Optional<String> leftBehind(
            LauncherCandidate chosen, List<LauncherCandidate> found, Surroundings around) {
        Set<LauncherKind> complete = EnumSet.noneOf(LauncherKind.class);
        found.stream().filter(LauncherCandidate::isComplete).forEach(one -> complete.add(one.family()));
        if (!complete.contains(LauncherKind.SLURM)
                && !complete.contains(LauncherKind.OPEN_MPI)
                && !complete.contains(LauncherKind.HYDRA)) {
            return Optional.empty();
        }
        return around.ancestors().stream()
                .filter(process -> isFerro(process) || isOther(process, complete))
                .findFirst()
                .filter(process -> !isFerro(process))
                .map(process -> chosen.variables() + " was set by ferro run, and " + process.name() + " (pid "
                        + process.pid() + ") has started this process inside that rank: take what ferro run sets out of"
                        + " its environment (env -u RANK -u WORLD_SIZE -u LOCAL_RANK -u LOCAL_WORLD_SIZE -u MASTER_ADDR"
                        + " -u MASTER_PORT -u FERRO_STORE_SERVED -u FERRO_JOB_ID -u FERRO_SECRET_FILE "
                        + typed(process) + " ...)");
    }

    /** Returns the command that a person types. The program that it starts on each host has another name. */
    private static String typed(Ancestor process) {
        if (isSlurms(process)) {
            return "srun";
        }
        return process.name().startsWith("mpi") ? process.name() : "mpirun";
    }

    private static boolean isSlurms(Ancestor process) {
        return process.name().startsWith(SLURM_LAUNCHER);
    }

    private static boolean isFerro(Ancestor process) {
        return process.command().stream().anyMatch(word -> word.startsWith(FERRO_LAUNCHER));
    }

    private static boolean isOther(Ancestor process, Set<LauncherKind> complete) {
        boolean mpi = complete.contains(LauncherKind.OPEN_MPI) || complete.contains(LauncherKind.HYDRA);
        return mpi && MpiFamilies.LAUNCHERS.contains(process.name())
                || complete.contains(LauncherKind.SLURM) && isSlurms(process);
    }

    private static boolean unordered(LauncherKind one, LauncherKind other) {
        return MPI.contains(other)
                && (BY_HAND.contains(one) || one == LauncherKind.OPEN_MPI && other == LauncherKind.HYDRA);
    }

    private static String text(LauncherCandidate one, LauncherCandidate other) {
        return one.variables() + " and " + other.variables() + " say different things, and nothing tells whether "
                + other.family().title() + " has started this process or was there before: take the ones that are not"
                + " meant out of its environment (env -u NAME), or set FERRO_RANK and FERRO_WORLD_SIZE";
    }
}
