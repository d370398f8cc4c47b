package ferro.integration;

import ferro.harness.Jvm;
import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.ProcessBuilder.Redirect;
import java.lang.module.ModuleFinder;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileTime;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import java.util.zip.ZipEntry;
import java.util.zip.ZipOutputStream;

/**
 * The class path of programs that tests start. Where the build has made jars it is jars alone, and beside the first lie
 * archives of a rank's classes and of the launcher's: as a user has them by {@code ./ferro}, and both start in two
 * thirds of the time. Tests of folders of classes go without.
 */
record Programs(List<Path> entries, Path home) {
    static final String ARCHIVE = archive("ranks");

    static final String LAUNCHERS_ARCHIVE = archive("launcher");

    private static final long PATIENCE_SECONDS = 60;
    private static final String REHEARSAL = "ferro.launcher.ArchiveProgram";
    private static final String HELLO = "../examples/src/main/java/ferro/examples/hello/HelloAllReduce.java";

    /** As the script {@code ferro} makes it: of the second rank, when it ends; its shell's name is the archive's. */
    private static final String ARCHIVING =
            "[ \"$RANK\" = 1 ] && set -- \"-XX:ArchiveClassesAtExit=$0\" \"$@\"; exec " + Jvm.java() + " \"$@\"";

    /** Returns the same class path, or where all of it but the tests are jars, one of jars alone. */
    static String packed(String classPath) {
        List<Path> given =
                Stream.of(classPath.split(File.pathSeparator)).map(Path::of).toList();
        // the folder of classes that are not tests has a licence alone
        List<Path> folders = given.stream()
                .filter(each -> Files.isDirectory(each.resolve("ferro")))
                .toList();
        if (folders.size() != 1 || !folders.get(0).endsWith("test-classes")) {
            return classPath;
        }
        List<Path> jars = given.stream().filter(Files::isRegularFile).toList();
        try {
            return new Programs(jars, folders.get(0).resolveSibling("programs")).with(folders.get(0));
        } catch (IOException failure) {
            throw new UncheckedIOException(failure);
        }
    }

    /** The first of several JVMs of tests makes what is missing or older than what it was made of. */
    private String with(Path classes) throws IOException {
        Files.createDirectories(home);
        // a name that gpu/pack leaves out, as it does the folder
        Path jar = home.resolve("ferro-integration-tests.jar");
        String path = Stream.concat(Stream.of(jar), entries.stream())
                .map(Path::toString)
                .collect(Collectors.joining(File.pathSeparator));
        try (FileChannel channel =
                        FileChannel.open(home.resolve("lock"), StandardOpenOption.CREATE, StandardOpenOption.WRITE);
                FileLock lock = channel.lock()) {
            if (lock.isValid() && isOlder(jar, classes)) {
                Files.deleteIfExists(home.resolve(ARCHIVE));
                Files.deleteIfExists(home.resolve(LAUNCHERS_ARCHIVE));
                Path made = pack(classes);
                Files.move(made, jar, StandardCopyOption.REPLACE_EXISTING);
                archiveRank(path);
                archiveLauncher(path);
            }
        }
        return path;
    }

    private boolean isOlder(Path jar, Path classes) throws IOException {
        if (!Files.exists(jar)) {
            return true;
        }
        FileTime made = Files.getLastModifiedTime(jar);
        try (Stream<Path> files = Files.walk(classes)) {
            for (Path file : Stream.concat(files, entries.stream()).toList()) {
                if (Files.getLastModifiedTime(file).compareTo(made) >= 0) {
                    return true;
                }
            }
        }
        return false;
    }

    private Path pack(Path classes) throws IOException {
        Path jar = home.resolve("being-packed.jar");
        try (ZipOutputStream out = new ZipOutputStream(Files.newOutputStream(jar));
                Stream<Path> files = Files.walk(classes)) {
            for (Path file : files.filter(Files::isRegularFile).toList()) {
                out.putNextEntry(new ZipEntry(classes.relativize(file).toString()));
                Files.copy(file, out);
            }
        }
        return jar;
    }

    private void archiveRank(String path) throws IOException {
        Path made = home.resolve("being-made.jsa");
        List<String> line = new ArrayList<>(List.of(Jvm.java(), "-cp", path, "ferro.launcher.FerroCommand"));
        line.addAll(List.of("run", "-n", "3", "--no-bind", "--", "sh", "-c", ARCHIVING, made.toString()));
        line.add("-XX:-UsePerfData");
        if (ModuleFinder.ofSystem().find("jdk.incubator.vector").isPresent()) {
            line.add("--add-modules=jdk.incubator.vector");
        }
        line.addAll(List.of("-cp", path, REHEARSAL));
        archive(line, made, ARCHIVE);
    }

    private void archiveLauncher(String path) throws IOException {
        Path made = home.resolve("being-made.jsa");
        List<String> line = JavaLine.launcher(path, List.of("-XX:ArchiveClassesAtExit=" + made));
        line.addAll(List.of("run", "-n", "2", "--no-bind", HELLO));
        archive(line, made, LAUNCHERS_ARCHIVE);
    }

    /** Runs what makes an archive. Without one everything works as with one, and takes longer. */
    private void archive(List<String> line, Path made, String name) throws IOException {
        Process process = new ProcessBuilder(line)
                .redirectErrorStream(true)
                .redirectOutput(Redirect.appendTo(home.resolve("archiving.txt").toFile()))
                .start();
        try {
            if (process.waitFor(PATIENCE_SECONDS, TimeUnit.SECONDS) && process.exitValue() == 0 && Files.exists(made)) {
                Files.move(made, home.resolve(name), StandardCopyOption.REPLACE_EXISTING);
            }
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
        } finally {
            process.destroyForcibly();
        }
    }

    private static String archive(String kind) {
        return kind + "-" + System.getProperty("java.version") + ".jsa";
    }
}
