package ferro.launcher;

import ferro.FerroException;
import ferro.launcher.input.BadInputException;
import ferro.launcher.input.DescriptorCheck;
import ferro.launcher.input.ExitCode;
import ferro.launcher.input.JobStartException;
import ferro.launcher.input.RawArguments;
import ferro.spi.NearestName;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Supplier;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.Option;

/** The {@code ferro} command, whose subcommands do the work. */
@Command(
        name = "ferro",
        description = "Collective communication for the JVM.",
        synopsisSubcommandLabel = "COMMAND",
        versionProvider = VersionProvider.class)
public final class FerroCommand implements Runnable {
    @Option(
            names = {"-V", "--version"},
            versionHelp = true,
            description = "show the version")
    private boolean version;

    /** Largest number of wrong letters for which the launcher suggests the right command. */
    private static final int MAX_MISTYPED = 2;

    private final List<String> names;

    private FerroCommand(Collection<String> names) {
        this.names = List.copyOf(names);
    }

    /**
     * Runs the command and ends the process with its exit code.
     *
     * @param arguments words that the user has typed
     */
    public static void main(String[] arguments) {
        if (System.getProperties().stringPropertyNames().stream()
                .noneMatch(name -> name.startsWith("java.util.logging."))) {
            // log lines, such as one about a refused connection to the store, get the format of other launcher lines
            System.setProperty("java.util.logging.SimpleFormatter.format", "ferro: %5$s%6$s%n");
        }
        System.exit(started(arguments));
    }

    /** Runs the command, unless this process lacks a resource that every command needs. */
    private static int started(String... arguments) {
        try {
            DescriptorCheck.ofThisProcess().checkLauncher();
            RawArguments.check(arguments);
        } catch (BadInputException refused) {
            System.err.println("ferro: " + refused.getMessage());
            return ExitCode.BAD_INPUT;
        }
        return execute(CommandContext.ofProcess(), arguments);
    }

    /** Runs the command that the arguments name, and returns its exit code. */
    static int execute(CommandContext world, String... arguments) {
        return commandLine(world, arguments).execute(arguments);
    }

    /** {@return the command with all subcommands, from which the distribution generates its manual} */
    public static CommandLine commandLine() {
        return commandLine(CommandContext.ofProcess());
    }

    /** Creates only the subcommand that the first argument names, because creating all takes as long as running one. */
    static CommandLine commandLine(CommandContext world, String... arguments) {
        Map<String, Supplier<Object>> all = subcommands(world);
        CommandLine line = new CommandLine(new FerroCommand(all.keySet()));
        Supplier<Object> named = arguments.length == 0 ? null : all.get(arguments[0]);
        if (named == null) {
            all.forEach((name, command) -> line.addSubcommand(name, command.get()));
            line.addSubcommand(new CommandLine.HelpCommand());
        } else {
            line.addSubcommand(arguments[0], named.get());
        }
        offerHelp(line);
        for (String name : List.of("run", "archive")) {
            Optional.ofNullable(line.getSubcommands().get(name)).ifPresent(each -> each.setStopAtPositional(true));
        }
        line.setExpandAtFiles(false);
        line.setOut(new PrintWriter(world.out(), true, StandardCharsets.UTF_8));
        line.setUsageHelpAutoWidth(true);
        line.setParameterExceptionHandler((failure, given) -> misread(failure, world));
        line.setExecutionExceptionHandler((failure, where, parsed) -> explain(failure, where, world));
        return line;
    }

    /**
     * Adds the option -h to a command and its subcommands. Skips the help command of picocli, which already has this
     * option, and a command that forwards unknown options.
     */
    private static void offerHelp(CommandLine line) {
        CommandSpec spec = line.getCommandSpec();
        if (spec.findOption("-h") == null && spec.unmatchedArgsBindings().isEmpty()) {
            spec.addOption(OptionSpec.builder("-h", "--help")
                    .usageHelp(true)
                    .description("show this text")
                    .build());
        }
        line.getSubcommands().values().forEach(FerroCommand::offerHelp);
    }

