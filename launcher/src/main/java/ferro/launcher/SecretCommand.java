package ferro.launcher;

import ferro.backend.tcp.net.SecretFile;
import ferro.launcher.input.BadInputException;
import ferro.launcher.input.ExitCode;
import java.io.IOException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;

/** {@code ferro secret}: creates the secret by which the ranks of a job on several hosts authenticate to each other. */
@Command(
        name = "secret",
        description = "Writes a fresh secret to a new file of mode 0600: 32 random bytes in hexadecimal.",
        footer = {
            "",
            "Give the same file to every host of a job: ferro run --secret-file FILE, or FERRO_SECRET_FILE=FILE if"
                    + " another launcher starts the ranks."
        })
final class SecretCommand implements Callable<Integer> {
    private final CommandContext world;

    @Parameters(paramLabel = "FILE", description = "file to create; must not exist yet")
    private Path file;

    SecretCommand(CommandContext world) {
        this.world = world;
    }

    @Override
    public Integer call() {
        try {
            SecretFile.create(file);
        } catch (FileAlreadyExistsException there) {
            throw new BadInputException(
                    file + " exists, and ferro secret overwrites no file: remove it, or name another file", there);
        } catch (IOException failure) {
            throw new BadInputException(
                    file + " cannot be written (" + failure + "): need a new file in an existing folder", failure);
        }
        world.out().println(file.toAbsolutePath());
        return ExitCode.OK;
    }
}
