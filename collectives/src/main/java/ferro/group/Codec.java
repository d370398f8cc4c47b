package ferro.group;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.Objects.requireNonNull;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.CharBuffer;
import java.util.function.Function;

/**
 * A converter of objects of one type to bytes and back, for {@link ProcessGroup#objects ProcessGroup.objects}. Two codecs are built in:
 * {@link #bytes} and {@link #utf8}. For other types write a codec with the library that your program uses, for example
 * for JSON:
 *
 * {@snippet file="ferro/examples/snippets/ObjectSnippetsTest.java" region="json" :
 *
 * Codec<Score> json = Codec.utf8().map(gson::toJson, text -> gson.fromJson(text, Score.class));
 * List<Score> all = group.objects(json).allGather(new Score("rank " + group.rank(), 0.5));
 * }
 *
 * <p>Do not use Java serialization, because an attacker who can send bytes to an {@code ObjectInputStream} can run any
 * code.
 *
 * <p>The thread that makes a call on objects also calls the codec. A codec must not call the group.
 *
 * @param <T> type of the objects
 */
public interface Codec<T> {
    /**
     * Converts an object to bytes. If the codec throws an exception, the call fails on this rank and on the ranks that
     * would get the object. The group continues.
     *
     * @param value object, never null
     * @return bytes, which the call does not change
     * @throws IOException if the object cannot be converted
     */
    byte[] encode(T value) throws IOException;

    /**
     * Converts bytes to an object. If the codec throws an exception, the call fails on this rank alone, and the group
     * continues.
     *
     * @param bytes result of {@link #encode} on some rank; the codec may keep the array
     * @return object, never null
     * @throws IOException if the bytes cannot be converted
     */
    T decode(byte[] bytes) throws IOException;

    /** {@return the codec that passes byte arrays unchanged; any thread may use it} */
    static Codec<byte[]> bytes() {
        return new Codec<>() {
            @Override
            public byte[] encode(byte[] value) {
                return value;
            }

            @Override
            public byte[] decode(byte[] bytes) {
                return bytes;
            }
        };
    }

    /**
     * {@return the codec of strings in UTF-8; any thread may use it} The codec throws an IOException for a string with
     * half of a surrogate pair and for bytes that are not valid UTF-8.
     */
    static Codec<String> utf8() {
        return new Codec<>() {
            @Override
            public byte[] encode(String value) throws IOException {
                ByteBuffer bytes = UTF_8.newEncoder().encode(CharBuffer.wrap(value));
                byte[] exact = new byte[bytes.remaining()];
                bytes.get(exact);
                return exact;
            }

            @Override
            public String decode(byte[] bytes) throws IOException {
                return UTF_8.newDecoder().decode(ByteBuffer.wrap(bytes)).toString();
            }
        };
    }

    /**
     * Returns a codec for objects of another type, which are converted to objects of this codec and back.
     *
     * @param <U>   type of the other objects
     * @param write converts to an object of this codec, such as a string
     * @param read  converts an object of this codec back to the other type
     * @return codec
     */
    default <U> Codec<U> map(Function<? super U, ? extends T> write, Function<? super T, ? extends U> read) {
        requireNonNull(write, "write");
        requireNonNull(read, "read");
        Codec<T> inner = this;
        return new Codec<>() {
            @Override
            public byte[] encode(U value) throws IOException {
                return inner.encode(write.apply(value));
            }

            @Override
            public U decode(byte[] bytes) throws IOException {
                return read.apply(inner.decode(bytes));
            }
        };
    }
}
