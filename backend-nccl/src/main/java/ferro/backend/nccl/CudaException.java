package ferro.backend.nccl;

import ferro.FerroException;

/**
 * An error that the CUDA or HIP runtime reported. The code of the exception is RESOURCE if memory ran out, otherwise
 * NATIVE.
 */
public final class CudaException extends FerroException {
    /** {@code cudaErrorMemoryAllocation} of driver_types.h; HIP has the same number. */
    public static final int OUT_OF_MEMORY = 2;

    private static final long serialVersionUID = 1L;

    /** Error code that the function of the runtime returned. */
    private final int cudaCode;
    /** C function, for example {@code cudaMalloc}. */
    private final String call;

    /**
     * Creates a failure.
     *
     * @param where    location
     * @param cudaCode code that the call returned
     * @param call     C function, for example {@code cudaMalloc}
     * @param message  call, code, text
     * @param cause    exception that caused the failure, or null
     */
    public CudaException(Where where, int cudaCode, String call, String message, Throwable cause) {
        super(cudaCode == OUT_OF_MEMORY ? Code.RESOURCE : Code.NATIVE, where, message, cause);
        this.cudaCode = cudaCode;
        this.call = call;
    }

    /**
     * Returns a copy of this failure that also names an operation.
     *
     * @param where     location
     * @param operation operation that failed
     * @return new failure whose cause is this failure
     */
    public CudaException during(Where where, String operation) {
        return new CudaException(where, cudaCode, call, operation + " failed: " + getMessage(), this);
    }

    /** {@return the error code of the runtime, as in driver_types.h, for example 700} */
    public int cudaCode() {
        return cudaCode;
    }

    /** {@return the C function that failed} */
    public String call() {
        return call;
    }
}
