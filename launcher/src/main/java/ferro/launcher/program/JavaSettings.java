package ferro.launcher.program;

import ferro.launcher.input.TemporaryFolder;
import ferro.spi.TemporaryFiles;
import java.lang.module.ModuleFinder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Settings for the start of Java programs: the JDK of the launcher, a class path, and flags that help ferro.
 *
 * <p>The user's class path and a jar that is run come before ferro's jars. Two kinds of class path come after ferro's
 * jars: a class path without any name of ferro, and a folder that the user did not name. For these two kinds, the JVM
 * can take ferro's classes from an archive, which works only for jars that come first.
 *
 * @param program       the user's class path
 * @param programFirst  whether the user's class path comes before ferro's jars
 * @param besideJar     the user's class path next to a jar that is run, which is only a path from {@code -cp}
 * @param library       ferro's jars
 * @param given         the user's JVM options ({@code -J}), after the option for the folder of TMPDIR
 * @param fromVariables JVM options that the JVM itself reads from the environment
 */
public record JavaSettings(
        ClassPath program,
        boolean programFirst,
        ClassPath besideJar,
        ClassPath library,
        List<String> given,
        String fromVariables) {
    /** The line that the JVM prints on standard error if it is started with an incubating module. */
    public static final String INCUBATING = "WARNING: Using incubator modules: jdk.incubator.vector";

    /** Property in which the script {@code ferro} passes the file of the class archive of ranks. */
    static final String ARCHIVE = "ferro.archive";

    /** Property that the script {@code ferro} sets to the version of Java in PATH if it uses another Java. */
    private static final String PATH_JAVA = "ferro.path.java";

    /** Property of ferro's shaded Netty with the folder for native libraries until they are loaded. */
    private static final String NATIVE_FOLDER = "ferro.shaded.io.netty.native.workdir";

    private static final String VECTORS = "jdk.incubator.vector";
    private static final int FEATURE = Runtime.version().feature();

    /** Collects the class path and the options for the JVMs of ranks. */
    public static JavaSettings of(Optional<String> classPath, List<String> given, Map<String, String> environment) {
        Optional<String> named = classPath.or(() -> Optional.ofNullable(environment.get("CLASSPATH")));
        String variables = environment.getOrDefault("JAVA_TOOL_OPTIONS", "") + " "
                + environment.getOrDefault("JDK_JAVA_OPTIONS", "");
        ClassPath beside = ClassPath.parse(classPath.orElse(""));
        List<String> options = new ArrayList<>();
        // the JVM does not read TMPDIR
        TemporaryFolder.named(environment)
                .filter(folder -> !variables.contains(TemporaryFiles.PROPERTY))
                .ifPresent(folder -> options.add("-D" + TemporaryFiles.PROPERTY + "=" + folder));
        options.addAll(given);
        return new JavaSettings(
                ClassPath.parse(named.orElse(".")),
                named.isPresent() && !FerroJarEntries.areMissingIn(ClassPath.parse(named.get())),
                beside,
                ClassPath.ofLauncher(),
                List.copyOf(options),
                variables);
    }

    JavaSettings withProgram(ClassPath path) {
        return new JavaSettings(path, programFirst, besideJar, library, given, fromVariables);
    }

    /**
     * Returns a copy of these settings for a jar, which comes before the path from {@code -cp}. Omits libraries of the
     * command, because the class loader of a Spring Boot jar prefers them to the libraries inside the jar.
     */
    JavaSettings withJar(Path jar) {
        ClassPath path = besideJar.behind(ClassPath.parse(jar.toString()));
        return new JavaSettings(path, true, besideJar, library.forPrograms(), given, fromVariables);
    }

    /**
     * Returns a copy of these settings for ranks that write temporary files into a folder of the job. A rank that is
     * killed while Netty loads a native library leaves a copy of the library. The copy is removed with the folder of
     * the job.
     */
    JavaSettings inFolder(Path folder) {
        List<String> options = new ArrayList<>(List.of("-D" + NATIVE_FOLDER + "=" + folder));
        options.addAll(given);
        return new JavaSettings(program, programFirst, besideJar, library, List.copyOf(options), fromVariables);
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

    /** Whether the user's class path registers back ends. */
    boolean mayBringBackends() {
        return program.holds("META-INF/services/ferro.spi.BackendProvider");
    }

    /**
     * Returns a remark for each entry of the user's class path that does not exist, because a JVM skips a missing entry
     * silently. Adds a remark if the script {@code ferro} has selected another Java than PATH.
     */
    List<String> remarks() {
        List<String> lines = new ArrayList<>();
        program.missing().forEach(entry -> lines.add(entry + " of the class path does not exist"));
        String onPath = System.getProperty(PATH_JAVA);
        if (onPath != null) {
            lines.add(
                    "ranks run on Java " + System.getProperty("java.version") + " of " + System.getProperty("java.home")
                            + ", the newest JDK of this machine, because JAVA_HOME is not set; not used: Java " + onPath
                            + ", which PATH leads to");
        }
        return lines;
    }

    ClassPath classPath() {
        return programFirst ? library.behind(program) : program.behind(library);
    }

    /** Returns a command line with java, flags, class path, main class and arguments. */
    List<String> commandLine(boolean fewCores, String mainClass, List<String> arguments) {
        NameEncodingCheck.checkProgram(mainClass, classPath());
        List<String> line = new ArrayList<>();
        line.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        line.addAll(flags(fewCores));
        line.addAll(given);
        line.addAll(List.of("-cp", classPath().toString(), mainClass));
        line.addAll(arguments);
        return line;
    }

    /**
     * Returns the flags that ferro gives every rank. ActiveProcessorCount is not a flag of ferro, because it would hide
     * core binding from the JVM.
     */
    public static List<String> ownFlags() {
        List<String> flags = new ArrayList<>();
        // turns off a counter file in /tmp, which each collection writes, a slow disk blocks, and a kill leaves behind
        flags.add("-XX:-UsePerfData");
        if (hasVectors()) {
            // the kernels use this module; RankStreamReader does not show the JVM's line about the module
            flags.add("--add-modules=" + VECTORS);
        }
        if (FEATURE >= 22) {
            // Netty and JNA load native libraries; newer JDKs print four lines about this, and later JDKs will refuse
            flags.add("--enable-native-access=ALL-UNNAMED");
        }
        if (FEATURE >= 24) {
            // Netty uses Unsafe, about which the JVM prints four more lines
            flags.add("--sun-misc-unsafe-memory-access=allow");
        }
        return flags;
    }

    /** Whether ferro has Vector API kernels for this JDK. The classes of the module differ between JDKs. */
    private static boolean hasVectors() {
        boolean compiled = FEATURE < 19 || FEATURE >= 22;
        return compiled && ModuleFinder.ofSystem().find(VECTORS).isPresent();
    }

    private List<String> flags(boolean fewCores) {
        List<String> flags = new ArrayList<>(ownFlags());
        if (fewCores && !mentions("GC")) {
            // a JVM that detects one core chooses this collector; unbound ranks share cores without detecting this
            flags.add("-XX:+UseSerialGC");
        }
        if (!mentions("java.util.logging.")) {
            // prints ferro's "waiting for ranks ..." in one line instead of the JDK's two lines
            flags.add("-Djava.util.logging.SimpleFormatter.format=%4$s %3$s: %5$s%6$s%n");
        }
        archive().ifPresent(file -> {
            flags.add("-XX:SharedArchiveFile=" + file);
            // the JVM ignores, without a message, an archive that does not match its version or flags
            flags.add("-Xlog:cds*=off");
        });
        return flags;
    }

    /** Returns the class archive that the script {@code ferro} names. With an archive, a rank starts a third faster. */
    private Optional<Path> archive() {
        return programFirst || mentions("SharedArchiveFile") || mentions("-Xshare")
                ? Optional.empty()
                : Optional.ofNullable(System.getProperty(ARCHIVE)).map(Path::of).filter(Files::isRegularFile);
    }

    private boolean mentions(String text) {
        return fromVariables.contains(text) || given.stream().anyMatch(option -> option.contains(text));
    }
}
