package ferro.launcher.program;

import ferro.launcher.input.BadInputException;
import java.nio.file.Path;

/**
 * Checks that the JVMs of ranks can read the names of their files and classes. In a locale that knows ASCII only, a JVM finds
 * no file and no class with another letter in its name.
 */
final class ReadableNames {
    /** Property that the script {@code ferro} sets where the locale of its user knows ASCII only. */
    private static final String LOCALE = "ferro.lc_all";

    private ReadableNames() {}

    /** Refuses the names of a Java program that its JVM cannot read. */
    static void checkProgram(String mainClass, ClassPath path) {
        // the JDK reads its name when ferro is loaded
        check("current folder", Path.of("").toAbsolutePath().toString());
        check("main class", mainClass);
        path.entries().forEach(entry -> check("class path entry", entry));
    }

    /** Refuses a name that the ranks cannot read. */
    static void check(String what, String name) {
        if (System.getProperty(LOCALE) != null && name.chars().anyMatch(letter -> letter > 0x7f)) {
            throw new BadInputException(what + " " + name
                    + ": a JVM cannot read this name, because the locale supports only ASCII: set LC_ALL=C.UTF-8");
        }
    }
}
