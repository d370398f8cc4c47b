package ferro.launcher;

import com.google.common.io.MoreFiles;
import com.google.common.io.RecursiveDeleteOption;
import ferro.examples.textmodel.TextModelMain;
import ferro.launcher.input.BadInputException;
import ferro.launcher.input.ExitCode;
import ferro.launcher.input.JobSpec;
import ferro.launcher.input.RestartLimit;
import ferro.launcher.input.TemporaryFolder;
import ferro.launcher.program.JavaSettings;
import ferro.launcher.program.JavaTarget;
import ferro.launcher.program.LaunchTarget;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;
import picocli.CommandLine.Unmatched;

/** {@code ferro demo}: four processes train a small language model on the text of ferro's pages. */
@Command(
        name = "demo",
        description = "Trains one small language model with four processes on the text of ferro's pages;"
                + " ferro demo --help shows its options.")
final class DemoCommand implements Callable<Integer> {
    private static final String CHECKPOINTS = "--checkpoints";

    private final CommandContext world;

    @Spec
    private CommandSpec command;

    @Option(
            names = {"-n", "--ranks"},
            paramLabel = "N",
            defaultValue = "4",
            description = "number of processes that train")
    private int ranks;

    @Option(
            names = "--restarts",
            paramLabel = "N",
            defaultValue = "0",
            description = "if the job fails, start all processes again, at most N times")
    private int restarts;

    @Unmatched
    private List<String> given;

    DemoCommand(CommandContext world) {
        this.world = world;
    }

    @Override
    public Integer call() throws Exception {
        List<String> options = given == null ? List.of() : given;
        if (options.contains("--help") || options.contains("-h")) {
            world.out().print(TextModelMain.usage());
            return ExitCode.OK;
        }
        List<String> all = new ArrayList<>(options);
        all.addAll(defaults(options, world.checkout()));
        RestartLimit allowed = new RestartLimit(restarts, Optional.empty());
        if (!allowed.areAny()) {
            return run(allowed, all);
        }
        all.addAll(List.of("--restarts", "" + restarts));
        if (names(options, CHECKPOINTS)) {
            return run(allowed, all);
        }
        Path folder = TemporaryFolder.make("ferro-demo-", world.environment());
        try {
            all.addAll(List.of(CHECKPOINTS, folder.toString()));
            return run(allowed, all);
        } finally {
            // the folder contains only files of ranks of this user
            MoreFiles.deleteRecursively(folder, RecursiveDeleteOption.ALLOW_INSECURE);
        }
    }

    private int run(RestartLimit allowed, List<String> options) throws IOException, InterruptedException {
        check(ranks, options);
        JavaSettings settings = JavaSettings.of(Optional.empty(), List.of(), world.environment());
        LaunchTarget target = JavaTarget.ofFerro(TextModelMain.class.getName(), options, settings);
        return new Job(JobSpec.onThisHost(ranks).restarting(allowed), target, world).run();
    }

    /** Checks the input before any rank is started. */
    private void check(int ranks, List<String> options) {
        if (ranks < 1) {
            throw new BadInputException("--ranks " + ranks + ": need 1 or more");
        }
        try {
            TextModelMain.check(ranks, options.toArray(String[]::new));
        } catch (IllegalArgumentException misuse) {
            String meant = options.stream()
                    .filter(word -> misuse.getMessage().startsWith("unknown option " + word + ":"))
                    .findFirst()
                    .flatMap(word -> OptionSuggester.of(word, command))
                    .map(advice -> "; " + advice)
                    .orElse("");
            throw new BadInputException(misuse.getMessage() + meant, misuse);
        }
    }

    /** Returns the options that the launcher adds: the folder of the checkout, unless the user has given it. */
    static List<String> defaults(List<String> given, Optional<Path> checkout) {
        return checkout.isPresent() && !names(given, "--text")
                ? List.of("--text", checkout.get().toString())
                : List.of();
    }

    private static boolean names(List<String> given, String option) {
        return given.stream().anyMatch(word -> word.equals(option) || word.startsWith(option + "="));
    }
}
