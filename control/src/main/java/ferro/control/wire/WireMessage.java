package ferro.control.wire;

import java.nio.ByteBuffer;

/**
 * A message between ranks beside the data, or a report of a rank: one byte for the kind of record, then the fields of the
 * record in their order. {@link FieldWriter} writes the fields and {@link FieldReader} reads them; docs/wire-protocol.md lists them.
 */
public interface WireMessage {
    /** The longest control message, in bytes. */
    int BYTES_MOST = 4096;

    /** Passes the kind and each field, in the order of the bytes. Returns the message with the values that it gets back. */
    WireMessage through(Fields fields);

    /** {@return the bytes to send} */
    default ByteBuffer encoded() {
        FieldWriter out = new FieldWriter();
        through(out);
        return out.bytes();
    }

    /** {@return the bytes as a value for a store} */
    default byte[] value() {
        ByteBuffer bytes = encoded();
        byte[] value = new byte[bytes.remaining()];
        bytes.get(value);
        return value;
    }
}
