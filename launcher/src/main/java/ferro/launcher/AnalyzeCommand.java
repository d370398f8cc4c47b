package ferro.launcher;

import ferro.launcher.analyze.Analysis;
import ferro.launcher.analyze.UnreadableRecordingException;
import ferro.launcher.input.BadInputException;
import ferro.launcher.input.ExitCode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code ferro analyze}: determines from the flight recordings of a job's ranks which rank is to blame. */
@Command(
        name = "analyze",
        description = "Reads the flight recordings of the ranks, names the rank to blame, and draws a timeline.",
        footer = {
            "",
            "Ranks write recordings when a group fails, if ferro.recorder.dir names a folder (ferro run sets one), and when"
                    + " ferro dump asks for them. Exit code 0 if the recordings could be read, even if they name a rank to blame;"
                    + " 2 if not."
        })
final class AnalyzeCommand implements Callable<Integer> {
    private static final String PAGE = "ferro-timeline.html";

    private final CommandContext world;

    @Parameters(
            paramLabel = "DIR",
            arity = "1..*",
            description = "folder with files named ferro-JOB-rankR.json; one for each host if the hosts share none")
    private List<Path> folders;

    @Option(
            names = "--job",
            paramLabel = "NAME",
            description = "name of the job (default: the job of the newest recording)")
    private String job;

    @Option(
            names = "--html",
            paramLabel = "FILE",
            description = "file to write the timeline to (default: " + PAGE + " in the first DIR)")
    private Path html;

    AnalyzeCommand(CommandContext world) {
        this.world = world;
    }

    @Override
    public Integer call() throws IOException {
        Analysis analysis = read(folders, Optional.ofNullable(job));
        analysis.text().forEach(world.out()::println);
        world.out().println();
        world.out().println(timeline(analysis));
        if (analysis.problems().isEmpty()) {
            return ExitCode.OK;
        }
        world.screen().tell(List.of("ferro analyze: left out files that cannot be read:"));
        world.screen().tell(analysis.problems());
        return ExitCode.BAD_INPUT;
    }

    static Analysis read(List<Path> folders, Optional<String> job) throws IOException {
        try {
            return Analysis.of(folders, job);
        } catch (UnreadableRecordingException unreadable) {
            throw new BadInputException(unreadable.getMessage(), unreadable);
        }
    }

    /** Writes the timeline page. If the folder cannot be written, the text is still printed. */
    private String timeline(Analysis analysis) {
        Path file = html == null ? folders.get(0).resolve(PAGE) : html;
        try {
            if (html == null) {
                replace(file, analysis.html());
            } else {
                Files.writeString(file, analysis.html());
            }
            return "timeline: " + file + " (open it in a browser)";
        } catch (IOException unwritable) {
            throw new BadInputException(
                    "cannot write the timeline to " + file + " (" + unwritable + "): name another file by --html",
                    unwritable);
        }
    }

    /** Replaces a file that the user did not name. Follows no links, because other users may write to the folder. */
    private static void replace(Path file, String text) throws IOException {
        Path part =
                file.resolveSibling("." + PAGE + "." + ProcessHandle.current().pid());
        try {
            Files.writeString(part, text, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE);
            Files.move(part, file, StandardCopyOption.REPLACE_EXISTING);
        } finally {
            Files.deleteIfExists(part);
        }
    }
}
