package ferro.launcher;

import java.io.IOException;
import java.lang.ProcessBuilder.Redirect;

/** Finds out which of our streams are terminals; Java's own answer (System.console) depends on standard input as well. */
final class Terminals {
    static final int OUT = 1;
    static final int ERR = 2;

    private static final String SCRIPT = "r=0; [ -t 1 ] && r=1; [ -t 2 ] && r=$((r+2)); exit $r";

    private Terminals() {}

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
