package ferro.launcher.program;

import ferro.launcher.input.BadInputException;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** The program that every rank runs. Each target is checked when it is created, before any rank starts. */
@FunctionalInterface
public interface LaunchTarget {
    /** Creates a target from the words after {@code --}, which are any existing program and its arguments. */
    static LaunchTarget ofCommand(List<String> words, ProgramFinder programs) {
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
     * {@return the command line of a rank: program and arguments, the same for all ranks}
     *
     * @param folder folder for files that live as long as the job
     * @param few    whether a rank has fewer than two cores
     * @throws IOException if a file cannot be written
     */
    List<String> commandLine(Path folder, boolean few) throws IOException;

    /** Returns class path and flags of the ranks' JVMs; empty if the program does not use these settings. */
    default Optional<JavaSettings> java() {
        return Optional.empty();
    }

    /** Returns ferro's settings on the command line of the ranks, which have precedence over variables. */
    default Map<String, String> properties() {
        return java().map(JavaSettings::properties).orElse(Map.of());
    }

    /** Whether ranks may find back ends that are not on the launcher's class path. Any command may find some. */
    default boolean mayBringBackends() {
        return java().map(JavaSettings::mayBringBackends).orElse(true);
    }

    /** Returns remarks about unusual input that may be intended, such as a missing folder of the class path. */
    default List<String> remarks() {
        return java().map(JavaSettings::remarks).orElse(List.of());
    }

    /** Whether exit code 2 of a rank means that rank 0 has printed what is wrong with the arguments. */
    default boolean saysWhatIsWrong() {
        return false;
    }
}
