package ferro.lightgbm;

import ferro.DataType;
import ferro.HostTensor;
import ferro.lightgbm.ffi.LightGbmLibrary;
import java.nio.ByteBuffer;

/**
 * Views of LightGBM's memory. LightGBM passes the same buffers in every iteration, so views are kept. A kept view may
 * outlive its memory; it is used again only after LightGBM has passed the same address and size again.
 */
final class NativeViews {
    private static final int SLOTS = 64;
    private static final int SHIFT = 31;
    private static final int GOLDEN = 0x9E3779B9;

    private final NativeView[] views = new NativeView[SLOTS];

    /** A view of a range of memory. */
    private record NativeView(long address, int bytes, ByteBuffer buffer, HostTensor tensor) {}

    /** Returns the bytes of a range as a tensor. */
    HostTensor tensor(long address, int bytes) {
        return view(address, bytes).tensor;
    }

    /** Returns a range as a buffer from position 0. The buffer is shared: use absolute positions only. */
    ByteBuffer buffer(long address, int bytes) {
        return view(address, bytes).buffer;
    }

    private NativeView view(long address, int bytes) {
        int slot = (Long.hashCode(address) * SHIFT + bytes) * GOLDEN
                >>> (Integer.SIZE - Integer.numberOfTrailingZeros(SLOTS));
        NativeView view = views[slot];
        if (view == null || view.address != address || view.bytes != bytes) {
            ByteBuffer buffer = LightGbmLibrary.view(address, bytes);
            view = new NativeView(address, bytes, buffer, HostTensor.of(DataType.UINT8, buffer));
            views[slot] = view;
        }
        return view;
    }
}
