package ferro.control.wire;

import ferro.FerroException.Code;
import java.util.Set;

/**
 * A reader or writer to which a message passes its fields one after the other. A writer writes each value and returns
 * the same value. A reader ignores the passed value and returns the value that was read. A third implementation lists
 * each field for docs/wire-protocol.md. A reader throws an IllegalArgumentException that names the field if the content
 * is invalid.
 */
public interface FieldCodec {
    /** Passes 1 byte: the kind of the message within its family, from 1. */
    void kind(byte kind);

    /** Passes 8 bytes: a signed integer, big-endian. */
    long int64(String name, long value);

    /** Passes 4 bytes: an integer that is not negative, big-endian. */
    int count(String name, int value);

    /** Passes 4 bytes: the number of a rank of the group. */
    int rank(String name, int value);

    /** Passes 1 byte: the ordinal of a code in its enum. */
    Code code(String name, Set<Code> possible, Code value);

    /**
     * Passes 2 bytes of length and a list of ranks of the group such as {@code 1,3}. The ranks are ascending. The list
     * has as many ranks as {@code maxBytes} bytes can hold.
     */
    Set<Integer> ranks(String name, int maxBytes, Set<Integer> value);

    /** Passes a list like {@link #ranks} of ranks of the joined group. Readers do not know the size of that group. */
    Set<Integer> joinedRanks(String name, Set<Integer> value);

    /**
     * Passes 2 bytes of length and a text in UTF-8. A text of more than {@code maxBytes} bytes is cut, and ends with
     * the number of missing characters.
     */
    String text(String name, int maxBytes, String value);

    /** Passes 4 bytes of length and as many bytes. Only the first {@code maxBytes} bytes of the value are kept. */
    byte[] bytes(String name, int maxBytes, byte[] value);
}
