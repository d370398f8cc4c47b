package ferro.launcher;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Unmatched;

/** {@code ferro demo}: four processes train one small language model on the text of the checkout. */
@Command(
        name = "demo",
        description =
                "Trains one small language model with four processes; options are those of the program: demo --help")
final class DemoCommand implements Callable<Integer> {
    private static final String MAIN_CLASS = "ferro.examples.textmodel.TextModelMain";
    private static final int RANKS = 4;

    private final World world;

    DemoCommand(World world) {
        this.world = world;
    }

    @Unmatched
    private List<String> programOptions;

    @Override
    public Integer call() throws Exception {
        List<String> words = new ArrayList<>(List.of(MAIN_CLASS));
        words.addAll(programOptions == null ? List.of() : programOptions);
        JobSpec spec = JobSpec.onThisHost(RANKS);
        Target target = JavaTarget.of(words, JavaSettings.of(Optional.empty(), List.of(), world.environment()));
        return new Job(spec, target, world).run();
    }
}
