package ferro.launcher;

import ferro.launcher.input.ExitCode;
import ferro.launcher.program.ClassPath;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;

/** {@code ferro classpath}: prints the class path that a program needs to join a group. */
@Command(
        name = "classpath",
        description = "Prints the class path for your own programs: java -cp \"$(ferro classpath):classes\" Main")
final class ClassPathCommand implements Callable<Integer> {
    private final CommandContext world;

    ClassPathCommand(CommandContext world) {
        this.world = world;
    }

    @Override
    public Integer call() {
        world.out().println(ClassPath.ofLauncher().forPrograms());
        return ExitCode.OK;
    }
}
