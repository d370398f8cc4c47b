package ferro.launcher.program;

import ferro.launcher.input.BadInputException;
import java.nio.file.Path;

/**
 * Checks that the JVMs of ranks can read the names of files and classes. In a locale that supports only ASCII, a JVM
 * cannot find a file or class whose name has other characters.
 */
final class NameEncodingCheck {
    /** Property that the script {@code ferro} sets if the user's locale supports only ASCII. */
    private static final String LOCALE = "ferro.lc_all";

    private NameEncodingCheck() {}

    /** Refuses a Java program with names that its JVM cannot read. */
    static void checkProgram(String mainClass, ClassPath path) {
        // the JDK reads the name of this folder when ferro is loaded
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
