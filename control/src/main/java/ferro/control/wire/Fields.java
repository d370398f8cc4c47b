package ferro.control.wire;

import ferro.FerroException.Code;
import java.util.Set;

/**
 * The fields of a message, requested one after the other: read from bytes, or listed for docs/wire-protocol.md. Every
 * method throws an IllegalArgumentException that names the field if the content is invalid.
 */
public interface Fields {
    /** Returns 8 bytes, signed. */
    long int64(String name);

    /** Returns 4 bytes, not negative. */
    int count(String name);

    /** Returns 4 bytes, the number of a rank of the group. */
    int rank(String name);

    /** Returns 1 byte, the ordinal of a code in its enum. */
    Code code(String name, Set<Code> possible);

    /** Returns 2 bytes of length and ranks of the group such as {@code 1,3}, at most {@link FieldWriter#RANKS_MOST} bytes. */
    default Set<Integer> ranks(String name) {
        return ranks(name, FieldWriter.RANKS_MOST);
    }

    /** Returns 2 bytes of length and ranks of the group such as {@code 1,3}, at most that many bytes. */
    Set<Integer> ranks(String name, int maxBytes);

    /** Returns the same for ranks of the joined group; this group does not know the size of that group. */
    Set<Integer> joinedRanks(String name);

    /** Returns 2 bytes of length and that many bytes of UTF-8. */
    String text(String name, int maxBytes);

    /** Returns 4 bytes of length and that many bytes. */
    byte[] bytes(String name, int maxBytes);
}
