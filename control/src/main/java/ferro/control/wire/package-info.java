/**
 * Fields of control messages: one codec, which reads bytes, writes them, and lists itself for docs/wire-protocol.md.
 *
 * <p>Start reading at {@code Fields}. Nothing here knows what a message is for.
 */
package ferro.control.wire;
