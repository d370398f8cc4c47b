package ferro.collectives.control;

import ferro.FerroException.Code;
import java.util.Set;

/**
 * The fields of a message, asked for one after the other: read from bytes, or listed for docs/wire-protocol.md. All methods
 * throw an IllegalArgumentException that names the field if what is there makes no sense.
 */
interface Fields {
    /** Returns 8 bytes, signed. */
    long int64(String name);

    /** Returns 4 bytes, not negative. */
    int count(String name);

    /** Returns 4 bytes, the number of a rank of the group. */
    int rank(String name);

    /** Returns 1 byte, the place of a code in its enum. */
    Code code(String name, Set<Code> possible);

    /** Returns 2 bytes of length and ranks of the group such as {@code 1,3}, at most {@link FieldWriter#RANKS_MOST} bytes. */
    String ranks(String name);

    /** Does so for ranks of the joined group, of whose size this group knows nothing. */
    String joinedRanks(String name);

    /** Returns 2 bytes of length and so many of UTF-8. */
    String text(String name, int bytesMost);
}
