package ferro.launcher.input;

import ferro.spi.LinuxFiles;
import java.io.File;
import java.nio.file.Path;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.stream.Stream;

/**
 * Compares the number of open files and sockets that a process may have on this host with the number that a job needs.
 *
 * @param limit limit of the system for one process; empty if the limit is unknown, or if the system has no limit
 * @param jars  number of jars on the class path; the launcher and each rank keep each jar open
 */
public record DescriptorCheck(OptionalLong limit, int jars) {
    /*
     * Measured on Linux, JDK 17, 2 to 16 ranks on one host, after two all-reduces. In addition to the jars, a launcher
     * has 14 files open, and 4 for each of its ranks. A rank has 20 files open, and 2 for each rank of the job over
     * shared memory; over TCP it has fewer. The constants add a few to these numbers.
     */
    private static final int OF_LAUNCHER = 18;
    /** Open files of a command at its start. A measurement showed 6 open files before the first action. */
    private static final int OF_START = 8;

    private static final int PER_RANK = 4;
    private static final int OF_RANK = 24;
    private static final int PER_PEER = 2;
    /** Open files of the compiler. On JDK 17 and 25, each jar is open twice, and 9 or 10 other files are open. */
    private static final int OF_COMPILER = 12;

    /** Reads the limit and the class path of this process. The ranks of this process have the same values. */
    public static DescriptorCheck ofThisProcess() {
        return new DescriptorCheck(limitOfThisProcess(), jarsOn(System.getProperty("java.class.path")));
    }

    private static OptionalLong limitOfThisProcess() {
        String limits = LinuxFiles.HOST.field("self/limits", "Max open files").orElse("");
        String soft = limits.split("\\s+")[0];
        return soft.matches("[0-9]{1,18}") ? OptionalLong.of(Long.parseLong(soft)) : OptionalLong.empty();
    }

    /** Returns the number of entries of a class path that are files. */
    public static int jarsOn(String classPath) {
        return (int) Stream.of(classPath.split(File.pathSeparator))
                .filter(entry -> new File(entry).isFile())
                .count();
    }

    /**
     * Refuses to continue if this process cannot even load its classes.
     *
     * @throws BadInputException if this process needs more open files than its limit allows
     */
    public void checkLauncher() {
        shortage("the launcher", (long) jars + OF_START).ifPresent(shortage -> {
            throw new BadInputException(shortage);
        });
    }

    /**
     * Refuses a job that cannot run. Called before anything is started.
     *
     * @throws BadInputException if the launcher or one of its ranks needs more open files than the limit allows
     */
    public void check(Placement placement) {
        shortFor(placement).ifPresent(shortage -> {
            throw new BadInputException(shortage + ", or start fewer ranks");
        });
    }

    /**
     * Refuses to compile if the limit of open files is too low. With too few open files, the compiler reports unrelated
     * errors.
     *
     * @param file          the source file
     * @param jarsOfProgram number of jars on the class path of the source file, with the jars of ferro
     * @throws BadInputException if the launcher needs more open files than the limit allows
     */
    public void checkCompiler(Path file, int jarsOfProgram) {
        shortage("compiling " + file, compilerNeeds(jarsOfProgram)).ifPresent(shortage -> {
            throw new BadInputException(shortage + ", or give the name of a compiled class");
        });
    }

    /** Returns why a job cannot run, and how to raise the limit; empty if the job can run. */
    public Optional<String> shortFor(Placement placement) {
        long need = Math.max(
                jars + OF_LAUNCHER + (long) PER_RANK * placement.ranksHere(),
                jars + OF_RANK + (long) PER_PEER * placement.worldSize());
        return shortage(
                "a job of " + placement.worldSize() + " ranks, " + placement.ranksHere() + " of them on this host,",
                need);
    }

    /** Returns why no source file can be compiled, and how to raise the limit; empty if the limit is high enough. */
    public Optional<String> shortForCompiler() {
        return shortage("compiling a source file", compilerNeeds(jars));
    }

    private static long compilerNeeds(int jarsOfProgram) {
        return 2L * jarsOfProgram + OF_COMPILER;
    }

    private Optional<String> shortage(String what, long need) {
        return limit.isPresent() && limit.getAsLong() < need
                ? Optional.of(what + " needs about " + need + " open files per process, but may have only "
                        + limit.getAsLong() + ": raise the limit (ulimit -n " + roundedUp(need) + ")")
                : Optional.empty();
    }

    /** Returns how many ranks on one host the limit allows; 0 if the limit allows no rank. */
    private long ranks(long most) {
        long ours = most - jars;
        return Math.max(0, Math.min((ours - OF_LAUNCHER) / PER_RANK, (ours - OF_RANK) / PER_PEER));
    }

    /** Returns the line that {@code ferro doctor} prints. */
    public String text() {
        return limit.isEmpty()
                ? "no limit known"
                : "at most " + limit.getAsLong() + " per process, enough for about " + ranks(limit.getAsLong())
                        + " ranks on this host (ulimit -n)";
    }

    /** Rounds a limit up, because the program needs descriptors in addition to ferro. */
    private static long roundedUp(long need) {
        return Math.max(1024, Long.highestOneBit(need) * 4);
    }
}
