package ferro.job;

import ferro.job.Surroundings.Ancestor;
import java.util.EnumSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/** Two families of which nobody can tell which is the inner one. */
final class Contradiction {
    /** These say who a process is by names that an mpirun around them, or in them, does not set. */
    private static final Set<Family> BY_HAND = EnumSet.of(Family.BARE, Family.PYTORCH_JOB, Family.VOLCANO);

    private static final Set<Family> MPI = EnumSet.of(Family.OPEN_MPI, Family.HYDRA);

    private static final String FERRO_LAUNCHER = "ferro.launcher.";
    private static final String SLURM_LAUNCHER = "slurmstepd";

    private Contradiction() {}

    /** Returns what is wrong, if another family says something else than the one that would be chosen. */
    static Optional<String> find(Candidate chosen, List<Candidate> found, Surroundings around) {
        Optional<Candidate> other = found.stream()
                .filter(Candidate::isComplete)
                .filter(one -> unordered(chosen.family(), one.family()))
                .filter(one -> !one.ranks().equals(chosen.ranks()))
                .findFirst();
        if (other.isPresent()) {
            return Optional.of(text(chosen, other.get()));
        }
        return chosen.family() == Family.FERRO_RUN ? leftBehind(chosen, found, around) : Optional.empty();
    }

    /** Variables of ferro run stay behind where a rank of it starts mpirun or srun, which its processes show. */
    private static Optional<String> leftBehind(Candidate chosen, List<Candidate> found, Surroundings around) {
        Set<Family> complete = EnumSet.noneOf(Family.class);
        found.stream().filter(Candidate::isComplete).forEach(one -> complete.add(one.family()));
        if (!complete.contains(Family.SLURM)
                && !complete.contains(Family.OPEN_MPI)
                && !complete.contains(Family.HYDRA)) {
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

    /** Returns the command that a person types; what it starts on each host has a name of its own. */
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

    private static boolean isOther(Ancestor process, Set<Family> complete) {
        boolean mpi = complete.contains(Family.OPEN_MPI) || complete.contains(Family.HYDRA);
        return mpi && MpiFamilies.LAUNCHERS.contains(process.name())
                || complete.contains(Family.SLURM) && isSlurms(process);
    }

    private static boolean unordered(Family one, Family other) {
        return MPI.contains(other) && (BY_HAND.contains(one) || one == Family.OPEN_MPI && other == Family.HYDRA);
    }

    private static String text(Candidate one, Candidate other) {
        return one.variables() + " and " + other.variables() + " say different things, and nothing tells whether "
                + other.family().title() + " has started this process or was there before: take the ones that are not"
                + " meant out of its environment (env -u NAME), or set FERRO_RANK and FERRO_WORLD_SIZE";
    }
}
