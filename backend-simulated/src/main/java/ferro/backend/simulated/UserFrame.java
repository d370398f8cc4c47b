package ferro.backend.simulated;

import ferro.recorder.ProgramFrames;

/** The line of the program at which a thread stands: the top frame that belongs neither to ferro nor to the JDK. */
final class UserFrame {
    private UserFrame() {}

    /**
     * Describes where a thread stands.
     *
     * @param stack frames of the thread of a rank, the top frame first
     * @return for example {@code Train.step(Train.java:88), in java.lang.Thread.sleep}
     */
    static String of(StackTraceElement[] stack) {
        if (stack.length == 0) {
            return "its end";
        }
        int user = 0;
        while (user < stack.length && !ProgramFrames.isOfTheProgram(stack[user])) {
            user++;
        }
        if (user == stack.length) {
            user = bodyOf(stack);
        }
        StackTraceElement line = stack[user];
        String source = line.isNativeMethod() ? "native" : line.getFileName() + ":" + line.getLineNumber();
        return method(line) + "(" + source + ")" + (user == 0 ? "" : ", in " + method(stack[user - 1]));
    }

    /** Returns whether this is the object of a lambda, which some JVMs show. */
    private static boolean isHidden(StackTraceElement frame) {
        return frame.getClassName().contains("$$Lambda");
    }

    /** Returns the frame that {@link SimulatedRun} calls: the code of the rank. Returns the top frame if there is none. */
    private static int bodyOf(StackTraceElement[] stack) {
        int caller = stack.length - 1;
        while (caller > 0 && !isCaller(stack[caller])) {
            caller--;
        }
        while (caller > 0 && (isCaller(stack[caller]) || isHidden(stack[caller]))) {
            caller--;
        }
        return caller;
    }

    private static boolean isCaller(StackTraceElement frame) {
        return frame.getClassName().equals(SimulatedRun.class.getName())
                || frame.getClassName().equals(SimulatedBackend.class.getName());
    }

    private static String method(StackTraceElement frame) {
        return frame.getClassName() + "." + frame.getMethodName();
    }
}