    /** Returns the subcommands in the order in which they are shown. */
    private static Map<String, Supplier<Object>> subcommands(CommandContext world) {
        Map<String, Supplier<Object>> all = new LinkedHashMap<>();
        all.put("run", () -> new RunCommand(world));
        all.put("demo", () -> new DemoCommand(world));
        all.put("bench", () -> ToolCommand.named("bench", "ferro-benchmarks", world));
        all.put("analyze", () -> new AnalyzeCommand(world));
        all.put("dump", () -> new DumpCommand(world));
        all.put("doctor", () -> new DoctorCommand(world));
        all.put("classpath", () -> new ClassPathCommand(world));
        all.put("archive", () -> new ArchiveCommand(world));
        all.put("secret", () -> new SecretCommand(world));
        return all;
    }

    /** Throws an error that lists the subcommands. Called if the user names no subcommand. */
    @Override
    public void run() {
        int last = names.size() - 1;
        throw new BadInputException("need a command: " + String.join(", ", names.subList(0, last)) + " or "
                + names.get(last) + "; ferro help explains them");
    }

    /** Prints why the parser refuses the arguments, what the user may have meant, and where to find the options. */
    private static int misread(CommandLine.ParameterException failure, CommandContext world) {
        String name = failure.getCommandLine().getCommandSpec().qualifiedName();
        Optional<String> unknown = unknownCommand(failure);
        if (unknown.isPresent()) {
            world.screen().tell(List.of(name + ": " + unknown.get()));
            return ExitCode.BAD_INPUT;
        }
        List<String> lines = new ArrayList<>(List.of(name + ": " + failure.getMessage()));
        OptionSuggester.of(failure).ifPresent(lines::add);
        lines.add("see " + name + " --help");
        world.screen().tell(lines);
        failure.getCommandLine().getCommandSpec().mixins().values().stream()
                .map(CommandLine.Model.CommandSpec::userObject)
                .filter(JobOptions.class::isInstance)
                .forEach(options -> ((JobOptions) options).misread(world, failure.getMessage()));
        return ExitCode.BAD_INPUT;
    }

    /** Returns the message for an unknown word in place of a command; empty for any other failure. */
    private static Optional<String> unknownCommand(CommandLine.ParameterException failure) {
        if (!(failure instanceof CommandLine.UnmatchedArgumentException unmatched)
                || failure.getCommandLine().getParent() != null
                || unmatched.getUnmatched().isEmpty()
                || unmatched.getUnmatched().get(0).startsWith("-")) {
            return Optional.empty();
        }
        String typed = unmatched.getUnmatched().get(0);
        List<String> names =
                List.copyOf(failure.getCommandLine().getSubcommands().keySet());
        return Optional.of("there is no command " + typed
                + NearestName.of(typed, names, MAX_MISTYPED)
                        .map(meant -> "; did you mean " + meant + "?")
                        .orElse(": use " + String.join(", ", names)));
    }

    /**
     * Prints a message for bad input, and for work that is not possible on this machine. Throws any other exception
     * again, because any other exception is a bug of ferro, and its trace shows the location.
     */
    private static int explain(Exception failure, CommandLine where, CommandContext world) throws Exception {
        boolean badInput = failure instanceof BadInputException;
        if (badInput || failure instanceof FerroException) {
            world.screen().tell(List.of(where.getCommandSpec().qualifiedName() + ": " + failure.getMessage()));
            return badInput ? ExitCode.BAD_INPUT : ExitCode.FAILED;
        }
        if (failure instanceof JobStartException apart) {
            boolean ofInput = apart.exitCode() == ExitCode.BAD_INPUT;
            String who = ofInput ? where.getCommandSpec().qualifiedName() : "ferro";
            world.screen().tell(List.of(who + ": " + apart.getMessage()));
            return apart.exitCode();
        }
        throw failure;
    }
}
