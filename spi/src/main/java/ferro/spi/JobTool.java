package ferro.spi;

import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/**
 * A subcommand of {@code ferro} that another module brings, such as {@code ferro bench}: it says what the ranks of a job
 * run. Found by {@link java.util.ServiceLoader}; the constructor must load nothing.
 *
 * <p>The class carries picocli's annotations for its description, and for its options and parameters besides those that
 * every command with ranks has. The launcher fills them in before it calls anything but {@link #name}.
 */
public interface JobTool {
    /**
     * Returns the name of the subcommand.
     *
     * @return as users type it
     */
    String name();

    /**
     * Returns whether what was typed asks for ranks; if not, {@link #command} runs on this host in place of them.
     *
     * @return whether ranks start
     * @throws IllegalArgumentException naming options that exclude each other
     */
    boolean startsRanks();

    /**
     * Returns what every rank runs. It is called before any rank starts.
     *
     * @param request what was typed that is not the tool's own
     * @return a program of ferro's class path
     * @throws IllegalArgumentException naming the word that is wrong, and what is needed
     */
    RankProgram program(ToolRequest request);

    /**
     * Returns the command that runs in place of ranks.
     *
     * @param request what was typed that is not the tool's own
     * @return program and arguments
     * @throws IllegalArgumentException naming the word that is wrong, and what is needed
     */
    List<String> command(ToolRequest request);

    /**
     * What was typed of the options that every command with ranks has, as far as a tool may need it.
     *
     * @param worldSize number of ranks on all hosts
     * @param links     what carries data between ranks of one host, if it was named
     * @param checkout  checkout that the command was started from, if it was
     */
    record ToolRequest(int worldSize, Optional<String> links, Optional<Path> checkout) {}

    /**
     * A program of ranks. Rank 0 prints for all; exit code 2 means that it has said what is wrong with what was typed.
     *
     * @param mainClass  its main class
     * @param arguments  its arguments
     * @param jvmOptions options of each rank's JVM, besides those of every rank
     */
    record RankProgram(String mainClass, List<String> arguments, List<String> jvmOptions) {
        /**
         * Copies the lists.
         *
         * @param mainClass  its main class
         * @param arguments  its arguments
         * @param jvmOptions options of each rank's JVM
         */
        public RankProgram {
            arguments = List.copyOf(arguments);
            jvmOptions = List.copyOf(jvmOptions);
        }
    }
}
