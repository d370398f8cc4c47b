package ferro.launcher;

import java.io.IOException;
import java.io.OutputStream;
import java.lang.ProcessBuilder.Redirect;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Starts any command as leader of its own process group, tied to the life of this process.
 *
 * <p>The command's group holds one more process, a shell that reads a pipe whose other end only we hold. A line read is the
 * name of a signal for the whole group; the end of the file means that we are gone, by kill -9 too, and the group is killed.
 * ({@code setpriv --pdeathsig} does not serve: it fires when the Java thread that started the rank ends.)
 *
 * <p>A group of its own takes {@code setsid}, or {@code perl} where that is missing (macOS). Where there is neither, ranks
 * are ordinary children: signals reach the rank alone, and a kill -9 of the launcher leaves them running.
 */
final class Leash {
    /** The shell steps out of the way by exec, so that the pid we started is the rank's own. */
    private static final String SCRIPT = """
            exec 3<&0 </dev/null
            ( ( trap '' HUP INT QUIT TERM USR1 USR2 TSTP
                while read -r signal <&3; do kill -s "$signal" -- "-$$"; done
                kill -s KILL -- "-$$" ) >/dev/null 2>&1 & )
            exec "$@" 3<&-
            """;

    private static final List<String> BY_SETSID = List.of("setsid");
    private static final List<String> BY_PERL = List.of(
            "perl",
            "-MPOSIX",
            "-e",
            "POSIX::setsid() >= 0 or die \"setsid: $!\"; exec { $ARGV[0] } @ARGV or die \"exec: $!\"");

    private final List<String> session;

    private Leash(List<String> session) {
        this.session = session;
    }

    /** Finds the way that works on this machine. */
    static Leash find(Programs programs) {
        if (programs.find("sh").isEmpty()) {
            return new Leash(List.of());
        }
        if (programs.find("setsid").isPresent()) {
            return new Leash(BY_SETSID);
        }
        return programs.find("perl").isPresent() ? new Leash(BY_PERL) : new Leash(List.of());
    }

    /** Returns why ranks outlive a kill -9 of the launcher here, or nothing if they do not. */
    Optional<String> missing() {
        return holds()
                ? Optional.empty()
                : Optional.of(
                        "neither setsid nor perl was found, or no sh: a kill -9 of the launcher leaves ranks running");
    }

    /** Returns the program that makes the session. */
    String means() {
        return holds() ? session.get(0) : "nothing";
    }

    boolean holds() {
        return !session.isEmpty();
    }

    /** Returns the command line that puts the command on the leash; its standard input must be a pipe. */
    List<String> wrap(List<String> command) {
        return holds() ? script(SCRIPT, command) : command;
    }

    /** Returns the command line of a shell script in a session of its own, which no key pressed at the terminal reaches. */
    List<String> script(String script, List<String> arguments) {
        List<String> line = new ArrayList<>(session);
        line.addAll(List.of("sh", "-c", script, "ferro-leash"));
        line.addAll(arguments);
        return line;
    }

    /** Sends a signal to a process and all of its group; one that has ended needs none. */
    void signal(Process process, String name) {
        if (!process.isAlive()) {
            return;
        }
        if (!holds()) {
            signalAlone(process.toHandle(), name);
        } else if (name.equals("KILL")) {
            killGroup(process);
        } else {
            tell(process, name);
        }
    }

    /** Lets go: whatever is left of the group is killed. */
    void release(Process process) throws IOException {
        process.getOutputStream().close();
    }

    private static void tell(Process process, String name) {
        try {
            OutputStream pipe = process.getOutputStream();
            pipe.write((name + "\n").getBytes(StandardCharsets.US_ASCII));
            pipe.flush();
        } catch (IOException unread) {
            // somebody has ended the shell that reads: the handle, unlike the process, leaves our streams open
            process.toHandle().destroy();
        }
    }

    /** Not by the leash, which may be stopped together with its group. */
    private static void killGroup(Process process) {
        try {
            new ProcessBuilder("sh", "-c", "kill -s KILL -- \"-$1\"", "ferro-leash", "" + process.pid())
                    .redirectOutput(Redirect.DISCARD)
                    .redirectError(Redirect.DISCARD)
                    .start();
        } catch (IOException noProcessLeft) {
            // the leash kills the children when we end; the rank itself can go now
            process.toHandle().destroyForcibly();
        }
    }

    private static void signalAlone(ProcessHandle process, String name) {
        if (name.equals("KILL")) {
            process.descendants().forEach(ProcessHandle::destroyForcibly);
            process.destroyForcibly();
        } else {
            process.destroy();
        }
    }
}
