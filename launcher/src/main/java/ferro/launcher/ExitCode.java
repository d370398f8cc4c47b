package ferro.launcher;

/** Exit codes as a shell counts them: 128 + n for a program that signal n ended. */
final class ExitCode {
    /** All went well. */
    static final int OK = 0;
    /** It could not be done. */
    static final int FAILED = 1;
    /** What was typed makes no sense. */
    static final int BAD_INPUT = 2;
    /** The reader of the output went away, as SIGPIPE ends other programs. */
    static final int OUTPUT_CLOSED = 128 + 13;

    private static final String[] SIGNALS = {
        "HUP", "INT", "QUIT", "ILL", "TRAP", "ABRT", "BUS", "FPE", "KILL", "USR1", "SEGV", "USR2", "PIPE", "ALRM",
        "TERM"
    };

    private ExitCode() {}

    /** Says what an exit code means. */
    static String describe(int code) {
        return isSignal(code)
                ? "ended by signal " + SIGNALS[code - 129] + " (exit code " + code + ")"
                : "exit code " + code;
    }

    /** Whether a signal ended the program. */
    static boolean isSignal(int code) {
        return code > 128 && code - 128 <= SIGNALS.length;
    }

    /** Returns the exit code of a program that a signal ended. */
    static int ofSignal(String name) {
        for (int number = 1; number <= SIGNALS.length; number++) {
            if (SIGNALS[number - 1].equals(name)) {
                return 128 + number;
            }
        }
        return FAILED;
    }
}
