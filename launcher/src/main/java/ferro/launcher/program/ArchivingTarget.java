package ferro.launcher.program;

import ferro.launcher.input.BadInputException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * A program whose rank 0 writes its loaded classes into an archive of the JVM.
 *
 * @param archive   file to write
 * @param classPath class path of the ranks
 * @param words     main class and arguments
 */
public record ArchivingTarget(Path archive, ClassPath classPath, List<String> words) implements LaunchTarget {
    /** The first JDK that writes archives of linked classes in one step. Source: JEP 514. */
    private static final int LINKED = 25;

    /** The shell script that starts Java. Only rank 0 gets the first word, which is a JVM option. */
    private static final String SCRIPT = "[ \"$RANK\" = 0 ] || shift; exec \"$JAVA\" \"$@\"";

    /**
     * Creates the target of an archive.
     *
     * @throws BadInputException if the class path lacks the main class, or contains a folder, because an archive cannot
     *     contain classes of folders
     */
    public static ArchivingTarget of(Path archive, ClassPath classPath, List<String> words, ProgramFinder programs) {
        for (String entry : classPath.entries()) {
            if (Files.isDirectory(Path.of(entry))) {
                throw new BadInputException("-cp " + entry + " is a folder: an archive of the JVM holds classes of jars"
                        + " only, so put the classes into a jar");
            }
        }
        String main = words.get(0);
        if (!classPath.holds(main.replace('.', '/') + ".class")) {
            throw new BadInputException("main class \"" + main + "\" not found in " + classPath);
        }
        if (programs.find("sh").isEmpty()) {
            throw new BadInputException("need the command sh, and PATH has none (" + programs.path() + ")");
        }
        return new ArchivingTarget(archive, classPath, List.copyOf(words));
    }

    private static boolean linked() {
        return Runtime.version().feature() >= LINKED;
    }

    /** Returns the JVM option with which a JVM uses an archive. */
    public static String use(Path archive) {
        return (linked() ? "-XX:AOTCache=" : "-XX:SharedArchiveFile=") + archive;
    }

    @Override
    public List<String> commandLine(Path folder, boolean few) {
        String java = Path.of(System.getProperty("java.home"), "bin", "java").toString();
        String write = (linked() ? "-XX:AOTCacheOutput=" : "-XX:ArchiveClassesAtExit=") + archive;
        // suppresses the lines about each class that an archive cannot contain
        String quiet = linked() ? "-Xlog:aot*=error" : "-Xlog:cds*=error";
        List<String> line = new ArrayList<>(List.of("env", "JAVA=" + java, "sh", "-c", SCRIPT, "sh", write, quiet));
        line.addAll(List.of("-cp", classPath.toString()));
        line.addAll(words);
        return line;
    }

    @Override
    public boolean mayBringBackends() {
        return classPath.holds("META-INF/services/ferro.spi.BackendProvider");
    }
}
