package ferro.control.wire;

import ferro.FerroException.Code;
import java.util.Set;

/**
 * The fields of a message, passed one after the other. A writer writes each value and returns it. A reader ignores the value
 * and returns the one that it has read. A list for docs/wire-protocol.md notes each field. A reader throws an
 * IllegalArgumentException that names the field if the content is invalid.
 */
public interface Fields {
    /** Passes 1 byte, the kind of record within its family, from 1 on. */
    void kind(byte kind);

    /** Passes 8 bytes, signed, big-endian. */
    long int64(String name, long value);

    /** Passes 4 bytes, not negative, big-endian. */
    int count(String name, int value);

    /** Passes 4 bytes, the number of a rank of the group. */
    int rank(String name, int value);

    /** Passes 1 byte, the ordinal of a code in its enum. */
    Code code(String name, Set<Code> possible, Code value);

    /** Passes 2 bytes of length and ranks of the group such as {@code 1,3}: as many, ascending, as that many bytes take. */
    Set<Integer> ranks(String name, int maxBytes, Set<Integer> value);

    /** Passes the same for ranks of the joined group; this group does not know the size of that group. */
    Set<Integer> joinedRanks(String name, Set<Integer> value);

    /** Passes 2 bytes of length and that many bytes of UTF-8. A text that is too long ends with the number of characters cut. */
    String text(String name, int maxBytes, String value);

    /** Passes 4 bytes of length and that many bytes, of which the first ones are kept. */
    byte[] bytes(String name, int maxBytes, byte[] value);
}
