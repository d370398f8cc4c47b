package ferro.integration;

import ferro.harness.Jvm;
import java.io.File;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * Command lines of JVMs that tests start: for lives of seconds, and with the classes that the build has archived, as
 * {@code ./ferro} starts its own.
 */
public final class JavaLine {
    private JavaLine() {}

    /** Returns the line of a rank that no launcher starts: these options, the class path of the tests, a program and its arguments. */
    public static List<String> rank(List<String> options, String... program) {
        return rankOn(LauncherRun.classPath(), options, program);
    }

    /** The same with a class path that begins with that of the tests, or is another and has no archive. */
    public static List<String> rankOn(String classPath, List<String> options, String... program) {
        List<String> line = shortLived(archivedRank());
        line.addAll(options);
        line.addAll(List.of("-cp", classPath));
        line.addAll(List.of(program));
        return line;
    }

    /** Returns the line of the launcher, to which its arguments are added. */
    public static List<String> launcher(String classPath) {
        return launcher(classPath, archived(Programs.LAUNCHERS_ARCHIVE));
    }

    static List<String> launcher(String classPath, List<String> archive) {
        List<String> line = shortLived(archive);
        // as the script does that it stands for
        line.add("-Dferro.command=./ferro");
        line.add("-Dferro.archive=" + besideTheFirst(classPath, Programs.ARCHIVE));
        line.addAll(List.of("-cp", classPath, "ferro.launcher.FerroCommand"));
        return line;
    }

    /** Returns the options that give a rank's JVM its archive; none where the build has made none. */
    public static List<String> archivedRank() {
        return archived(Programs.ARCHIVE);
    }

    private static List<String> archived(String name) {
        Path archive = besideTheFirst(LauncherRun.classPath(), name);
        return Files.exists(archive) ? List.of("-XX:SharedArchiveFile=" + archive, "-Xlog:cds*=off") : List.of();
    }

    private static Path besideTheFirst(String classPath, String name) {
        return Path.of(classPath.split(File.pathSeparator)[0]).resolveSibling(name);
    }

    /** Returns the beginning of a line without an archive, for a class path that is not the tests' own. */
    static List<String> shortLived() {
        return shortLived(List.of());
    }

    private static List<String> shortLived(List<String> archive) {
        List<String> line = new ArrayList<>(List.of(Jvm.java(), "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC"));
        line.add("-XX:-UsePerfData");
        line.addAll(archive);
        line.add("--enable-native-access=ALL-UNNAMED");
        return line;
    }
}
