package ferro.launcher.rank;

import ferro.launcher.program.ProgramFinder;
import java.io.IOException;
import java.io.OutputStream;
import java.lang.ProcessBuilder.Redirect;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * A guard that starts commands as leaders of process groups that end together with this process.
 *
 * <p>The group of a command has one more process, the guard shell. The guard shell reads a pipe whose other end only
 * this process holds. Each line in the pipe is the name of a signal for all processes of the group. When this process
 * has ended, even by kill -9, the pipe ends, and the guard shell kills the group. ({@code setpriv --pdeathsig} does not
 * work, because it sends its signal when the Java thread that started the rank ends.)
 *
 * <p>A new group needs {@code setsid}, or {@code perl} on a system without {@code setsid} (macOS). On a system without
 * {@code setsid} and {@code perl}, ranks are ordinary children. Signals then reach only the rank itself, and a kill -9
 * of the launcher leaves the ranks running.
 */
public final class ChildProcessGuard {
    /** The script of the guard, whose shell replaces itself by the command (exec) and thus has the pid of the rank. */
    private static final String SCRIPT = """
            exec 3<&0 </dev/null
            ( ( trap '' HUP INT QUIT TERM USR1 USR2 ALRM VTALRM XCPU URG TSTP
                while read -r signal <&3; do kill -s "$signal" -- "-$$"; done
                kill -s KILL -- "-$$" ) >/dev/null 2>&1 & )
            exec "$@" 3<&-
            """;

    /** Signals that the guard shell cannot forward, because they stop or kill the guard shell, too. */
    private static final Set<String> PAST_THE_GUARD = Set.of("KILL", "STOP", "CONT");

    private static final List<String> BY_SETSID = List.of("setsid");
    private static final List<String> BY_PERL = List.of(
            "perl",
            "-MPOSIX",
            "-e",
            "POSIX::setsid() >= 0 or die \"setsid: $!\"; exec { $ARGV[0] } @ARGV or die \"exec: $!\"");

    private final List<String> session;

    private ChildProcessGuard(List<String> session) {
        this.session = session;
    }

    /** Finds the method of creating groups that works on this machine. */
    public static ChildProcessGuard find(ProgramFinder programs) {
        if (programs.find("sh").isEmpty()) {
            return new ChildProcessGuard(List.of());
        }
        if (programs.find("setsid").isPresent()) {
            return new ChildProcessGuard(BY_SETSID);
        }
        return programs.find("perl").isPresent() ? new ChildProcessGuard(BY_PERL) : new ChildProcessGuard(List.of());
    }

    /** Returns why ranks survive a kill -9 of the launcher on this machine; empty if they do not survive it. */
    public Optional<String> missing() {
        return holds()
                ? Optional.empty()
                : Optional.of(
                        "found neither setsid nor perl, or no sh: ranks keep running after a kill -9 of the launcher");
    }

    /** Returns the name of the program that creates the session of a group. */
    public String means() {
        return holds() ? session.get(0) : "nothing";
    }

    /** Returns whether this machine has {@code sh} and a program that creates sessions. */
    public boolean holds() {
        return !session.isEmpty();
    }

    /** Returns the command line that starts a command with a guard shell. The standard input must be a pipe. */
    List<String> wrap(List<String> command) {
        return holds() ? script(SCRIPT, command) : command;
    }

    /** Returns the command line of a shell script in a separate session, without the signals of terminal keys. */
    public List<String> script(String script, List<String> arguments) {
        List<String> line = new ArrayList<>(session);
        line.addAll(List.of("sh", "-c", script, "ferro-leash"));
        line.addAll(arguments);
        return line;
    }

    /** Sends a signal to a process and its group. Does nothing for a process that has ended. */
    void signal(Process process, String name) {
        if (!process.isAlive()) {
            return;
        }
        if (!holds()) {
            signalAlone(process.toHandle(), name);
        } else if (PAST_THE_GUARD.contains(name)) {
            signalGroup(process, name);
        } else {
            tell(process, name);
        }
    }

    /** Suspends this process, as SIGSTOP does, until it receives CONT. */
    public static void stopThisProcess() throws IOException, InterruptedException {
        kill("STOP", "" + ProcessHandle.current().pid()).waitFor();
    }

    /** Ends the guard shell of a process. The guard shell kills the rest of the group. */
    void release(Process process) throws IOException {
        process.getOutputStream().close();
    }

    private static void tell(Process process, String name) {
        try {
            OutputStream pipe = process.getOutputStream();
            pipe.write((name + "\n").getBytes(StandardCharsets.US_ASCII));
            pipe.flush();
        } catch (IOException unread) {
            // the guard shell was ended from outside; destroying the handle, unlike the process, keeps the streams open
            process.toHandle().destroy();
        }
    }

    /** Sends a signal to a process group without the guard shell. */
    private static void signalGroup(Process process, String name) {
        try {
            kill(name, "-" + process.pid());
        } catch (IOException noProcessLeft) {
            if (name.equals("KILL")) {
                // the guard shell kills the children when this process ends; the rank itself is killed now
                process.toHandle().destroyForcibly();
            }
        }
    }

    private static Process kill(String name, String whom) throws IOException {
        return new ProcessBuilder("sh", "-c", "kill -s \"$1\" -- \"$2\"", "ferro-leash", name, whom)
                .redirectOutput(Redirect.DISCARD)
                .redirectError(Redirect.DISCARD)
                .start();
    }

    private static void signalAlone(ProcessHandle process, String name) {
        if (name.equals("KILL")) {
            process.descendants().forEach(ProcessHandle::destroyForcibly);
            process.destroyForcibly();
        } else if (SignalForwarder.ends(name)) {
            process.destroy();
        } else {
            signalAloneByShell(process, name);
        }
    }

    private static void signalAloneByShell(ProcessHandle process, String name) {
        try {
            kill(name, "" + process.pid());
        } catch (IOException noShell) {
            // Java itself sends only TERM and KILL, which would end the rank
            return;
        }
    }
}
