package ferro.job;

import ferro.job.HostFacts.Ancestor;
import ferro.job.LauncherDetector.LauncherCandidate;
import ferro.spi.RankContext;
import ferro.spi.Setting;
import ferro.spi.Settings;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * The search for the job of this process in its environment. The search chooses the first family, in the order of
 * {@link LauncherKind}, whose variables are complete.
 *
 * <p>Variables of outer launchers may be set too. For example, mpirun passes the variables of a Slurm step to its
 * ranks. Variables of outer launchers are not a contradiction. If two launchers give different ranks and neither
 * launcher can run inside the other launcher, both launchers are refused. The message names both launchers.
 */
public final class JobFinder {
    /** Families whose rank variables no mpirun sets, neither outside nor inside of the launcher of the family. */
    private static final Set<LauncherKind> BY_HAND =
            EnumSet.of(LauncherKind.BARE, LauncherKind.PYTORCH_JOB, LauncherKind.VOLCANO);

    private static final Set<LauncherKind> MPI = EnumSet.of(LauncherKind.OPEN_MPI, LauncherKind.HYDRA);

    private static final String FERRO_LAUNCHER = "ferro.launcher.";
    private static final String SLURM_LAUNCHER = "slurmstepd";

    private static final String GENERATION = "FERRO_GENERATION";
    private static final String RESTARTS = "a number of restarts from 0";
    private static final String UNNAMED_JOB = "default";
    private static final int MAX_ID_BYTES = 64;

    private JobFinder() {}

    /**
     * Finds the job of a rank from its context.
     *
     * @param context variables and settings of the rank; if the context has no
     *     {@linkplain RankContext#variables() variables}, only the settings of ferro are read
     * @return job or refusal; this method never throws an exception for the values of variables
     */
    public static JobVariables of(RankContext context) {
        Map<String, String> settings = new HashMap<>(context.variables());
        // these properties are read by name and take precedence over the variables
        List<Setting<?>> asked = settings.isEmpty() ? Settings.all() : List.of(Settings.RANK, Settings.WORLD_SIZE);
        for (Setting<?> setting : asked) {
            Optional<String> text = context.setting(setting.name());
            if (text.isPresent()) {
                settings.put(setting.name(), text.get());
            }
        }
        return find(settings, HostFacts.ofThisHost());
    }

    /**
     * Finds a job.
     *
     * @param settings variables, and the properties {@code ferro.rank} and {@code ferro.world.size}
     * @param around   facts that variables do not give; only a family that needs these facts reads the facts
     * @return job or refusal; this method never throws an exception for the values of variables
     */
    public static JobVariables find(Map<String, String> settings, HostFacts around) {
        LauncherVariables variables = new LauncherVariables(Map.copyOf(Objects.requireNonNull(settings, "settings")));
        Objects.requireNonNull(around, "around");
        LauncherDetector families = new LauncherDetector(variables, around);
        List<LauncherCandidate> found = families.found();
        Optional<LauncherCandidate> chosen = firstComplete(found);
        Optional<String> refusal = refusal(found, chosen, around);
        if (refusal.isPresent()) {
            return new JobVariables(Optional.empty(), sightings(found, Optional.empty()), refusal, "");
        }
        try {
            RankOfJob job = withGeneration(families.job(chosen.get()), variables);
            return new JobVariables(Optional.of(job), sightings(found, chosen), Optional.empty(), line(job, found));
        } catch (IllegalArgumentException senseless) {
            return new JobVariables(
                    Optional.empty(), sightings(found, chosen), Optional.of(senseless.getMessage()), "");
        }
    }

    private static Optional<LauncherCandidate> firstComplete(List<LauncherCandidate> found) {
        for (LauncherCandidate one : found) {
            if (one.isComplete()) {
                return Optional.of(one);
            }
        }
        return Optional.empty();
    }

    private static Optional<String> refusal(
            List<LauncherCandidate> found, Optional<LauncherCandidate> chosen, HostFacts around) {
        for (LauncherCandidate one : found) {
            if (one.family() == LauncherKind.GIVEN && !one.isComplete()) {
                return one.incomplete();
            }
        }
        return chosen.isPresent() ? contradiction(chosen.get(), found, around) : Optional.of(unknown(found));
    }

    private static String unknown(List<LauncherCandidate> found) {
        return found.isEmpty()
                ? "this process does not know its rank: start it with a launcher (ferro run -n 2 PROGRAM, mpirun, srun),"
                        + " or give every process -D" + Settings.RANK.name() + ", -D" + Settings.WORLD_SIZE.name()
                        + " and -D" + Settings.RENDEZVOUS.name()
                        + "=tcp://HOST:PORT, or the variables RANK, WORLD_SIZE,"
                        + " MASTER_ADDR and MASTER_PORT (docs/launchers/README.md)"
                : "this process does not know its rank: "
                        + found.stream()
                                .map(one -> one.incomplete().orElseThrow())
                                .collect(Collectors.joining("; "));
    }

    private static List<DetectedLauncher> sightings(List<LauncherCandidate> found, Optional<LauncherCandidate> chosen) {
        List<DetectedLauncher> sightings = new ArrayList<>();
        if (chosen.isPresent()) {
            sightings.add(sighting(chosen.get(), chosen));
        }
        for (LauncherCandidate one : found) {
            // no equals, because a record builds this method at the first use, which would delay the join of every rank
            if (one != chosen.orElse(null)) {
                sightings.add(sighting(one, chosen));
            }
        }
        return sightings;
    }

