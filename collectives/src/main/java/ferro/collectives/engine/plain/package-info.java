/**
 * The engine over a plain back end, which has five blocking methods and nothing else.
 *
 * <p>Start reading at {@code PlainEngine}.
 */
package ferro.collectives.engine.plain;
