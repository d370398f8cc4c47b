package ferro.launcher.program;

import ferro.launcher.input.BadInputException;
import java.nio.file.Path;
import java.util.List;

/** Any program and its arguments, as given after {@code --}. */
public record CommandTarget(List<String> words) implements Target {
    /** Makes a target of a command line. Its program must exist. */
    public static CommandTarget of(List<String> words, Programs programs) {
        if (words.isEmpty()) {
            throw new BadInputException("nothing to run: found " + words.size() + " words after --, need a command");
        }
        if (programs.find(words.get(0)).isEmpty()) {
            throw new BadInputException(
                    "command \"" + words.get(0) + "\" not found: it is not a program file, and PATH has"
                            + " no program of this name (" + programs.path() + ")");
        }
        return new CommandTarget(List.copyOf(words));
    }

    @Override
    public List<String> commandLine(Path folder, boolean few) {
        return words;
    }
}
