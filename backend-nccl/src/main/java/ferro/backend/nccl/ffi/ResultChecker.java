package ferro.backend.nccl.ffi;

import ferro.FerroException.Where;
import ferro.backend.nccl.CudaException;
import ferro.backend.nccl.NcclException;
import ferro.backend.nccl.NcclResult;

/**
 * Turns result codes into exceptions. The result of every native call is checked here before its out-parameters are
 * read.
 */
public final class ResultChecker {
    private static final Where NOWHERE = Where.of("", -1);

    private ResultChecker() {}

    /** Checks the result code of a call of NCCL; {@code call} is the name of the C function. */
    public static void nccl(int result, String call) {
        if (result != NcclResult.SUCCESS.code()) {
            throw failure(result, call);
        }
    }

    /**
     * Checks a call on a communicator. For a non-blocking communicator, the result that the call is still in progress
     * is no failure.
     */
    public static void begun(int result, String call) {
        if (result != NcclResult.IN_PROGRESS.code()) {
            nccl(result, call);
        }
    }

    /**
     * Checks a call of the runtime; {@code call} is the function's name in CUDA. After a failure, clears the last error
     * of this thread in the runtime. Otherwise NCCL would report this error as its own.
     */
    public static void cuda(int code, String call) {
        if (code != Cuda.SUCCESS) {
            Cuda.cudaGetLastError();
            throw cudaFailure(code, call);
        }
    }

    /** Creates the exception for the result code of a call of NCCL. */
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

    /**
     * Creates the exception for the result code of a call of the runtime; {@code call} is the function's name in CUDA.
     */
    public static CudaException cudaFailure(int code, String call) {
        String name = LibraryLoader.nameOf(call);
        String message = name + " failed: CUDA error (code " + code + ") " + Cuda.cudaGetErrorName(code) + ": "
                + Cuda.cudaGetErrorString(code);
        return new CudaException(NOWHERE, code, name, message, null);
    }

    /**
     * Returns NCCL's last error text; empty if there is none. NCCL has one text per process, so the text may belong to
     * a call of another thread.
     */
    private static String lastError() {
        boolean told = LibraryLoader.loaded()
                .filter(libraries -> libraries.has(NcclCapability.LAST_ERROR))
                .isPresent();
        String text = told ? NcclLastErrorFunction.ncclGetLastError(0) : null;
        return text == null ? "" : text.strip();
    }
}
