/**
 * The user's request, which is checked before anything starts: numbers of ranks and nodes, addresses, limits of this
 * machine.
 *
 * <p>Start reading at {@code JobSpec}. Wrong input causes a {@code BadInputException}, which ends the launcher with
 * exit code 2.
 */
package ferro.launcher.input;
