/**
 * The user's request, which is checked before anything starts: numbers of ranks and nodes, addresses, limits of the
 * host.
 *
 * <p>Start reading at {@code JobSpec}. A {@code BadInputException} ends the launcher with exit code 2.
 */
package ferro.launcher.input;
