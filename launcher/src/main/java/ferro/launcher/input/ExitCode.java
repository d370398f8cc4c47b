package ferro.launcher.input;

import java.util.Optional;

/** Exit codes in the numbering of a shell, in which signal n ends a program with exit code 128 + n. */
public final class ExitCode {
    /** The exit code of success. */
    public static final int OK = 0;
    /** The exit code of a command that failed. */
    public static final int FAILED = 1;
    /** The exit code of a command whose input was wrong. */
    public static final int BAD_INPUT = 2;
    /** The exit code after the reader has closed the output. SIGPIPE ends other programs with this code. */
    public static final int OUTPUT_CLOSED = 128 + 13;

    /** Names of signals on Linux, by number from 1; see signal(7). */
    private static final String[] SIGNALS = {
        "HUP", "INT", "QUIT", "ILL", "TRAP", "ABRT", "BUS", "FPE", "KILL", "USR1", "SEGV", "USR2", "PIPE", "ALRM",
        "TERM", "STKFLT", "CHLD", "CONT", "STOP", "TSTP", "TTIN", "TTOU", "URG", "XCPU", "XFSZ", "VTALRM", "PROF",
        "WINCH", "IO", "PWR", "SYS"
    };

    private ExitCode() {}

    /** Returns the meaning of an exit code in words. */
    public static String describe(int code) {
        return signal(code)
                .map(name -> "ended by signal " + name + " (exit code " + code + ")")
                .orElse("exit code " + code);
    }

    /** Whether a signal ended the program. */
    public static boolean isSignal(int code) {
        return code > 128 && code - 128 <= SIGNALS.length;
    }

    /** Returns the name of the signal that ended a program, without SIG. */
    public static Optional<String> signal(int code) {
        return isSignal(code) ? Optional.of(SIGNALS[code - 129]) : Optional.empty();
    }

    /** Returns the exit code of a program that a signal ended. */
    public static int ofSignal(String name) {
        for (int number = 1; number <= SIGNALS.length; number++) {
            if (SIGNALS[number - 1].equals(name)) {
                return 128 + number;
            }
        }
        return FAILED;
    }
}
