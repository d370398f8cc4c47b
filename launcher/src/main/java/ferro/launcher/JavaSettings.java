package ferro.launcher;

import java.lang.module.ModuleFinder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * How Java programs are started: our own JDK, a class path, and the flags that ferro profits from.
 *
 * <p>What the user put on a class path stands before ferro's jars, and so does a jar that is run. What has nothing by the name
 * of anything of ours stands behind them, and so does a folder that nobody named: then the JVM can take ferro's classes from
 * an archive, which serves only jars that come first.
 *
 * @param program       what the user's class path holds
 * @param programFirst  whether that stands before ferro's jars
 * @param besideJar     what the user wants beside a jar that is run: only a path typed by {@code -cp}
 * @param library       ferro's jars
 * @param given         JVM options that the user gave ({@code -J})
 * @param fromVariables JVM options that the JVM will read from the environment by itself
 */
record JavaSettings(
        ClassPath program,
        boolean programFirst,
        ClassPath besideJar,
        ClassPath library,
        List<String> given,
        String fromVariables) {
    /** What the JVM prints, on standard error, where it is started with an incubating module. */
    static final String INCUBATING = "WARNING: Using incubator modules: jdk.incubator.vector";

    private static final String VECTORS = "jdk.incubator.vector";
    private static final int FEATURE = Runtime.version().feature();

    static JavaSettings of(Optional<String> classPath, List<String> given, Map<String, String> environment) {
        Optional<String> named = classPath.or(() -> Optional.ofNullable(environment.get("CLASSPATH")));
        String variables = environment.getOrDefault("JAVA_TOOL_OPTIONS", "") + " "
                + environment.getOrDefault("JDK_JAVA_OPTIONS", "");
        ClassPath beside = ClassPath.parse(classPath.orElse(""));
        return new JavaSettings(
                ClassPath.parse(named.orElse(".")),
                named.isPresent() && !FerroNames.areMissingIn(ClassPath.parse(named.get())),
                beside,
                ClassPath.ofLauncher(),
                List.copyOf(given),
                variables);
    }

    /** Returns the same with another class path of the user. */
    JavaSettings withProgram(ClassPath path) {
        return new JavaSettings(path, programFirst, besideJar, library, given, fromVariables);
    }

    /** Returns the same for a jar, which stands before what was typed by {@code -cp}. */
    JavaSettings withJar(Path jar) {
        ClassPath path = besideJar.behind(ClassPath.parse(jar.toString()));
        return new JavaSettings(path, true, besideJar, library, given, fromVariables);
    }

    /** Returns the settings of ferro among the user's JVM options. */
    Map<String, String> properties() {
        Map<String, String> properties = new HashMap<>();
        for (String option : given) {
            int equals = option.indexOf('=');
            if (option.startsWith("-Dferro.") && equals > 0) {
                properties.put(option.substring("-D".length(), equals), option.substring(equals + 1));
            }
        }
        return properties;
    }

    /** Whether the user's class path announces back ends. */
    boolean mayBringBackends() {
        return program.holds("META-INF/services/ferro.spi.BackendProvider");
    }

    ClassPath classPath() {
        return programFirst ? library.behind(program) : program.behind(library);
    }

    /** Returns a command line: java, flags, class path, main class, arguments. */
    List<String> commandLine(boolean fewCores, String mainClass, List<String> arguments) {
        List<String> line = new ArrayList<>();
        line.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        line.addAll(flags(fewCores));
        line.addAll(given);
        line.addAll(List.of("-cp", classPath().toString(), mainClass));
        line.addAll(arguments);
        return line;
    }

    /**
     * Returns the flags of ours that every rank gets. Not among them: ActiveProcessorCount, which would hide from the JVM
     * what binding has settled.
     */
    static List<String> ownFlags() {
        List<String> flags = new ArrayList<>();
        // a counter file in /tmp that is written to at every collection, stalls with the disk, and outlives a kill
        flags.add("-XX:-UsePerfData");
        // Netty's events of its buffers, which load the JDK's recorder: a fifth of a rank's start
        flags.add("-Dio.netty.jfr.enabled=false");
        if (hasVectors()) {
            // kernels use it; RankStream drops the line that the JVM prints about it
            flags.add("--add-modules=" + VECTORS);
        }
        if (FEATURE >= 22) {
            // Netty and JNA load libraries of their own: newer JDKs print four lines about it, one day they will refuse
            // it
            flags.add("--enable-native-access=ALL-UNNAMED");
        }
        if (FEATURE >= 24) {
            // Netty uses Unsafe: four lines more
            flags.add("--sun-misc-unsafe-memory-access=allow");
        }
        return flags;
    }

    /** Whether kernels of the Vector API are compiled for this JDK; the module's classes differ from one to the next. */
    private static boolean hasVectors() {
        boolean compiled = FEATURE < 19 || FEATURE >= 22;
        return compiled && ModuleFinder.ofSystem().find(VECTORS).isPresent();
    }

    private List<String> flags(boolean fewCores) {
        List<String> flags = new ArrayList<>(ownFlags());
        if (fewCores && !mentions("GC")) {
            // what the JVM chooses when it sees one core; unbound ranks share cores without seeing it
            flags.add("-XX:+UseSerialGC");
        }
        if (!mentions("java.util.logging.")) {
            // ferro's "waiting for ranks ..." in one line instead of the JDK's two
            flags.add("-Djava.util.logging.SimpleFormatter.format=%4$s %3$s: %5$s%6$s%n");
        }
        archive().ifPresent(file -> {
            flags.add("-XX:SharedArchiveFile=" + file);
            // one that does not fit, after a change of the JDK or by another flag, is ignored: no reason for lines
            flags.add("-Xlog:cds*=off");
        });
        return flags;
    }

    /** Finds the classes that the script {@code ferro} has archived beside its jars; a rank starts a third faster. */
    private Optional<Path> archive() {
        if (programFirst
                || mentions("SharedArchiveFile")
                || mentions("-Xshare")
                || library.entries().isEmpty()) {
            return Optional.empty();
        }
        return Optional.of(Path.of(library.entries().get(0))
                        .resolveSibling("ranks-" + System.getProperty("java.version") + ".jsa"))
                .filter(Files::isRegularFile);
    }

    private boolean mentions(String text) {
        return fromVariables.contains(text) || given.stream().anyMatch(option -> option.contains(text));
    }
}
