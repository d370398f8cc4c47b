package ferro.spark;

import java.io.File;
import java.io.IOException;
import java.io.OutputStream;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.jar.JarEntry;
import java.util.jar.JarOutputStream;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * A run of Spark's {@code SparkSubmit} in its own process, on a cluster of two executors. Spark's jars are in a home
 * folder, as in an installation. ferro's jars are passed with {@code --jars}.
 */
final class SubmittedProgram {
    private static final int MINUTES = 3;
    private static final Path TARGET = Path.of(System.getProperty("spark.test.folder"));
    private final Path sparkHome;
    private final List<Path> ferro = new ArrayList<>();

    /** The home folder is not deleted, because executors may write to it after the driver has ended. */
    SubmittedProgram() throws IOException {
        sparkHome = Files.createTempDirectory(TARGET, "submit");
        Path jars = Files.createDirectories(sparkHome.resolve("jars"));
        for (String one : System.getProperty("java.class.path").split(File.pathSeparator)) {
            Path entry = Path.of(one).toAbsolutePath();
            String name = entry.getFileName().toString();
            if (Files.isDirectory(entry) && name.equals("classes")) {
                ferro.add(jar(entry, "", sparkHome.resolve("module" + ferro.size() + ".jar")));
            } else if (name.startsWith("ferro-")) {
                ferro.add(entry);
            } else if (name.endsWith(".jar")) {
                Files.createSymbolicLink(jars.resolve(name), entry);
            }
        }
    }

    void logging(String lines) throws IOException {
        Path conf = Files.createDirectories(sparkHome.resolve("conf"));
        Files.writeString(conf.resolve("log4j2.properties"), lines);
    }

    /** Runs a main class of this module's tests, together with its package. Returns its output. */
    String run(Class<?> main, String... settings) throws IOException, InterruptedException {
        Path program = jar(
                TARGET.resolve("test-classes"),
                main.getPackageName().replace('.', '/'),
                sparkHome.resolve("program.jar"));
        Path out = sparkHome.resolve("out");
        ProcessBuilder java = new ProcessBuilder(command(main, program, settings))
                .redirectOutput(out.toFile())
                .redirectError(sparkHome.resolve("err").toFile());
        java.environment().put("SPARK_HOME", sparkHome.toString());
        Process process = java.start();
        try {
            boolean ended = process.waitFor(MINUTES, TimeUnit.MINUTES);
            if (!ended || process.exitValue() != 0) {
                throw new IllegalStateException(
                        "SparkSubmit " + (ended ? "failed with " + process.exitValue() : "hangs") + ": "
                                + Files.readString(sparkHome.resolve("err")));
            }
        } finally {
            process.destroyForcibly();
        }
        return Files.readString(out);
    }

    /** Returns a command line that begins with the options of Java that spark-submit passes. */
    static List<String> java() {
        List<String> command = new ArrayList<>(
                List.of(Path.of(System.getProperty("java.home"), "bin", "java").toString()));
        ManagementFactory.getRuntimeMXBean().getInputArguments().stream()
                .filter(one -> one.startsWith("--add-") || one.startsWith("-XX:+Ignore"))
                .forEach(command::add);
        return command;
    }

    private List<String> command(Class<?> main, Path program, String... settings) {
        List<String> command = java();
        command.addAll(
                List.of("-cp", sparkHome + "/conf:" + sparkHome + "/jars/*", "org.apache.spark.deploy.SparkSubmit"));
        command.addAll(List.of("--master", "local-cluster[2,2,1024]", "--class", main.getName(), "--jars"));
        command.add(ferro.stream().map(Path::toString).collect(Collectors.joining(",")));
        Stream.concat(
                        Stream.of(
                                "spark.driver.host=127.0.0.1",
                                "spark.driver.bindAddress=127.0.0.1",
                                "spark.ui.enabled=false",
                                "spark.local.dir=" + sparkHome + "/local"),
                        Stream.of(settings))
                .forEach(setting -> command.addAll(List.of("--conf", setting)));
        command.add(program.toString());
        return command;
    }

    String executorLogs() throws IOException {
        try (Stream<Path> files = Files.walk(sparkHome.resolve("work"))) {
            StringBuilder all = new StringBuilder();
            for (Path one : files.filter(file -> file.endsWith("stderr")).toList()) {
                all.append(Files.readString(one));
            }
            return all.toString();
        }
    }

    private static Path jar(Path folder, String inner, Path jar) throws IOException {
        try (OutputStream file = Files.newOutputStream(jar);
                JarOutputStream entries = new JarOutputStream(file);
                Stream<Path> files = Files.walk(folder.resolve(inner))) {
            for (Path one : files.filter(Files::isRegularFile).toList()) {
                entries.putNextEntry(new JarEntry(folder.relativize(one).toString()));
                Files.copy(one, entries);
                entries.closeEntry();
            }
        }
        return jar;
    }
}
