package ferro.launcher;

import ferro.launcher.input.BadInputException;
import ferro.launcher.input.ExitCode;
import ferro.launcher.input.JobSpec;
import ferro.launcher.program.ArchivingTarget;
import ferro.launcher.program.ClassPath;
import ferro.launcher.program.ProgramFinder;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code ferro archive}: creates a file with the classes of a program, so that later JVMs start faster. */
@Command(
        name = "archive",
        description = "Runs a program once as a job on this host, and writes the classes that rank 0 has loaded into an"
                + " archive. Ranks that are started with java and this archive start faster.",
        customSynopsis = "ferro archive -cp PATH [--to FILE] [-n RANKS] main class [ARGUMENTS]",
        footer = {
            "",
            "The ranks need the JDK that made the archive, and a class path that begins with PATH.",
            "",
            "Example:",
            "  ferro archive -cp \"$(ferro classpath):app.jar\" --to app.jsa app.Main --epochs 1"
        })
final class ArchiveCommand implements Callable<Integer> {
    private final CommandContext world;

    @Spec
    private CommandSpec command;

    @Option(
            names = {"-cp", "--class-path"},
            paramLabel = "PATH",
            required = true,
            description = "class path of the ranks: jars only, as the archive of a JVM holds no classes of folders")
    private String classPath;

    @Option(
            names = "--to",
            paramLabel = "FILE",
            defaultValue = "ferro.jsa",
            description = "archive (default: ferro.jsa)")
    private Path file;

    @Option(
            names = {"-n", "--ranks"},
            paramLabel = "RANKS",
            defaultValue = "2",
            description = "ranks of the job (default: 2)")
    private int ranks;

    @Parameters(hidden = true, arity = "1..*")
    private List<String> words;

    ArchiveCommand(CommandContext world) {
        this.world = world;
    }

    @Override
    public Integer call() throws Exception {
        if (ranks < 1) {
            throw new BadInputException("--ranks " + ranks + ": need 1 or more");
        }
        OptionSuggester.behindProgram(words, command).ifPresent(world.screen()::note);
        Path archive = file.toAbsolutePath().normalize();
        ClassPath path = ClassPath.parse(classPath);
        checkWritable(archive, path);
        // an earlier archive stays unchanged if the job fails
        Path made = archive.resolveSibling(archive.getFileName() + ".new");
        ArchivingTarget target = ArchivingTarget.of(made, path, words, ProgramFinder.of(world.environment()));
        try {
            int code = new Job(JobSpec.onThisHost(ranks), target, world).run();
            if (code == ExitCode.OK) {
                keep(made, archive);
            }
            return code;
        } finally {
            Files.deleteIfExists(made);
        }
    }

    private void checkWritable(Path archive, ClassPath path) {
        Path folder = archive.getParent();
        boolean isFile =
                folder != null && !Files.isDirectory(archive) && !path.entries().contains(archive.toString());
        if (!isFile || !Files.isWritable(folder)) {
            throw new BadInputException(
                    "--to " + file
                            + ": cannot write the archive there: need a file that is not on the class path, in a folder of yours");
        }
    }

    private void keep(Path made, Path archive) throws IOException {
        if (!Files.isRegularFile(made)) {
            throw new BadInputException("the JVM of rank 0 has not written " + made + ": see its output above");
        }
        Files.move(made, archive, StandardCopyOption.REPLACE_EXISTING);
        world.out()
                .printf(
                        "%s: %d MB. Start each rank with%n  java %s -cp %s %s%n",
                        file, Files.size(archive) >> 20, ArchivingTarget.use(archive), classPath, words.get(0));
    }
}
