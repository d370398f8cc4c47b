package ferro.group;

import ferro.job.HostFacts;
import ferro.job.JobFinder;
import ferro.job.JobVariables;
import ferro.job.RankOfJob;
import ferro.spi.LinuxFiles;
import ferro.spi.Setting;
import ferro.spi.Settings;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import java.util.function.Supplier;

/** The settings of one context: properties, variables, and the rank that a launcher gives by variables. Thread-safe. */
final class ContextSettings {
    private static final String PREFIX = "ferro.";
    private static final String VARIABLE_PREFIX = "FERRO_";
    /** Names of all properties that are settings, including properties of other software. */
    private static final Set<String> PROPERTIES = properties();

    /** Variables of other software that are settings of ferro. */
    private static final Set<String> VARIABLES = allVariables();

    /** Settings that a launcher may give by its own variables. */
    private static final Set<String> OF_JOB = Set.of(
            Settings.ENV_RANK.name(),
            Settings.ENV_WORLD_SIZE.name(),
            Settings.LOCAL_RANK.name(),
            Settings.LOCAL_WORLD_SIZE.name(),
            Settings.JOB_ID.name(),
            Settings.GENERATION.name(),
            Settings.LOCAL_CORES.name());

    /** Properties of the options, or a map that may also have variables. */
    private final Map<String, String> given;
    /** Whether a property that is not given is read from this process. */
    private final boolean isOfProcess;

    private final Map<String, String> variables;
    /** Variables that the options set. Variables of the options take precedence over the variables of launchers. */
    private final Map<String, String> named;

    private final Supplier<OptionalInt> ownCores;
    private JobVariables findings;
    private Map<String, String> foundWith;
    private OptionalInt own;

    private ContextSettings(
            Map<String, String> given,
            boolean isOfProcess,
            Map<String, String> variables,
            Map<String, String> named,
            Supplier<OptionalInt> ownCores) {
        this.given = given;
        this.isOfProcess = isOfProcess;
        this.variables = variables;
        this.named = named;
        this.ownCores = ownCores;
    }

    /**
     * Returns settings of a map, by property or by variable. The settings contain neither properties nor variables of
     * this process.
     */
    static ContextSettings of(Map<String, String> settings, Supplier<OptionalInt> ownCores) {
        return new ContextSettings(settings, false, settings, Map.of(), ownCores);
    }

    /**
     * Returns the settings of this process. Settings of the options take precedence over properties and variables.
     * Properties are read at each request.
     */
    static ContextSettings of(JoinOptions options, Map<String, String> environment) {
        Map<String, String> over = options.overrides();
        Map<String, String> variables = new HashMap<>();
        for (Map.Entry<String, String> variable : environment.entrySet()) {
            String name = variable.getKey();
            if (!options.hides(name, VARIABLES.contains(name))) {
                variables.put(name, variable.getValue());
            }
        }
        Map<String, String> named = new HashMap<>();
        for (Map.Entry<String, String> set : over.entrySet()) {
            String name = set.getKey();
            if (isVariable(name)) {
                named.put(name, set.getValue());
                // this variable would mark the rank as a rank of ferro run
                if (!name.equals(Settings.STORE_SERVED.name())) {
                    variables.put(name, set.getValue());
                }
            }
        }
        return new ContextSettings(
                over,
                true,
                Map.copyOf(variables),
                Map.copyOf(named),
                // ranks whose number the options give may share this process and its cores
                options.isPlaced() ? OptionalInt::empty : () -> LinuxFiles.HOST.ownCores());
    }

    /**
     * Returns the value of a setting. The property of the setting comes first, then the variable, then the launcher's
     * variables.
     */
    Optional<String> find(String name) {
        if (OF_JOB.contains(name)) {
            return ofJob(name);
        }
        String property = isVariable(name) ? null : property(name);
        return property != null ? Optional.of(property) : variable(Setting.variable(name));
    }

    /** Returns the text of a property; null if the property is unset. */
    private String property(String name) {
        boolean isRead = isOfProcess && (name.startsWith(PREFIX) || PROPERTIES.contains(name));
        return given.containsKey(name) || !isRead ? given.get(name) : System.getProperty(name);
    }

