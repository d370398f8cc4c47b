package ferro.launcher;

import ferro.launcher.input.BadInputException;
import ferro.launcher.input.JobSpec;
import ferro.launcher.program.JavaSettings;
import ferro.launcher.program.JavaTarget;
import ferro.launcher.program.LaunchTarget;
import ferro.spi.JobTool;
import ferro.spi.Services;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.function.Supplier;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Unmatched;

/** A subcommand of another module, which starts a job whose ranks run the program of a {@link JobTool}. */
@Command
final class ToolCommand implements Callable<Integer> {
    private final CommandContext world;

    @Mixin
    private final JobTool tool;

    @Mixin
    private JobOptions options;

    private ToolCommand(CommandContext world, JobTool tool) {
        this.world = world;
        this.tool = tool;
    }

    /** Returns the subcommand with the given name, or a command that prints which module has the subcommand. */
    static Object named(String name, String module, CommandContext world) {
        for (JobTool found : Services.of(JobTool.class)) {
            if (found.name().equals(name)) {
                return new ToolCommand(world, found);
            }
        }
        return new CommandStub(module);
    }

    @Override
    public Integer call() throws Exception {
        CommandContext inside = options.settle(world);
        if (checked(tool::startsRanks)) {
            return options.job(inside, spec -> job(spec, inside)).run();
        }
        JobSpec spec = options.spec();
        List<String> command = checked(() -> tool.command(request(spec)));
        return new ProcessBuilder(command).inheritIO().start().waitFor();
    }

    private Job job(JobSpec spec, CommandContext inside) {
        JobTool.RankProgram program = checked(() -> tool.program(request(spec)));
        JavaSettings settings = JavaSettings.of(Optional.empty(), List.of(), world.environment());
        LaunchTarget target = JavaTarget.ofFerro(program.mainClass(), program.arguments(), settings);
        return new Job(spec, target, inside.withoutPrefixes());
    }

    private JobTool.ToolRequest request(JobSpec spec) {
        return new JobTool.ToolRequest(spec.placement().worldSize(), spec.links(), world.checkout());
    }

    /** Calls the tool. A refusal of the tool means that the user has typed a wrong value. */
    private static <T> T checked(Supplier<T> question) {
        try {
            return question.get();
        } catch (IllegalArgumentException misuse) {
            throw new BadInputException(misuse.getMessage(), misuse);
        }
    }

    /** A replacement of a subcommand whose module is not on the class path. */
    @Command(description = "Not available here: its module is not on the class path.")
    private static final class CommandStub implements Callable<Integer> {
        private final String module;

        @Unmatched
        private List<String> given;

        CommandStub(String module) {
            this.module = module;
        }

        @Override
        public Integer call() {
            throw new BadInputException("needs " + module
                    + ", which is not on the class path: add its jar, or start ./ferro of a checkout");
        }
    }
}
