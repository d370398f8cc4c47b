package ferro.job;

import ferro.job.HostFacts.Ancestor;
import ferro.job.LauncherFamilies.LauncherCandidate;
import java.util.EnumSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/** Detects two families of variables if it is unknown which of them is closer to the program. */
final class Contradiction {
    /** Families whose rank variables are not set by mpirun, neither by an outer nor by an inner one. */
    private static final Set<LauncherKind> BY_HAND =
            EnumSet.of(LauncherKind.BARE, LauncherKind.PYTORCH_JOB, LauncherKind.VOLCANO);

    private static final Set<LauncherKind> MPI = EnumSet.of(LauncherKind.OPEN_MPI, LauncherKind.HYDRA);

    private static final String FERRO_LAUNCHER = "ferro.launcher.";
    private static final String SLURM_LAUNCHER = "slurmstepd";

    private Contradiction() {}

    /** Returns the reason to refuse the chosen family, if another family contradicts it. */
    static Optional<String> find(LauncherCandidate chosen, List<LauncherCandidate> found, HostFacts around) {
        for (LauncherCandidate one : found) {
            if (one.isComplete()
                    && unordered(chosen.family(), one.family())
                    && !one.ranks().equals(chosen.ranks())) {
                return Optional.of(text(chosen, one));
            }
        }
        return chosen.family() == LauncherKind.FERRO_RUN ? leftBehind(chosen, found, around) : Optional.empty();
    }

    /**
     * Detects variables of ferro run that remain set when one of its ranks starts mpirun or srun. The ancestor
     * processes show whether a rank has started mpirun or srun.
     */
    private static Optional<String> leftBehind(
            LauncherCandidate chosen, List<LauncherCandidate> found, HostFacts around) {
        Set<LauncherKind> complete = EnumSet.noneOf(LauncherKind.class);
        for (LauncherCandidate one : found) {
            if (one.isComplete()) {
                complete.add(one.family());
            }
        }
        if (!complete.contains(LauncherKind.SLURM)
                && !complete.contains(LauncherKind.OPEN_MPI)
                && !complete.contains(LauncherKind.HYDRA)) {
            return Optional.empty();
        }
        return around.ancestors().stream()
                .filter(process -> isFerro(process) || isOther(process, complete))
                .findFirst()
                .filter(process -> !isFerro(process))
                .map(process -> chosen.variables() + " was set by ferro run, but " + process.name() + " (pid "
                        + process.pid() + ") started this process inside that rank: remove the variables of ferro run"
                        + " from its environment (env -u RANK -u WORLD_SIZE -u LOCAL_RANK -u LOCAL_WORLD_SIZE -u MASTER_ADDR"
                        + " -u MASTER_PORT -u FERRO_STORE_SERVED -u FERRO_JOB_ID -u FERRO_SECRET_FILE "
                        + typed(process) + " ...)");
    }

    /** Returns the command that a person types. The program that this command starts on each host has another name. */
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
        return mpi && LauncherFamilies.OF_MPI.contains(process.name())
                || complete.contains(LauncherKind.SLURM) && isSlurms(process);
    }

    private static boolean unordered(LauncherKind one, LauncherKind other) {
        return MPI.contains(other)
                && (BY_HAND.contains(one) || one == LauncherKind.OPEN_MPI && other == LauncherKind.HYDRA);
    }

    private static String text(LauncherCandidate one, LauncherCandidate other) {
        return one.variables() + " and " + other.variables() + " give different ranks, and it is unknown whether "
                + other.family().title() + " started this process or its variables are inherited: remove the wrong"
                + " variables from its environment (env -u NAME), or set FERRO_RANK and FERRO_WORLD_SIZE";
    }
}