    private static Set<String> properties() {
        Set<String> names = new HashSet<>();
        for (Setting<?> setting : Settings.all()) {
            if (!isVariable(setting.name())) {
                names.add(setting.name());
            }
        }
        return Set.copyOf(names);
    }

    private static Set<String> allVariables() {
        Set<String> names = new HashSet<>();
        for (Setting<?> setting : Settings.all()) {
            names.add(setting.variable());
        }
        return Set.copyOf(names);
    }

    private static boolean isVariable(String name) {
        return Setting.variable(name).equals(name);
    }

    /** Returns a variable. An empty variable counts as not set, because scripts leave variables empty. */
    private Optional<String> variable(String name) {
        String text = named.getOrDefault(name, variables.get(name));
        return text == null || text.isBlank() ? Optional.empty() : Optional.of(text);
    }

    /** Returns whether the launcher of a cluster has started this rank. */
    boolean isOfACluster() {
        Optional<RankOfJob> job = findings().job();
        return job.isPresent() && job.get().family().ofACluster();
    }

    /** Returns the value that a launcher gives by its own variables, else the value that the user has set. */
    private Optional<String> ofJob(String variable) {
        Optional<String> set = variable(variable);
        Optional<RankOfJob> job = findings().job();
        if (variable.equals(Settings.LOCAL_CORES.name())) {
            return set.isPresent() || job.isEmpty() ? set : coresTogether(job.get());
        }
        if (named.containsKey(variable) || job.isEmpty()) {
            return set;
        }
        RankOfJob found = job.get();
        if (variable.equals(Settings.JOB_ID.name())) {
            return found.jobId();
        }
        if (variable.equals(Settings.GENERATION.name())) {
            return Optional.of("" + found.generation());
        }
        if (!found.family().ofACluster()) {
            return set;
        }
        return switch (variable) {
            case "RANK" -> Optional.of("" + found.rank());
            case "WORLD_SIZE" -> Optional.of("" + found.worldSize());
            case "LOCAL_RANK" -> text(found.localRank());
            default -> text(found.localWorldSize());
        };
    }

    /**
     * Returns the number of cores of all ranks of this host. If a launcher binds each rank to some cores, this rank
     * sees only its own cores. Each other rank of the host is assumed to have the same number of cores.
     */
    private synchronized Optional<String> coresTogether(RankOfJob job) {
        if (own == null) {
            own = ownCores.get();
        }
        int ranksHere = job.localWorldSize().orElse(job.worldSize());
        return own.isPresent() ? Optional.of("" + (long) own.getAsInt() * ranksHere) : Optional.empty();
    }

    private static Optional<String> text(OptionalInt number) {
        return number.isPresent() ? Optional.of("" + number.getAsInt()) : Optional.empty();
    }

    /**
     * Returns the job that was found. The search for the job runs once, and again only after the properties have
     * changed.
     */
    private synchronized JobVariables findings() {
        Map<String, String> set = new HashMap<>();
        for (Setting<?> setting : List.of(Settings.RANK, Settings.WORLD_SIZE)) {
            String text = property(setting.name());
            if (text != null) {
                set.put(setting.name(), text);
            }
        }
        if (findings == null || !set.equals(foundWith)) {
            Map<String, String> all = new HashMap<>(variables);
            all.putAll(set);
            findings = JobFinder.find(all, HostFacts.ofThisHost());
            foundWith = set;
        }
        return findings;
    }

    /** Returns the variables, including variables of other programs. */
    Map<String, String> variables() {
        return variables;
    }

    /** Returns the names of properties and variables that begin with the prefix of ferro's settings. */
    Set<String> names() {
        Set<String> names = new HashSet<>();
        if (isOfProcess) {
            addNames(System.getProperties().stringPropertyNames(), names);
        }
        addNames(variables.keySet(), names);
        return Set.copyOf(names);
    }

    private static void addNames(Set<String> all, Set<String> names) {
        for (String name : all) {
            if (name.startsWith(PREFIX) || name.startsWith(VARIABLE_PREFIX)) {
                names.add(name);
            }
        }
    }
}
