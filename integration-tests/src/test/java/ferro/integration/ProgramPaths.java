package ferro.integration;

import ferro.harness.Jvm;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/** The classes of a program that has another Netty beside ferro, and what Maven has resolved for it, ferro too. */
record ProgramPaths(Path program, List<Path> libraries) {
    private static final Path SPRING_BOOT = Path.of("integration-tests", "spring-boot");
    private static final Path SHADED = Path.of("backend-tcp-shaded");
    private static final Path UNSHADED = Path.of("backend-tcp");
    private static final String LIBRARIES = "class-path.txt";

    static ProgramPaths ofSpringBoot() throws IOException {
        Path classes = entryOf(SPRING_BOOT);
        return new ProgramPaths(classes, entries(Files.readString(classes.resolveSibling(LIBRARIES))));
    }

    private static Path entryOf(Path module) {
        return entries(Jvm.classPath()).stream()
                .filter(entry -> folderOf(module, entry).isPresent())
                .findFirst()
                .orElseThrow(() -> new IllegalStateException("no module " + module + " in " + Jvm.classPath()));
    }

    private static Optional<Path> folderOf(Path module, Path file) {
        return Stream.iterate(file.getParent(), folder -> folder != null, Path::getParent)
                .filter(folder -> folder.endsWith(module))
                .findFirst();
    }

    private static List<Path> entries(String path) {
        return Arrays.stream(path.strip().split(File.pathSeparator))
                .map(Path::of)
                .toList();
    }

    List<Path> all() {
        List<Path> all = new ArrayList<>(List.of(program));
        all.addAll(libraries);
        return all;
    }

    /** Returns the program and ferro with a Netty of its own, and no other library. */
    List<Path> ferroAlone() {
        return Stream.concat(Stream.of(program), libraries.stream().filter(ProgramPaths::isFerro))
                .toList();
    }

    /** Returns the program and ferro with the Netty of the class path, without that Netty. */
    List<Path> unshadedFerro() {
        return Stream.of(
                        Stream.of(program),
                        entries(Jvm.classPath()).stream()
                                .filter(ProgramPaths::isFerro)
                                .filter(entry -> entry.toString().matches(".*/(spi|collectives)/.*")),
                        Stream.of(unshadedBackend()))
                .flatMap(entries -> entries)
                .toList();
    }

    /** Returns the classes of module backend-tcp, which the class path of the tests does not have. */
    private static Path unshadedBackend() {
        Path shaded = entryOf(SHADED);
        Path module = folderOf(SHADED, shaded).orElseThrow();
        Path output = module.relativize(shaded.getParent());
        return module.resolveSibling(UNSHADED).resolve(output).resolve("classes");
    }

    private static boolean isFerro(Path entry) {
        return Files.isDirectory(entry) || name(entry).startsWith("ferro-");
    }

    List<Path> netty() {
        return libraries.stream()
                .filter(entry -> name(entry).startsWith("netty-"))
                .toList();
    }

    static List<Path> nettyOfFerro() throws IOException {
        return entries(Files.readString(entryOf(SHADED).resolveSibling(LIBRARIES)));
    }

    /** Returns a Netty that the build has copied beside the classes of the tests. */
    static List<Path> netty(String version) throws IOException {
        Path output = entries(Jvm.classPath()).stream()
                .filter(entry -> entry.endsWith("test-classes"))
                .findFirst()
                .orElseThrow(() -> new IllegalStateException("no test classes in " + Jvm.classPath()));
        try (Stream<Path> jars = Files.list(output.resolveSibling("netty-" + version))) {
            return jars.sorted().toList();
        }
    }

    String nettyVersion() {
        return version(part("netty-common", netty()));
    }

    static Path part(String part, List<Path> netty) {
        return netty.stream()
                .filter(entry -> name(entry).matches(part + "-\\d.*"))
                .findFirst()
                .orElseThrow(() -> new IllegalStateException("no " + part + " in " + netty));
    }

    static String version(Path jar) {
        return name(jar).replaceFirst("^[a-z-]+?-(\\d.*?Final).*", "$1");
    }

    private static String name(Path entry) {
        return entry.getFileName().toString();
    }
}
