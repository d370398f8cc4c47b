package ferro.spi;

import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/**
 * A service that adds a subcommand to {@code ferro}, such as {@code ferro bench}, from another module. The service
 * defines the program that the ranks of a job run. {@link java.util.ServiceLoader} finds the implementations of this
 * service. The constructor must not load native libraries.
 *
 * <p>The class has picocli's annotations for its description, its options and its parameters. Options that are common
 * to all commands with ranks are not part of the class. The launcher sets the options and parameters before it calls
 * any method other than {@link #name}.
 */
public interface JobTool {
    /** {@return the name of the subcommand, as users type it} */
    String name();

    /**
     * Returns whether the command line requests to start ranks. If this method returns false, the launcher runs {@link
     * #command} on this host instead.
     *
     * @return whether ranks start
     * @throws IllegalArgumentException if options exclude each other; the message names these options
     */
    boolean startsRanks();

    /**
     * Returns the program that every rank runs. The launcher calls this method before any rank starts.
     *
     * @param request values of the options that are common to all commands with ranks
     * @return program on ferro's class path
     * @throws IllegalArgumentException if an argument is invalid; the message contains the argument and the values that
     *     are valid
     */
    RankProgram program(ToolRequest request);

    /**
     * Returns the command that the launcher runs instead of ranks.
     *
     * @param request values of the options that are common to all commands with ranks
     * @return program and arguments
     * @throws IllegalArgumentException if an argument is invalid; the message contains the argument and the values that
     *     are valid
     */
    List<String> command(ToolRequest request);

    /**
     * Values of those options that are common to all commands with ranks and that a tool may need.
     *
     * @param worldSize number of ranks on all hosts
     * @param links     kind of link between ranks of one host, if the user has chosen one
     * @param checkout  source checkout that the command was started from; empty for a command of an installation
     */
    record ToolRequest(int worldSize, Optional<String> links, Optional<Path> checkout) {}

    /**
     * The program that each rank runs. Rank 0 prints for all ranks. Exit code 2 means a usage error that the program
     * has already reported.
     *
     * @param mainClass main class of the program
     * @param arguments arguments of the program
     */
    record RankProgram(String mainClass, List<String> arguments) {
        /**
         * Creates a program, with a copy of the list of arguments.
         *
         * @param mainClass main class of the program
         * @param arguments arguments of the program
         */
        public RankProgram {
            arguments = List.copyOf(arguments);
        }
    }
}
