package ferro.backend.nccl.ffi;

import com.sun.jna.Native;
import com.sun.jna.NativeLibrary;
import java.util.Map;

/** The test hooks of the stand-in libraries, in the order of src/test/native/standin.h, where they are described. */
public final class StandInHooks {
    private StandInHooks() {}

    /** Binds them to the libnccl that is loaded, by its path; its hooks and those of the runtime below it are both found there. */
    public static synchronized void bind(String nccl) {
        if (!Native.registered(StandInHooks.class)) {
            Native.register(StandInHooks.class, NativeLibrary.getInstance(nccl, Map.of("open-flags", 2)));
        }
    }

    public static native void standInReset();

    public static native void standInDevices(int count);

    public static native void standInDeviceMemory(long bytes);

    public static native void standInStreamLatency(int device, int micros);

    public static native void standInHold(int on);

    public static native void standInRefusePinning(int refuse);

    public static native void standInStickyError(int code);

    public static native void standInFailNext(String function, int after, int code);

    public static native int standInLive(String kind);

    public static native int standInMisuse();

    public static native int standInFreedInUse();

    public static native void standInRecord(int on);

    public static native long standInLogRead(byte[] text, long capacity);

    public static native void standInLogClear();

    public static native void standInNcclLatency(int micros);

    public static native void standInCallDwell(int micros);

    public static native int standInMaxEntries();

    public static native void standInAsyncError(long comm, int code);

    public static native void standInHang(int on);

    public static native void standInMismatchHangs(int on);

    public static native void standInMismatchTruncates(int on);

    public static native void standInRemoteErrors(int on);

    public static native void standInEarlyReturns(int on);

    public static native void standInTail(int micros);

    public static native void standInAbortHangs(int on);

    public static native int standInEcho(int before, NcclIdStruct.ByValue id, int after);

    /** Returns the recorded calls, one line each: {@code function|device|thread|arguments}. */
    public static String log() {
        byte[] text = new byte[(int) standInLogRead(new byte[1], 0)];
        standInLogRead(text, text.length);
        return Native.toString(text, "UTF-8");
    }
}
