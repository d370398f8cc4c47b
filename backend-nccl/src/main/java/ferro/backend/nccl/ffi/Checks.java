package ferro.backend.nccl.ffi;

import ferro.FerroException.Where;
import ferro.backend.nccl.CudaException;
import ferro.backend.nccl.NcclException;
import ferro.backend.nccl.NcclResult;

/** Turns result codes into exceptions. Every native call is checked here before its out-parameters are read. */
public final class Checks {
    private static final Where NOWHERE = Where.of("", -1);

    private Checks() {}

    /** Checks the result code of a call of NCCL, which is named by its C function. */
    public static void nccl(int result, String call) {
        if (result != NcclResult.SUCCESS.code()) {
            throw failure(result, call);
        }
    }

    /** Checks a call on a communicator. A non-blocking one may answer that the call is still in progress. */
    public static void begun(int result, String call) {
        if (result != NcclResult.IN_PROGRESS.code()) {
            nccl(result, call);
        }
    }

    /**
     * Checks a call of the runtime, which has CUDA's name here, and clears the last error that the call left on this
     * thread: NCCL would take it for its own.
     */
    public static void cuda(int code, String call) {
        if (code != Cuda.SUCCESS) {
            Cuda.cudaGetLastError();
            throw cudaFailure(code, call);
        }
    }

    /** Makes the exception for the result code of a call of NCCL. */
    public static NcclException failure(int code, String call) {
        NcclResult result = NcclResult.of(code);
        String text = Nccl.ncclGetErrorString(code);
        String named = result.known() && text != null ? "NCCL error " + result + ": " + text : unknown(code, text);
        String last = lastError();
        String more = last.isEmpty() ? "" : ": " + last;
        return new NcclException(NOWHERE, result, last, call + " failed: " + named + more, null);
    }

    private static String unknown(int code, String text) {
        return "Unknown NCCL error: " + code + (text == null ? "" : " (" + text + ")");
    }

    /** Makes the exception for the result code of a call of the runtime, which has CUDA's name here. */
    public static CudaException cudaFailure(int code, String call) {
        String name = NativeLibraries.nameOf(call);
        String message = name + " failed: CUDA error (code " + code + ") " + Cuda.cudaGetErrorName(code) + ": "
                + Cuda.cudaGetErrorString(code);
        return new CudaException(NOWHERE, code, name, message, null);
    }

    /** Returns NCCL's last error text, or an empty one. NCCL keeps one per process, maybe that of another thread. */
    private static String lastError() {
        boolean told = NativeLibraries.loaded()
                .filter(libraries -> libraries.has(NcclCapability.LAST_ERROR))
                .isPresent();
        String text = told ? NcclLastError.ncclGetLastError(0) : null;
        return text == null ? "" : text.strip();
    }
}
