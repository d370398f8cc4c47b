package ferro.launcher;

import picocli.CommandLine.Option;

/** The option that shows the help of a command. */
final class HelpOption {
    @Option(
            names = {"-h", "--help"},
            usageHelp = true,
            description = "show this text")
    private boolean help;
}
