package ferro.launcher.output;

import java.io.IOException;
import java.lang.ProcessBuilder.Redirect;
import java.nio.charset.StandardCharsets;
import java.util.Optional;

/**
 * Finds out which streams of this process are terminals. Java's own answer (System.console) depends on standard input as
 * well.
 */
final class Terminals {
    static final int OUT = 1;
    static final int ERR = 2;

    private static final String SCRIPT = "r=0; [ -t 1 ] && r=1; [ -t 2 ] && r=$((r+2)); exit $r";

    private Terminals() {}

    /** Returns the width of the terminal that standard error goes to, if the terminal reports it. */
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
