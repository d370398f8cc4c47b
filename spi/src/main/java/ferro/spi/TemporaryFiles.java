package ferro.spi;

import java.nio.file.Path;
import java.util.Objects;
import java.util.Optional;

/** Finds the folder for temporary files. A JVM does not read the variable TMPDIR by itself. */
public final class TemporaryFiles {
    /** Property that names the folder for a JVM. */
    public static final String PROPERTY = "java.io.tmpdir";

    /** The value of the property on Linux where nobody has set it. */
    private static final String OF_THE_JVM = "/tmp";

    private TemporaryFiles() {}

    /**
     * Returns the folder that this JVM was told to use by {@value #PROPERTY}, else the folder of TMPDIR, else {@code /tmp}.
     *
     * @param context where to look for TMPDIR
     * @return absolute path; the folder need not exist
     */
    public static Path folder(RankContext context) {
        return folder(Settings.TMPDIR.find(context));
    }

    /**
     * Returns the same folder for a process that has no context.
     *
     * @param named value of TMPDIR; empty or blank if it names no folder
     * @return absolute path; the folder need not exist
     */
    public static Path folder(Optional<String> named) {
        return folder(System.getProperty(PROPERTY), Objects.requireNonNull(named, "named"));
    }

    static Path folder(String told, Optional<String> named) {
        String folder =
                told.equals(OF_THE_JVM) ? named.filter(text -> !text.isBlank()).orElse(told) : told;
        return Path.of(folder).toAbsolutePath();
    }
}
