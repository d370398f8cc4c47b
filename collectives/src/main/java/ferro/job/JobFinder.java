package ferro.job;

import ferro.spi.RankContext;
import ferro.spi.Settings;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Finds the job of this process in its environment. The finder chooses the first family, in the order of
 * {@link LauncherKind}, whose variables are complete.
 *
 * <p>Variables of outer launchers may be set too: mpirun, for example, passes the variables of a Slurm step to its
 * ranks. Variables of outer launchers are no contradiction. If neither of two launchers can run inside the other and
 * their ranks differ, both are refused, and the message names both.
 */
public final class JobFinder {
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
        Stream<String> asked = settings.isEmpty() ? Settings.all().stream().map(setting -> setting.name()) : given();
        asked.forEach(name -> context.setting(name).ifPresent(text -> settings.put(name, text)));
        return find(settings, HostFacts.ofThisHost());
    }

    /** Returns the properties that are read by name and take precedence over the variables. */
    private static Stream<String> given() {
        return Stream.of(Settings.RANK.name(), Settings.WORLD_SIZE.name());
    }

    /**
     * Finds a job.
     *
     * @param settings variables, and the properties {@code ferro.rank} and {@code ferro.world.size}
     * @param around   facts that variables do not give; only a family that needs such facts reads them
     * @return job or refusal; this method never throws an exception for the values of variables
     */
    public static JobVariables find(Map<String, String> settings, HostFacts around) {
        Variables variables = new Variables(Map.copyOf(Objects.requireNonNull(settings, "settings")));
        Objects.requireNonNull(around, "around");
        List<LauncherCandidate> found = candidates(variables, around);
        Optional<LauncherCandidate> chosen =
                found.stream().filter(LauncherCandidate::isComplete).findFirst();
        Optional<String> refusal = refusal(found, chosen, around);
        if (refusal.isPresent()) {
            return new JobVariables(Optional.empty(), sightings(found, Optional.empty()), refusal, "");
        }
        try {
            RankOfJob job = chosen.orElseThrow().job().get();
            return new JobVariables(Optional.of(job), sightings(found, chosen), Optional.empty(), line(job, found));
        } catch (IllegalArgumentException senseless) {
            return new JobVariables(
                    Optional.empty(), sightings(found, chosen), Optional.of(senseless.getMessage()), "");
        }
    }

    private static List<LauncherCandidate> candidates(Variables variables, HostFacts around) {
        Meetings meetings = new Meetings(variables);
        PlainFamilies plain = new PlainFamilies(variables, meetings);
        MpiFamilies mpi = new MpiFamilies(variables, meetings, around);
        List<LauncherCandidate> found = new ArrayList<>();
        plain.given().ifPresent(found::add);
        plain.plain().ifPresent(found::add);
        mpi.openMpi().ifPresent(found::add);
        mpi.hydra().ifPresent(found::add);
        new SlurmStep(variables, meetings).find().ifPresent(found::add);
        new IndexedPod(variables, meetings, around).find().ifPresent(found::add);
        return found;
    }

    private static Optional<String> refusal(
            List<LauncherCandidate> found, Optional<LauncherCandidate> chosen, HostFacts around) {
        Optional<LauncherCandidate> halfGiven = found.stream()
                .filter(one -> one.family() == LauncherKind.GIVEN && !one.isComplete())
                .findFirst();
        if (halfGiven.isPresent()) {
            return halfGiven.get().incomplete();
        }
        return chosen.isPresent() ? Contradiction.find(chosen.get(), found, around) : Optional.of(unknown(found));
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
        return Stream.concat(
                        chosen.stream(),
                        // no equals: a record builds it at its first use, which would delay every rank when it joins
                        found.stream().filter(one -> one != chosen.orElse(null)))
                .map(one -> new DetectedLauncher(one.family(), one.variables(), one.isComplete(), verdict(one, chosen)))
                .toList();
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
        String others = found.stream()
                .filter(one -> one.family() != job.family())
                .map(JobFinder::other)
                .collect(Collectors.joining());
        return job.title() + others;
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
}
