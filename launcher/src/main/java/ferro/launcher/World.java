package ferro.launcher;

import java.io.PrintStream;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;

/**
 * What the command may touch of the process it runs in; tests bring their own.
 *
 * @param environment variables
 * @param screen      where jobs print
 * @param out         where commands without ranks print
 * @param checkout    the checkout that the command was started from, if it was
 */
record World(Map<String, String> environment, Screen screen, PrintStream out, Optional<Path> checkout) {
    /** How the script {@code ferro} says where it stands; nobody else sets it. */
    private static final String HOME = "ferro.home";

    static World ofProcess() {
        Map<String, String> environment = System.getenv();
        return new World(
                environment,
                Screen.ofProcess(environment),
                System.out,
                Optional.ofNullable(System.getProperty(HOME)).map(Path::of));
    }

    /** Returns the same with one variable more. */
    World with(String name, String value) {
        Map<String, String> more = new HashMap<>(environment);
        more.put(name, value);
        return new World(more, screen, out, checkout);
    }

    /** Returns the same for ranks whose output reads as one text. */
    World withoutPrefixes() {
        return new World(environment, screen.withoutPrefixes(), out, checkout);
    }
}
