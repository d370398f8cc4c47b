package ferro.distribution;

import ferro.launcher.FerroCommand;
import ferro.launcher.input.ExitCode;
import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import picocli.AutoComplete;
import picocli.CommandLine;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.Model.PositionalParamSpec;
import picocli.CommandLine.Model.UsageMessageSpec;
import picocli.codegen.docgen.manpage.ManPageGenerator;

/** Writes the shell completion and the sources of the man pages of the {@code ferro} command, for the distribution. */
final class ManPageWriter {
    /** Longer than any line, because AsciiDoc reads a line that begins with a bracket as something else. */
    private static final int ONE_LINE = 1_000;

    /** Two hyphens between blanks, which AsciiDoc makes a dash of. */
    private static final Pattern DASHES = Pattern.compile("(?m)^(?! )(.*) -- ");

    /** An option whose value follows without a blank. */
    private static final Pattern ATTACHED = Pattern.compile("(?m)^\\*(-[A-Za-z])\\*, _(\\w+)_::");

    /** What the generator writes before each paragraph of notes, although blank and indented lines must not have it. */
    private static final Pattern BREAKS = Pattern.compile("(?m)^\\[%hardbreaks]\n(?=\n| )");

    private static final Pattern HEADER = Pattern.compile("(?m)^:doctype: manpage$");

    private ManPageWriter() {}

    /**
     * Writes {@code ferro}, the completion for bash and zsh, and {@code man/ferro.adoc} with a page for each subcommand beside it.
     *
     * @param arguments the folder, and the time of the build in the form of ISO 8601, whose date the pages have
     * @throws IOException if a file cannot be written
     */
    public static void main(String[] arguments) throws IOException {
        Path folder = Files.createDirectories(Path.of(arguments[0]));
        Files.writeString(folder.resolve("ferro"), completion());
        Path pages = folder.resolve("man");
        writePages(pages);
        String date = arguments[1].replaceFirst("T.*", "");
        try (DirectoryStream<Path> all = Files.newDirectoryStream(pages, "*.adoc")) {
            for (Path page : all) {
                Files.writeString(page, corrected(Files.readString(page), date));
            }
        }
    }

    private static String completion() {
        CommandLine ferro = FerroCommand.commandLine();
        CommandSpec run = ferro.getSubcommands().get("run").getCommandSpec();
        OptionSpec classPath = run.findOption("-cp");
        run.remove(classPath);
        run.addOption(OptionSpec.builder(classPath.names()).type(Path.class).build());
        // the program and its arguments, which the parser only passes on
        List.copyOf(run.positionalParameters()).forEach(run::remove);
        run.addPositional(PositionalParamSpec.builder()
                .index("0..*")
                .arity("0..*")
                .type(List.class)
                .auxiliaryTypes(Path.class)
                .paramLabel("FILE")
                .build());
        return AutoComplete.bash("ferro", ferro);
    }

    private static void writePages(Path folder) throws IOException {
        CommandLine ferro = FerroCommand.commandLine();
        ferro.setUsageHelpAutoWidth(false);
        ferro.setUsageHelpWidth(ONE_LINE);
        describe(ferro.getCommandSpec().usageMessage());
        ferro.getSubcommands()
                .values()
                .forEach(one -> describe(one.getCommandSpec().usageMessage()));
        CommandSpec[] pages = {ferro.getCommandSpec()};
        int failed = ManPageGenerator.generateManPage(folder.toFile(), null, new boolean[0], true, pages);
        if (failed != 0) {
            throw new IOException("picocli wrote no man pages to " + folder + " (exit code " + failed + ")");
        }
    }

    /** Adds the headings without which the generator leaves out notes and exit codes. */
    private static void describe(UsageMessageSpec usage) {
        Map<String, String> codes = new LinkedHashMap<>();
        codes.put("" + ExitCode.OK, "success");
        codes.put("" + ExitCode.FAILED, "the command or its job failed");
        codes.put("" + ExitCode.BAD_INPUT, "the input was wrong");
        codes.put("128+n", "signal n ended the command, or the rank that failed first");
        usage.exitCodeListHeading("Exit status%n").exitCodeList(codes);
        if (usage.footer().length > 0) {
            usage.footerHeading("Notes%n").footer(paragraphs(usage.footer()));
        }
    }

    /** Returns lines with a blank line before each block of indented lines, which AsciiDoc keeps as they are then. */
    private static String[] paragraphs(String[] lines) {
        List<String> all = new ArrayList<>();
        String before = "";
        for (String line : lines) {
            if (line.startsWith(" ") && !before.startsWith(" ") && !before.isEmpty()) {
                all.add("");
            }
            all.add(line);
            before = line;
        }
        return all.toArray(String[]::new);
    }

    private static String corrected(String page, String date) {
        String dated = HEADER.matcher(page).replaceAll("$0\n:docdate: " + date);
        String attached = ATTACHED.matcher(dated).replaceAll("**$1**__$2__::");
        String kept = BREAKS.matcher(attached).replaceAll("");
        return DASHES.matcher(kept).replaceAll("$1 \\\\-- ");
    }
}
