package ferro.collectives.engine;

import java.util.List;
import java.util.stream.Collectors;

/** Stacks as lists of frames. */
final class Stacks {
    private Stacks() {}

    /** Returns the frames of this thread, the innermost first: simple name of the class and method. */
    static List<String> here() {
        return StackWalker.getInstance()
                .walk(frames -> frames.skip(1)
                        .map(frame -> frame.getClassName().replaceAll(".*[.$]", "") + "." + frame.getMethodName())
                        .collect(Collectors.toList()));
    }
}
