package ferro.control.wire;

import java.nio.ByteBuffer;

/**
 * A message between ranks that carries no tensor data, or a report of a rank. A message consists of one byte for the
 * kind of record, and the fields of the record in the order of declaration. {@link FieldWriter} writes the fields, and
 * {@link FieldReader} reads the fields. The list of fields is in docs/wire-protocol.md.
 */
public interface WireMessage {
    /** The longest control message, in bytes. */
    int BYTES_MOST = 4096;

    /**
     * Passes the kind and each field of this message to a reader or writer, in the order of the bytes. Returns the
     * message that consists of the values which the reader or writer returns.
     */
    WireMessage through(FieldCodec fields);

    /** {@return the bytes of the message, to be sent} */
    default ByteBuffer encoded() {
        FieldWriter out = new FieldWriter();
        through(out);
        return out.bytes();
    }

    /** {@return the bytes of the message, to be stored as a value in a store} */
    default byte[] value() {
        ByteBuffer bytes = encoded();
        byte[] value = new byte[bytes.remaining()];
        bytes.get(value);
        return value;
    }
}