    private static DetectedLauncher sighting(LauncherCandidate one, Optional<LauncherCandidate> chosen) {
        return new DetectedLauncher(one.family(), one.variables(), one.isComplete(), verdict(one, chosen));
    }

    private static String verdict(LauncherCandidate one, Optional<LauncherCandidate> chosen) {
        if (one.incomplete().isPresent()) {
            return one.incomplete().get();
        }
        if (chosen.isEmpty()) {
            return "refused";
        }
        return chosen.get() == one
                ? "chosen"
                : "not chosen: variables of " + chosen.get().family().title() + " take precedence";
    }

    private static String line(RankOfJob job, List<LauncherCandidate> found) {
        StringBuilder line = new StringBuilder(job.title());
        for (LauncherCandidate one : found) {
            if (one.family() != job.family()) {
                line.append(other(one));
            }
        }
        return line.toString();
    }

    private static String other(LauncherCandidate one) {
        return switch (one.family()) {
            case SLURM -> "; Slurm's variables describe the surrounding allocation";
            case INDEX -> "; " + one.variables() + " describes the surrounding pod";
            case OPEN_MPI, HYDRA ->
                "; " + one.variables() + " of " + one.family().title() + " is ignored";
            default -> "; " + one.variables() + " is ignored";
        };
    }

    // contradictions between two families of variables, if it is unknown which launcher is closer to the program

    /** Returns the reason to refuse the chosen family, if another family contradicts it. */
    private static Optional<String> contradiction(
            LauncherCandidate chosen, List<LauncherCandidate> found, HostFacts around) {
        for (LauncherCandidate one : found) {
            if (one.isComplete()
                    && unordered(chosen.family(), one.family())
                    && !one.ranks().equals(chosen.ranks())) {
                return Optional.of(contradiction(chosen, one));
            }
        }
        return chosen.family() == LauncherKind.FERRO_RUN ? leftBehind(chosen, found, around) : Optional.empty();
    }

    /**
     * Detects variables of ferro run that remain set when a rank of ferro run starts mpirun or srun. The ancestors of
     * this process show whether a rank has started mpirun or srun.
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

    /** Returns the command that a person types. On each host, this command starts a program with another name. */
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
        return mpi && LauncherDetector.OF_MPI.contains(process.name())
                || complete.contains(LauncherKind.SLURM) && isSlurms(process);
    }

    private static boolean unordered(LauncherKind one, LauncherKind other) {
        return MPI.contains(other)
                && (BY_HAND.contains(one) || one == LauncherKind.OPEN_MPI && other == LauncherKind.HYDRA);
    }

    private static String contradiction(LauncherCandidate one, LauncherCandidate other) {
        return one.variables() + " and " + other.variables() + " give different ranks, and it is unknown whether "
                + other.family().title() + " started this process or its variables are inherited: remove the wrong"
                + " variables from its environment (env -u NAME), or set FERRO_RANK and FERRO_WORLD_SIZE";
    }

    /**
     * Returns a job with its generation. The generation counts from 0 how often the ranks of the job have been started
     * again. The generation is part of the job id, so that ranks of an earlier start are refused.
     *
     * @throws IllegalArgumentException if the variable of the generation is not a number from 0
     */
    private static RankOfJob withGeneration(RankOfJob job, LauncherVariables variables) {
        OptionalInt found = variables.numberIfAny(generationVariable(job.family(), variables), 0, RESTARTS);
        RendezvousPoint point = job.rendezvous();
        Optional<String> given = variables.find(RendezvousPointFactory.JOB_ID);
        Optional<String> id = given.isPresent() ? given : point.key();
        if (found.isEmpty() || !isPartOfId(job, variables)) {
            return job.started(found.orElse(0), id, point);
        }
        String end = "." + found.getAsInt();
        return job.started(
                found.getAsInt(),
                Optional.of(numbered(id.orElse(UNNAMED_JOB), end)),
                point.withKey(point.key().map(key -> numbered(key, end))));
    }

    /**
     * Returns the variable that counts restarts. The variables of outer launchers are ignored, because they may differ
     * between the ranks. A manifest sets {@code JOBSET_RESTART_ATTEMPT}, so all pods have this variable.
     */
    private static String generationVariable(LauncherKind family, LauncherVariables variables) {
        if (variables.has(GENERATION)) {
            return GENERATION;
        }
        return switch (family) {
            case TORCHRUN -> "TORCHELASTIC_RESTART_COUNT";
            case SLURM -> SlurmTask.RESTART;
            case FERRO_RUN, OPEN_MPI, HYDRA -> GENERATION;
            default -> "JOBSET_RESTART_ATTEMPT";
        };
    }

    /**
     * Returns whether all ranks have the same generation, and no launcher has chosen the job id. Each agent of torchrun
     * counts its own restarts, so the numbers of several nodes may differ.
     */
    private static boolean isPartOfId(RankOfJob job, LauncherVariables variables) {
        boolean isServed = variables.find("FERRO_STORE_SERVED").orElse("").equals("1");
        boolean isPerNode = job.family() == LauncherKind.TORCHRUN && !variables.has(GENERATION);
        return !isServed && (!isPerNode || job.rendezvous().allLocal());
    }

    private static String numbered(String id, String end) {
        String numbered = id.endsWith(end) ? id : id + end;
        return numbered.getBytes(StandardCharsets.UTF_8).length > MAX_ID_BYTES
                ? RendezvousPointFactory.hashed("job", numbered)
                : numbered;
    }
}
