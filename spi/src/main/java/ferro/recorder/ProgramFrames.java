package ferro.recorder;

import java.util.regex.Pattern;

/** A class that distinguishes frames of the program from frames of ferro, of the JDK and of JUnit. */
public final class ProgramFrames {
    /**
     * Pattern of the classes of ferro. Programs may have packages below {@code ferro}, as the examples and benchmarks
     * do.
     */
    private static final Pattern OF_FERRO = Pattern.compile("ferro\\.([A-Z]|(group|job|collectives|control|spi|dispatch"
            + "|recorder|backend|launcher|training|segments|spark|djl|lightgbm|shaded)\\.).*");

    private static final Pattern OF_THE_JDK = Pattern.compile("(java|javax|jdk|sun|com\\.sun)\\..*");
    private static final Pattern OF_JUNIT = Pattern.compile("org\\.junit\\..*");

    private ProgramFrames() {}

    /**
     * Returns whether a class belongs to ferro.
     *
     * @param className binary name of the class
     * @return false for a class of an example or a benchmark
     */
    public static boolean isOfFerro(String className) {
        return OF_FERRO.matcher(className).matches();
    }

    /**
     * Returns whether a class belongs to the JDK.
     *
     * @param className binary name of the class
     * @return true for packages such as {@code java} and {@code jdk}
     */
    public static boolean isOfTheJdk(String className) {
        return OF_THE_JDK.matcher(className).matches();
    }

    /**
     * Returns whether a frame belongs to the program.
     *
     * @param frame frame of a stack
     * @return false for frames of ferro, of the JDK and of JUnit, and for objects of lambdas, which some JVMs show
     */
    public static boolean isOfTheProgram(StackTraceElement frame) {
        String name = frame.getClassName();
        return !isOfFerro(name) && !isOfTheJdk(name) && !OF_JUNIT.matcher(name).matches() && !name.contains("$$Lambda");
    }
}
