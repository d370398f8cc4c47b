package ferro.launcher;

import ferro.spi.NearestName;
import ferro.spi.Setting;
import ferro.spi.Settings;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import picocli.CommandLine;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParseResult;

/** Finds the option or the setting that the user meant by a mistyped option. */
final class OptionSuggester {
    private static final int MAX_MISTYPED = 2;
    /** Length of a name below which only one letter may be wrong. A short name is similar to many other names. */
    private static final int SHORT_NAME = 5;

    private static final String RANKS = "-n";

    /** Options of other launchers or of other ferro commands, with the options of ferro that have the same effect. */
    private static final Map<String, String> SAME = Map.of(
            "np", RANKS,
            "nproc", RANKS,
            "nproc-per-node", RANKS,
            "ntasks", RANKS,
            "world-size", RANKS,
            "nnodes", "--nodes",
            "timeout", "--wait");

    /** Options of a job as users often type them: with an attached value, or with mpirun's name. */
    private static final Pattern SHORT = Pattern.compile("-np|-n\\d+|-J.+");

    private OptionSuggester() {}

    /** Returns advice about an option that the parser has refused; empty if no option of ferro is similar. */
    static Optional<String> of(CommandLine.ParameterException refused) {
        CommandSpec command = refused.getCommandLine().getCommandSpec();
        if (refused instanceof CommandLine.UnmatchedArgumentException unmatched) {
            return unmatched.getUnmatched().stream()
                    .filter(word -> word.startsWith("-"))
                    .findFirst()
                    .flatMap(word -> of(word, command));
        }
        // the parser reads -np 2 as -n p
        return Optional.ofNullable(refused.getArgSpec())
                .filter(option -> option == command.findOption(RANKS) && refused.getValue() != null)
                .flatMap(option -> of(RANKS + refused.getValue(), command));
    }

    /**
     * Returns advice about an option that a command does not have.
     *
     * @param typed   option, perhaps with {@code =} and a value
     * @param command command that does not have the option
     */
    static Optional<String> of(String typed, CommandSpec command) {
        String word =
                name(typed).replaceFirst("^-+", "").replaceFirst("\\d+$", "").replace('_', '-');
        return Stream.of("--" + word, SAME.getOrDefault(word, ""))
                .filter(name -> command.findOption(name) != null)
                .findFirst()
                .or(() -> NearestName.of(
                        "--" + word,
                        List.copyOf(command.optionsMap().keySet()),
                        word.length() < SHORT_NAME ? 1 : MAX_MISTYPED))
                .map(name -> "did you mean " + name + "?")
                .or(() -> setting(word)
                        .filter(each -> command.findOption(RANKS) != null)
                        .map(each -> name(typed) + " is a setting: set the variable " + each.variable()));
    }

    private static Optional<Setting<?>> setting(String word) {
        String name = "ferro." + word.replace('-', '.');
        return Settings.all().stream().filter(each -> each.name().equals(name)).findFirst();
    }

    private static String name(String option) {
        return option.split("=", 2)[0];
    }

    /**
     * Returns a note about an option of ferro that stands after the program, because the program gets such an option.
     * Empty without such an option.
     *
     * @param words   the program and its arguments
     * @param command command that starts the program
     */
    static Optional<String> behindProgram(List<String> words, CommandSpec command) {
        ParseResult parsed = command.commandLine().getParseResult();
        return words.stream()
                .skip(1)
                .takeWhile(word -> !word.equals("--"))
                .filter(word -> word.startsWith("-"))
                .map(OptionSuggester::name)
                .filter(name -> !name.equals("-h") && !name.equals("--help"))
                .filter(name -> {
                    Matcher brief = SHORT.matcher(name);
                    String option = brief.matches() ? name.substring(0, RANKS.length()) : name;
                    return command.findOption(option) != null && !parsed.hasMatchedOption(option);
                })
                .findFirst()
                .map(name -> name + " stands behind " + words.get(0) + ", so the program gets it: options of "
                        + command.qualifiedName() + " stand before the program");
    }
}
