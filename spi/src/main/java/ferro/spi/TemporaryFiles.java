package ferro.spi;

import java.nio.file.Path;
import java.util.Objects;
import java.util.Optional;

/** Look-up of the folder for temporary files, because a JVM does not read the variable TMPDIR. */
public final class TemporaryFiles {
    /** Property that sets the folder for temporary files of a JVM. */
    public static final String PROPERTY = "java.io.tmpdir";

    /** Value of the property on Linux if the command line does not set the property. */
    private static final String OF_THE_JVM = "/tmp";

    private TemporaryFiles() {}

    /**
     * Returns the folder for temporary files: the folder of the property {@value #PROPERTY} if the property is set,
     * otherwise the folder of TMPDIR if TMPDIR is set, otherwise {@code /tmp}.
     *
     * @param context source of the variable TMPDIR
     * @return absolute path; the folder need not exist
     */
    public static Path folder(RankContext context) {
        return folder(Settings.TMPDIR.find(context));
    }

    /**
     * Returns the folder for temporary files of a process without a context.
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
