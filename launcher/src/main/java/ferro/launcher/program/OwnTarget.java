package ferro.launcher.program;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * A program of ferro itself, the demo or the bench. Rank 0 prints for all ranks, and bad input ends every rank with exit
 * code 2.
 *
 * @param program on ferro's class path
 */
public record OwnTarget(Target program) implements Target {
    /** Makes a target of a main class of ferro. */
    public static OwnTarget of(String mainClass, List<String> arguments, JavaSettings settings) {
        List<String> words = new ArrayList<>(List.of(mainClass));
        words.addAll(arguments);
        return new OwnTarget(JavaTarget.of(words, settings));
    }

    @Override
    public List<String> commandLine(Path folder, boolean few) throws IOException {
        return program.commandLine(folder, few);
    }

    @Override
    public Optional<JavaSettings> java() {
        return program.java();
    }

    @Override
    public boolean saysWhatIsWrong() {
        return true;
    }
}
