/**
 * The interfaces that implementers of back ends supply. Start at {@link ferro.spi.BackendProvider}, then
 * {@link ferro.spi.Transport}. {@link ferro.spi.JobTool} is for a module that brings a subcommand of {@code ferro}.
 *
 * <p>Everything from outside reaches an implementation through {@link ferro.spi.RankContext}; nothing else reads the
 * environment or system properties.
 */
package ferro.spi;
