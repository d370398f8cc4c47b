/**
 * A back end as a third party would write it, with only the abstract methods of {@link ferro.Backend}.
 *
 * <p>Start at {@link ferro.examples.plain.QueueBackend}. {@code ProcessGroup.of} adds every collective to this back
 * end. The test of the back end shows how to use the contract kit. The back end may use only {@code ferro.Backend}, its
 * exceptions and {@code ferro.spi.Deadlines}.
 */
package ferro.examples.plain;
