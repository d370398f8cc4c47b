package ferro.launcher;

import ferro.launcher.output.Screen;
import java.io.PrintStream;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;

/**
 * The resources of the process that the command may use. Tests pass other resources.
 *
 * @param environment environment variables
 * @param screen      output of jobs
 * @param out         output of commands without ranks
 * @param checkout    checkout from which the command was started; empty if the command was started in another way
 */
record CommandContext(Map<String, String> environment, Screen screen, PrintStream out, Optional<Path> checkout) {
    /** Property in which the script {@code ferro} passes its folder. Only the script sets this property. */
    private static final String HOME = "ferro.home";

    /**
     * Property in which the script {@code ferro} passes the user's LC_ALL after an equals sign, or an empty text if
     * LC_ALL is unset. The JVM of the launcher may run with another LC_ALL.
     */
    private static final String LOCALE = "ferro.lc_all";

    private static final String LOCALE_VARIABLE = "LC_ALL";

    static CommandContext ofProcess() {
        Map<String, String> environment = ofUser(System.getenv(), System.getProperty(LOCALE));
        return new CommandContext(
                environment,
                Screen.ofProcess(environment),
                System.out,
                Optional.ofNullable(System.getProperty(HOME)).map(Path::of));
    }

    /** Returns the environment in which the user called the script. */
    static Map<String, String> ofUser(Map<String, String> environment, String locale) {
        if (locale == null) {
            return environment;
        }
        Map<String, String> ofUser = new HashMap<>(environment);
        ofUser.remove(LOCALE_VARIABLE);
        if (!locale.isEmpty()) {
            ofUser.put(LOCALE_VARIABLE, locale.substring(1));
        }
        return Map.copyOf(ofUser);
    }

    CommandContext with(String name, String value) {
        Map<String, String> more = new HashMap<>(environment);
        more.put(name, value);
        return new CommandContext(more, screen, out, checkout);
    }

    /** Returns a copy of this context for ranks that together print one text. */
    CommandContext withoutPrefixes() {
        return new CommandContext(environment, screen.withoutPrefixes(), out, checkout);
    }
}
