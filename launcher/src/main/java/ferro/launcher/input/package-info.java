/**
 * The user's request, checked before anything starts: numbers of ranks and nodes, addresses, limits of this machine.
 *
 * <p>Start reading at {@code JobSpec}. An error in the input is a {@code BadInputException}, which ends the launcher with
 * exit code 2.
 */
package ferro.launcher.input;
