/**
 * The interfaces that implementers of back ends supply. Start at {@link ferro.spi.BackendProvider}, then
 * {@link ferro.spi.Transport}. {@link ferro.spi.JobTool} is for a module that brings a subcommand of {@code ferro}.
 * Module examples has a medium of two short files, {@code ferro.examples.files}, and a plain
 * back end, {@code ferro.examples.plain}; the contract kit, {@code ferro.tck}, tells whether a back end is right.
 *
 * <p>Implementers also need, beside the types that they share with users: {@link ferro.recorder} for the flight recorder of a
 * back end with collectives of its own, {@link ferro.dispatch.HostFallback} and {@link ferro.dispatch.DeviceMemoryProvider}
 * for devices, and {@code ferro.collectives.link} for links.
 *
 * <p>Everything from outside reaches an implementation through {@link ferro.spi.RankContext}; nothing else reads the
 * environment or system properties.
 */
package ferro.spi;
