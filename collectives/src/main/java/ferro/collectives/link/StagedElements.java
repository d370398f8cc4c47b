package ferro.collectives.link;

import ferro.collectives.reduce.TypedViews;
import java.nio.ByteBuffer;

/** The views of the memory of a medium. */
public final class StagedElements extends TypedViews {
    private final ByteBuffer bytes;

    /** Makes the views of direct memory. */
    public StagedElements(ByteBuffer bytes) {
        super(bytes);
        this.bytes = bytes;
    }

    ByteBuffer bytes() {
        return bytes;
    }
}
