package ferro.launcher;

import ferro.launcher.output.Screen;
import java.io.PrintStream;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;

/**
 * The parts of its process that the command may use; tests pass their own.
 *
 * @param environment environment variables
 * @param screen      where jobs print
 * @param out         where commands without ranks print
 * @param checkout    the checkout that the command was started from, if it was
 */
record World(Map<String, String> environment, Screen screen, PrintStream out, Optional<Path> checkout) {
    /** Property in which the script {@code ferro} passes its folder; only the script sets it. */
    private static final String HOME = "ferro.home";

    static World ofProcess() {
        Map<String, String> environment = System.getenv();
        return new World(
                environment,
                Screen.ofProcess(environment),
                System.out,
                Optional.ofNullable(System.getProperty(HOME)).map(Path::of));
    }

    /** Returns a copy with one more variable. */
    World with(String name, String value) {
        Map<String, String> more = new HashMap<>(environment);
        more.put(name, value);
        return new World(more, screen, out, checkout);
    }

    /** Returns a copy for ranks whose output is one text. */
    World withoutPrefixes() {
        return new World(environment, screen.withoutPrefixes(), out, checkout);
    }
}
