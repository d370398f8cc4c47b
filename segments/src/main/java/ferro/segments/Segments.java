package ferro.segments;

import static java.util.Objects.requireNonNull;

import ferro.Carrier;
import ferro.DataType;
import ferro.HostTensor;
import java.lang.foreign.MemorySegment;

/**
 * Views memory segments as tensors. A tensor has the memory of its segment, and {@link #tensor} copies nothing.
 *
 * {@snippet file="ferro/segments/SegmentsSnippetsTest.java" region="segments" :
 *
 * try (Arena arena = Arena.ofShared()) {
 *     MemorySegment weights = arena.allocateFrom(ValueLayout.JAVA_FLOAT, 1.5f, 3);
 *     group.allReduce(Segments.tensor(DataType.FLOAT32, weights), ReduceOp.SUM);
 *     sums = weights.toArray(ValueLayout.JAVA_FLOAT); // 3.0 and 6.0 with two ranks
 * }
 * }
 *
 * <p>A native segment may have any alignment and more than 2 GiB. A heap segment must be of the array type that carries
 * the element type, such as {@code float[]} for f32 and {@code int[]} for u32.
 *
 * <p><b>Lifetime.</b> Close the arena of a segment only after the calls on its tensors have ended: after a blocking call
 * has returned, or the {@code Work} of an asynchronous call is done. The JVM cannot crash otherwise, because each access
 * checks the arena:
 *
 * <ul>
 *   <li>A call that begins after the close throws an IllegalStateException. No data moves, and the group can be used.
 *   <li>If the arena is closed during a call, the group fails with ABORTED on all ranks.
 *   <li>{@code Arena.close} itself throws an IllegalStateException if a system call has the memory at that moment. The
 *       arena is then open, and the call goes on.
 * </ul>
 *
 * <p>Any thread of ferro may access the memory, so a confined arena is refused. Use {@code Arena.ofShared()}, {@code
 * Arena.ofAuto()} or {@code Arena.global()}. A tensor keeps the memory of an automatic arena alive.
 *
 * <p>Any thread may call the methods.
 */
public final class Segments {
    /** A thread that never runs, so that it owns no confined arena. */
    private static final Thread ANY_THREAD =
            Thread.ofVirtual().inheritInheritableThreadLocals(false).unstarted(() -> {});

    private Segments() {}

    /**
     * Views all bytes of a segment as elements, without copying.
     *
     * <p>A read-only native segment can be the input of a call. A call refuses it as output.
     *
     * @param type    element type; elements have native byte order
     * @param segment memory
     * @return one-dimensional view of {@code segment.byteSize() / type.byteSize()} elements
     * @throws IllegalArgumentException if the segment ends inside an element; belongs to a confined arena; is a read-only
     *     heap segment; or is a heap segment of another array type, or one that begins inside an array element
     * @throws IllegalStateException    if the arena of the segment is closed
     */
    public static HostTensor tensor(DataType type, MemorySegment segment) {
        requireNonNull(type, "type");
        requireNonNull(segment, "segment");
        if (!segment.scope().isAlive()) {
            throw new IllegalStateException(
                    "the arena of " + named(segment) + " is closed: need a segment of an open arena");
        }
        if (!segment.isAccessibleBy(ANY_THREAD)) {
            throw new IllegalArgumentException(named(segment) + " belongs to a confined arena, and several threads of"
                    + " ferro access its memory: use Arena.ofShared(), Arena.ofAuto() or Arena.global()");
        }
        if (segment.byteSize() % type.byteSize() != 0) {
            throw new IllegalArgumentException(named(segment) + " ends inside an element: need a multiple of the "
                    + type.byteSize() + " bytes of " + type.label());
        }
        return segment.isNative() ? HostTensor.of(type, new SegmentMemory(segment)) : ofHeap(type, segment);
    }

    private static HostTensor ofHeap(DataType type, MemorySegment segment) {
        Carrier carrier = type.carrier();
        Object array = segment.heapBase()
                .orElseThrow(() -> new IllegalArgumentException(named(segment)
                        + ": the JDK does not give the array of a read-only heap segment: use the writable segment, or a"
                        + " native one"));
        if (!carrier.arrayClass().isInstance(array)) {
            throw new IllegalArgumentException(named(segment) + " is in a "
                    + array.getClass().getSimpleName() + ", which cannot hold " + type.label() + ": need a "
                    + carrier.arrayName() + " or a native segment");
        }
        long from = segment.address();
        if (from % carrier.byteSize() != 0) {
            throw new IllegalArgumentException(named(segment) + " begins at byte " + from + " of a "
                    + carrier.arrayName() + ", inside an element: need a multiple of " + carrier.byteSize());
        }
        return HostTensor.ofArray(
                type, array, (int) (from / carrier.byteSize()), (int) (segment.byteSize() / type.byteSize()));
    }

    /** Returns a short name for messages, without the address. */
    static String named(MemorySegment segment) {
        String kind = segment.isNative() ? segment.isMapped() ? "mapped" : "native" : "heap";
        return (segment.isReadOnly() ? "read-only " : "") + kind + " segment of " + segment.byteSize() + " bytes";
    }
}
