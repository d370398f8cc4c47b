package ferro.launcher;

import java.io.PrintStream;
import java.util.Map;

/**
 * What the command may touch of the process it runs in; tests bring their own.
 *
 * @param environment variables
 * @param screen      where jobs print
 * @param out         where commands without ranks print
 */
record World(Map<String, String> environment, Screen screen, PrintStream out) {
    static World ofProcess() {
        Map<String, String> environment = System.getenv();
        return new World(environment, Screen.ofProcess(environment), System.out);
    }

    /** Returns the same for ranks whose output reads as one text. */
    World withoutPrefixes() {
        return new World(environment, screen.withoutPrefixes(), out);
    }
}
