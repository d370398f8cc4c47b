package ferro.launcher;

import java.io.File;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/**
 * The jars of ferro, as the launcher itself was started with them ({@code java -cp 'lib/*'}).
 *
 * @param entries absolute paths
 */
record ClassPath(List<String> entries) {
    /** What belongs to the command and not to a program that joins a group. */
    private static final Set<String> OF_THE_COMMAND =
            Set.of("ferro-launcher", "ferro-examples", "ferro-benchmarks", "picocli", "xchart");

    static ClassPath ofLauncher() {
        return parse(System.getProperty("java.class.path"));
    }

    static ClassPath parse(String text) {
        List<String> entries = new ArrayList<>();
        for (String entry : text.split(File.pathSeparator)) {
            if (!entry.isEmpty()) {
                entries.add(Path.of(entry).toAbsolutePath().normalize().toString());
            }
        }
        return new ClassPath(List.copyOf(entries));
    }

    /** Returns what a user's program needs: the contracts, the engine, the back ends and what those need. */
    ClassPath forPrograms() {
        return new ClassPath(entries.stream()
                .filter(entry -> !OF_THE_COMMAND.contains(artifact(entry)))
                .toList());
    }

    /** Returns these entries behind others, which win. */
    ClassPath behind(ClassPath first) {
        List<String> all = new ArrayList<>(first.entries);
        all.addAll(entries);
        return new ClassPath(List.copyOf(all));
    }

    /** Name of a jar without its version; a folder of classes in a build is named after its module. */
    private static String artifact(String entry) {
        Path path = Path.of(entry);
        if (path.endsWith(Path.of("target", "classes"))) {
            return "ferro-" + path.getParent().getParent().getFileName();
        }
        return path.getFileName().toString().replaceFirst("-\\d.*", "").replaceFirst("\\.jar$", "");
    }

    @Override
    public String toString() {
        return String.join(File.pathSeparator, entries);
    }
}
