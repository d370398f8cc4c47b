package ferro.integration.release;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * Maven with a local repository that has nothing of ferro. All other artifacts are those of the user's local repository, to which the
 * folders of the new one are links.
 *
 * @param repository the local repository
 */
record Maven(Path repository) {
    /** Returns Maven with a local repository in an empty folder. */
    static Maven without(String group, Path folder) throws IOException {
        Path users = Path.of(Optional.ofNullable(System.getProperty("localRepository"))
                .orElseGet(() -> System.getProperty("user.home") + "/.m2/repository"));
        Path own = folder;
        for (String part : group.split("\\.")) {
            Files.createDirectories(own);
            if (Files.isDirectory(users)) {
                link(users, own, part);
            }
            own = own.resolve(part);
            users = users.resolve(part);
        }
        Files.createDirectories(own);
        return new Maven(folder);
    }

    private static void link(Path users, Path own, String leftOut) throws IOException {
        try (Stream<Path> entries = Files.list(users)) {
            for (Path entry : entries.toList()) {
                String name = entry.getFileName().toString();
                if (!name.equals(leftOut)) {
                    Files.createSymbolicLink(own.resolve(name), entry);
                }
            }
        }
    }

    static boolean isInstalled() {
        return Stream.of(System.getenv("PATH").split(File.pathSeparator))
                .anyMatch(folder -> Files.isExecutable(Path.of(folder, "mvn")));
    }

    String run(Path jdk, Path project, Map<String, String> variables, String... arguments)
            throws IOException, InterruptedException {
        List<String> command = new ArrayList<>(List.of("mvn", "-B", "-Dmaven.repo.local=" + repository));
        command.addAll(List.of(arguments));
        Map<String, String> all = new HashMap<>(variables);
        all.put("JAVA_HOME", jdk.toString());
        return Commands.run(project, all, command);
    }
}
