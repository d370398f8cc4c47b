package ferro.launcher.program;

import java.io.File;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;

/**
 * Finds programs in the same way as a shell.
 *
 * @param path folders to search, in the form of the variable PATH
 */
public record ProgramFinder(String path) {
    /** Creates an object with the folders of the variable {@code PATH}. */
    public static ProgramFinder of(Map<String, String> environment) {
        return new ProgramFinder(environment.getOrDefault("PATH", "/usr/bin:/bin"));
    }

    /** Returns the executable file for the name of a command; empty if no file is found. */
    public Optional<Path> find(String name) {
        if (name.contains("/") || name.contains(File.separator)) {
            return runnable(name);
        }
        for (String folder : path.split(File.pathSeparator)) {
            Optional<Path> found = runnable((folder.isEmpty() ? "." : folder) + File.separator + name);
            if (found.isPresent()) {
                return found;
            }
        }
        return Optional.empty();
    }

    private static Optional<Path> runnable(String file) {
        try {
            Path program = Path.of(file);
            return Files.isRegularFile(program) && Files.isExecutable(program)
                    ? Optional.of(program)
                    : Optional.empty();
        } catch (InvalidPathException unreadable) {
            return Optional.empty();
        }
    }
}
