package ferro.collectives.control;

import java.nio.ByteBuffer;

/**
 * What ranks tell each other beside the data: one byte that says which record it is, then the fields of the record in their
 * order. {@link FieldWriter} writes the fields and {@link FieldReader} reads them; docs/wire-protocol.md lists them.
 */
interface WireMessage {
    /** Longest message, in bytes. */
    int BYTES_MOST = 4096;

    /** Returns which record of its family it is, from 1 on. */
    byte kind();

    /** Writes the fields. */
    void write(FieldWriter out);

    /** Returns the bytes that travel. */
    default ByteBuffer encoded() {
        FieldWriter out = new FieldWriter(kind());
        write(out);
        return out.bytes();
    }
}
