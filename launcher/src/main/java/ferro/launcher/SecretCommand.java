package ferro.launcher;

import ferro.backend.tcp.connect.SecretFile;
import ferro.launcher.input.BadInputException;
import ferro.launcher.input.ExitCode;
import java.io.IOException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code ferro secret}: makes the secret by which the ranks of a job on several hosts authenticate to each other. */
@Command(
        name = "secret",
        description = "Writes a fresh secret to a new file of mode 0600: 32 random bytes in hexadecimal.",
        footer = {
            "",
            "Hand the same file to every host of a job: ferro run --secret-file FILE, or FERRO_SECRET_FILE=FILE where"
                    + " another launcher starts the ranks."
        })
final class SecretCommand implements Callable<Integer> {
    private final World world;

    @Parameters(paramLabel = "FILE", description = "to write; must not be there yet")
    private Path file;

    @Option(
            names = {"-h", "--help"},
            usageHelp = true,
            description = "show this text")
    private boolean help;

    SecretCommand(World world) {
        this.world = world;
    }

    @Override
    public Integer call() {
        try {
            SecretFile.create(file);
        } catch (FileAlreadyExistsException there) {
            throw new BadInputException(
                    file + " is there already, and no file is overwritten: remove it, or name another", there);
        } catch (IOException failure) {
            throw new BadInputException(
                    file + " cannot be written (" + failure + "): need a new file in a folder that is there", failure);
        }
        world.out().println(file.toAbsolutePath());
        return ExitCode.OK;
    }
}
