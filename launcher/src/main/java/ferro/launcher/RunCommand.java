package ferro.launcher;

import ferro.launcher.input.DebuggedRanks;
import ferro.launcher.input.JobSpec;
import ferro.launcher.input.RestartLimit;
import ferro.launcher.program.JavaSettings;
import ferro.launcher.program.JavaTarget;
import ferro.launcher.program.LaunchTarget;
import ferro.launcher.program.ProgramFinder;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code ferro run}: starts a program of the user as the ranks of a job. */
@Command(
        name = "run",
        description = "Starts the ranks of a job, shows their output, and ends all ranks if one fails.",
        customSynopsis = "ferro run [-n RANKS] [OPTIONS] (Main.java | app.jar | main class | -- command) [ARGUMENTS]",
        footer = {
            "",
            "Every rank finds RANK, WORLD_SIZE, LOCAL_RANK, LOCAL_WORLD_SIZE, MASTER_ADDR, MASTER_PORT, FERRO_JOB_ID and"
                    + " FERRO_SECRET_FILE in its environment. If srun starts ferro run once per node, --nodes, --node-rank and"
                    + " --master come from the Slurm step. The exit code is that of the rank that failed first,"
                    + " 128 + n for signal n, or 2 if no rank was started.",
            "",
            "Examples:",
            "  ferro run -n 4 Main.java                     compiled first; four ranks here",
            "  ferro run -n 2 -J-Xmx4g app.jar --epochs 3   program's options come last",
            "  ferro run -n 4 -cp target/classes app.Main   a class of a project",
            "  ferro run -n 4 -- ./program one two          any command; RANK is its rank",
            "  ferro run -n 4 --debug 1 Main.java           rank 1 waits for a debugger",
            "  ferro run -n 4 --restarts 3 Main.java        starts again after a failure",
            "  ferro secret job.secret                      then, on both hosts:",
            "  ferro run --nodes 2 --node-rank 0 --master host-a:29500 \\",
            "      --secret-file job.secret -n 4 Main.java  on the other: --node-rank 1"
        })
final class RunCommand implements Callable<Integer> {
    private final CommandContext world;

    @Spec
    private CommandSpec command;

    @Mixin
    private JobOptions options;

    @Option(
            names = {"-cp", "--class-path"},
            paramLabel = "PATH",
            description =
                    "class path of the program, placed before ferro's jars (default: CLASSPATH, else this folder, placed"
                            + " after ferro's jars)")
    private String classPath;

    @Option(names = "-J", paramLabel = "OPTION", description = "JVM option of every rank, for example -J-Xmx2g")
    private List<String> jvmOptions;

    @Option(
            names = "--debug",
            paramLabel = "RANK",
            split = ",",
            description =
                    "let this rank, or these ranks (--debug 0,2), wait for a debugger on a free port of this host,"
                            + " and turn off all time limits of the job")
    private Set<Integer> debugged = Set.of();

    @Option(
            names = "--restarts",
            paramLabel = "N",
            description = "if the job fails, start all ranks again, at most N times (default: ${DEFAULT-VALUE})",
            defaultValue = "0")
    private int restarts;

    @Option(
            names = "--restart-window",
            paramLabel = "TIME",
            description = "count only the failures of the last TIME, for example 1h, against --restarts"
                    + " (default: count all failures)")
    private String restartWindow;

    @Parameters(hidden = true)
    private List<String> words;

    RunCommand(CommandContext world) {
        this.world = world;
    }

    @Override
    public Integer call() throws Exception {
        CommandContext inside = options.settle(world);
        List<String> given = words == null ? List.of() : words;
        if (!behindDashes(given.size())) {
            OptionSuggester.behindProgram(given, command).ifPresent(world.screen()::note);
        }
        return options.job(inside, spec -> {
                    JobSpec checked =
                            spec.debugging(new DebuggedRanks(debugged)).restarting(restarts());
                    return new Job(checked, target(given), inside);
                })
                .run();
    }

    private RestartLimit restarts() {
        return new RestartLimit(
                restarts, Optional.ofNullable(restartWindow).map(text -> JobOptions.time("--restart-window", text)));
    }

    private LaunchTarget target(List<String> given) {
        if (behindDashes(given.size())) {
            new DebuggedRanks(debugged).refuse(String.join(" ", given));
            return LaunchTarget.ofCommand(List.copyOf(given), ProgramFinder.of(world.environment()));
        }
        List<String> jvm = jvmOptions == null ? List.of() : jvmOptions;
        return JavaTarget.of(given, JavaSettings.of(Optional.ofNullable(classPath), jvm, world.environment()));
    }

    /** Whether {@code --} precedes the words of the program. The parser removes {@code --} from the words. */
    private boolean behindDashes(int words) {
        List<String> all = command.commandLine().getParseResult().originalArgs();
        int before = all.size() - words - 1;
        return before >= 0 && all.get(before).equals("--");
    }
}
