/**
 * The interfaces that the authors of back ends implement. Start at {@link ferro.spi.BackendProvider}, then read {@link
 * ferro.spi.Transport}. A module that adds a subcommand to {@code ferro} implements {@link ferro.spi.JobTool}. Module
 * {@code examples} has two examples: {@code ferro.examples.files} is a medium in two short files, and {@code
 * ferro.examples.plain} is a plain back end. The contract kit, {@code ferro.tck}, tests whether a back end is correct.
 *
 * <p>Authors of back ends also need types of other packages. {@link ferro.recorder} is the flight recorder for a back
 * end that implements the collectives itself. {@link ferro.dispatch.HostFallback} and {@link
 * ferro.dispatch.DeviceMemoryProvider} are services for device tensors. {@code ferro.collectives} helps to implement
 * links.
 *
 * <p>An implementation gets all settings, variables and clocks from {@link ferro.spi.RankContext}. No other code reads
 * the environment or system properties.
 */
package ferro.spi;
