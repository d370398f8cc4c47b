package ferro.distribution;

import ferro.launcher.FerroCommand;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import picocli.AutoComplete;
import picocli.CommandLine;
import picocli.CommandLine.Model.CommandSpec;
import picocli.codegen.docgen.manpage.ManPageGenerator;

/** Writes the shell completion and the sources of the man pages of the {@code ferro} command, for the distribution. */
final class Manual {
    private Manual() {}

    /**
     * Writes {@code ferro}, the completion for bash and zsh, and {@code man/ferro.adoc} with a page for each subcommand beside it.
     *
     * @param arguments the folder
     * @throws IOException if a file cannot be written
     */
    public static void main(String[] arguments) throws IOException {
        Path folder = Files.createDirectories(Path.of(arguments[0]));
        CommandLine ferro = FerroCommand.commandLine();
        Files.writeString(folder.resolve("ferro"), AutoComplete.bash("ferro", ferro));
        CommandSpec[] pages = {ferro.getCommandSpec()};
        int failed =
                ManPageGenerator.generateManPage(folder.resolve("man").toFile(), null, new boolean[0], true, pages);
        if (failed != 0) {
            throw new IOException("picocli wrote no man pages to " + folder + " (exit code " + failed + ")");
        }
    }
}
