package ferro.control.wire;

import ferro.FerroException.Code;
import java.util.Set;

/**
 * A reader or writer of messages. A message passes its fields one after the other to a codec. A writer writes each
 * value and returns the same value. A reader ignores the passed value and returns the value that was read. A third
 * implementation, besides the reader and the writer, lists each field for docs/wire-protocol.md. A reader throws an
 * IllegalArgumentException that names the field if the content is invalid.
 */
public interface FieldCodec {
    /** Passes 1 byte: the kind of the message within its family, from 1. */
    void kind(byte kind);

    /** Passes 8 bytes: a signed integer, big-endian. */
    long int64(String name, long value);

    /** Passes 4 bytes: a big-endian integer that is not negative. */
    int count(String name, int value);

    /** Passes 4 bytes: the number of a rank of the group. */
    int rank(String name, int value);

    /** Passes 1 byte: the ordinal of a code in its enum. */
    Code code(String name, Set<Code> possible, Code value);

    /**
     * Passes a list of ranks of the group: 2 bytes with the length of the list in bytes, and a text such as {@code
     * 1,3}. The ranks are ascending. The list has as many ranks as {@code maxBytes} bytes can hold.
     */
    Set<Integer> ranks(String name, int maxBytes, Set<Integer> value);

    /** Passes a list like {@link #ranks}, but of ranks of the joined group, whose size readers do not know. */
    Set<Integer> joinedRanks(String name, Set<Integer> value);

    /**
     * Passes 2 bytes with the length of a text in bytes, and the text in UTF-8. A text of more than {@code maxBytes}
     * bytes is cut, and ends with the number of missing characters.
     */
    String text(String name, int maxBytes, String value);

    /** Passes 4 bytes of length and a byte array. Only the first {@code maxBytes} bytes of the array are passed. */
    byte[] bytes(String name, int maxBytes, byte[] value);
}
