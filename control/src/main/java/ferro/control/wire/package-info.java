/**
 * The codec for the fields of control messages. The same code reads bytes, writes bytes, and lists the fields for
 * docs/wire-protocol.md.
 *
 * <p>Start reading at {@code FieldCodec}. No class in this package depends on the purpose of a message.
 */
package ferro.control.wire;
