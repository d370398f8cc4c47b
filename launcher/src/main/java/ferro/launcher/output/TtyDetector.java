package ferro.launcher.output;

import java.io.IOException;
import java.lang.ProcessBuilder.Redirect;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;

/** Detects which streams of this process are terminals. Java's System.console also depends on standard input. */
final class TtyDetector {
    static final int OUT = 1;
    static final int ERR = 2;

    /** Bits of a file's mode that give the file's type, and the values for pipes and sockets; see stat(2). */
    private static final int KIND = 0170000;

    private static final int PIPE = 0010000;
    private static final int SOCKET = 0140000;

    private static final String SCRIPT = "r=0; [ -t 1 ] && r=1; [ -t 2 ] && r=$((r+2)); exit $r";

    private TtyDetector() {}

    /** Returns the width of the terminal of standard error, if the terminal reports the width. */
    static Optional<Integer> columnsOfErr() {
        try {
            Process asked = new ProcessBuilder("sh", "-c", "stty size <&2 2>/dev/null")
                    .redirectError(Redirect.INHERIT)
                    .start();
            String rowsAndColumns = new String(asked.getInputStream().readAllBytes(), StandardCharsets.US_ASCII);
            int columns = Integer.parseInt(
                    rowsAndColumns.substring(rowsAndColumns.indexOf(' ') + 1).trim());
            return columns > 0 ? Optional.of(columns) : Optional.empty();
        } catch (IOException | NumberFormatException untold) {
            return Optional.empty();
        }
    }

    /**
     * Returns whether standard output is a file or a device. Unlike a file, a pipe or a socket has a reader that may go
     * away. Returns false if the type is unknown.
     */
    static boolean outIsOnDisk() {
        try {
            int kind = (int) Files.getAttribute(Path.of("/dev/fd/1"), "unix:mode") & KIND;
            return kind != PIPE && kind != SOCKET;
        } catch (IOException | UnsupportedOperationException untold) {
            return false;
        }
    }

    static int find() {
        try {
            return new ProcessBuilder("sh", "-c", SCRIPT)
                    .redirectOutput(Redirect.INHERIT)
                    .redirectError(Redirect.INHERIT)
                    .start()
                    .waitFor();
        } catch (IOException noShell) {
            return 0;
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
            return 0;
        }
    }
}
