package ferro.launcher.program;

import ferro.launcher.input.BadInputException;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** The program that every rank runs. It is checked when it is made, so that bad input is found before anything starts. */
@FunctionalInterface
public interface Target {
    /** Makes a target of any program and its arguments, as given after {@code --}. The program must exist. */
    static Target ofCommand(List<String> words, Programs programs) {
        if (words.isEmpty()) {
            throw new BadInputException("nothing to run: found " + words.size() + " words after --, need a command");
        }
        if (programs.find(words.get(0)).isEmpty()) {
            throw new BadInputException(
                    "command \"" + words.get(0) + "\" not found: it is not a program file, and PATH has"
                            + " no program of this name (" + programs.path() + ")");
        }
        return (folder, few) -> words;
    }

    /**
     * {@return the command line of a rank, program and arguments, the same for all}
     *
     * @param folder folder for files that live as long as the job
     * @param few    whether a rank has fewer than two cores
     * @throws IOException if a file cannot be written
     */
    List<String> commandLine(Path folder, boolean few) throws IOException;

    /** Returns class path and flags of the JVMs of ranks; empty if the program is no Java program with such settings. */
    default Optional<JavaSettings> java() {
        return Optional.empty();
    }

    /** Returns the settings of ferro on this command line; they win over variables. */
    default Map<String, String> properties() {
        return java().map(JavaSettings::properties).orElse(Map.of());
    }

    /** Whether ranks may find back ends that are not on the launcher's own class path, as any command may. */
    default boolean mayBringBackends() {
        return java().map(JavaSettings::mayBringBackends).orElse(true);
    }

    /** Returns lines about what is odd here and may be meant, such as a folder of the class path that does not exist. */
    default List<String> remarks() {
        return java().map(JavaSettings::remarks).orElse(List.of());
    }

    /** Whether exit code 2 of a rank means that rank 0 has said what is wrong with the words typed. */
    default boolean saysWhatIsWrong() {
        return false;
    }
}
