package ferro.group;

import static java.util.Objects.requireNonNull;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;

/**
 * The data that the root of a scatter sends: the bytes of one object per rank, or the text of an exception. The
 * exception comes from the root's codec, or says what is wrong with the root's list.
 *
 * @param parts  bytes by rank; empty if there is a text
 * @param failed the object that could not be encoded; {@link EncodedObject#NONE} if there is none
 */
record EncodedParts(List<byte[]> parts, EncodedObject failed) {
    /** The data of a rank that is not the root. */
    static final EncodedParts NONE = new EncodedParts(List.of(), EncodedObject.NONE);

    /** Encodes one object for each rank, one after the other, until the codec throws. */
    static <T> EncodedParts of(Codec<T> codec, List<? extends T> values, ProcessGroup group) {
        if (values.size() != group.worldSize()) {
            return new EncodedParts(
                    List.of(),
                    EncodedObject.misused(new EncodedObject.Misuse(
                            "scatter of objects on rank " + group.rank() + ": need one object for each of "
                                    + group.worldSize() + " ranks, found " + values.size())));
        }
        List<byte[]> parts = new ArrayList<>();
        for (T value : values) {
            EncodedObject one = EncodedObject.of(codec, requireNonNull(value, "a value of values"));
            if (one.failure() != null) {
                return new EncodedParts(List.of(), one);
            }
            parts.add(one.bytes());
        }
        return new EncodedParts(parts, EncodedObject.NONE);
    }

    /** Returns the largest number of bytes of a part, or a number below 0 if there is a text instead. */
    long headerLength() {
        return parts.stream().mapToLong(part -> part.length).max().orElse(failed.headerLength());
    }

    long[] counts() {
        return parts.stream().mapToLong(part -> part.length).toArray();
    }

    /** Returns all parts, one after the other. */
    byte[] joined(int byteCount) {
        ByteBuffer joined = ByteBuffer.allocate(byteCount);
        parts.forEach(joined::put);
        return joined.array();
    }
}
