package ferro.group;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.Objects.requireNonNull;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.CharBuffer;
import java.util.function.Function;

/**
 * How objects of one type become bytes and come back, for {@link ProcessGroup#objects}. Two are built in; write your own for
 * everything else, by the library that your program uses for JSON or the like:
 *
 * {@snippet file="ferro/examples/snippets/ObjectSnippetsTest.java" region="json" :
 *
 * Codec<Score> json = Codec.utf8().map(gson::toJson, text -> gson.fromJson(text, Score.class));
 * List<Score> all = group.objects(json).allGather(new Score("rank " + group.rank(), 0.5));
 * }
 *
 * <p>Do not use Java serialization: whoever can send bytes to {@code ObjectInputStream} can run code of its choice.
 *
 * <p>A codec is called by the thread that makes the call on objects. It must not call the group.
 *
 * @param <T> type of the objects
 */
public interface Codec<T> {
    /**
     * Makes bytes of an object. If it throws, the call fails on this rank and on those that would get the object; the group
     * goes on.
     *
     * @param value object, never null
     * @return bytes, which the call does not change
     * @throws IOException if the object has no such form
     */
    byte[] encode(T value) throws IOException;

    /**
     * Makes an object of bytes. If it throws, the call fails on this rank alone, and the group goes on.
     *
     * @param bytes as {@link #encode} made them on some rank; the codec may keep them
     * @return object, never null
     * @throws IOException if the bytes are no such object
     */
    T decode(byte[] bytes) throws IOException;

    /**
     * Returns the codec of bytes as they are.
     *
     * @return codec; any thread may use it
     */
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
     * Returns the codec of texts in UTF-8. It throws for a text with half of a surrogate pair and for bytes that are no UTF-8.
     *
     * @return codec; any thread may use it
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
     * Returns a codec of other objects, by way of those of this one.
     *
     * @param <U>   type of the other objects
     * @param write makes an object of this codec, such as a text
     * @param read  makes the other object again
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
