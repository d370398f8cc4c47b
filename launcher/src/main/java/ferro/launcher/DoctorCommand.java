package ferro.launcher;

import ferro.group.SystemContext;
import ferro.launcher.doctor.DoctorReport;
import ferro.launcher.input.ExitCode;
import ferro.launcher.program.ProgramFinder;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** {@code ferro doctor}: prints what works on this machine, what does not work, and how to correct the problems. */
@Command(
        name = "doctor",
        description =
                "Shows every back end and why it can or cannot work here, the address that other ranks would connect to,"
                        + " the JDK and the tools. Exit code 0 if a job of several ranks can run here, else 1.")
final class DoctorCommand implements Callable<Integer> {
    private final CommandContext world;

    @Option(names = "--json", description = "print one JSON object")
    private boolean json;

    DoctorCommand(CommandContext world) {
        this.world = world;
    }

    @Override
    public Integer call() {
        try (SystemContext context = SystemContext.ofProcess()) {
            DoctorReport diagnosis = DoctorReport.of(context, ProgramFinder.of(world.environment()));
            if (json) {
                world.out().println(diagnosis.json());
            } else {
                diagnosis.lines().forEach(world.out()::println);
            }
            return diagnosis.problems().isEmpty() ? ExitCode.OK : ExitCode.FAILED;
        }
    }
}
