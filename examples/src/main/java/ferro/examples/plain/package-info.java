/**
 * A back end as a third party would write it, with only the abstract methods of {@link ferro.Backend}.
 *
 * <p>Start at {@link ferro.examples.plain.QueueBackend}; {@code ProcessGroup.of} gives it every collective, and its test
 * shows how it adopts the contract kit. Nothing here may use more of ferro than {@code ferro.Backend} and the exceptions.
 */
package ferro.examples.plain;
