package ferro.backend.nccl;

import ferro.FerroException;

/** An error that the CUDA or HIP runtime reported: code RESOURCE if memory ran out, otherwise code NATIVE. */
public final class CudaException extends FerroException {
    /** {@code cudaErrorMemoryAllocation} of driver_types.h; HIP has the same number. */
    public static final int OUT_OF_MEMORY = 2;

    private static final long serialVersionUID = 1L;

    /** Code that the function returned. */
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
     * @param cause    first cause or null
     */
    public CudaException(Where where, int cudaCode, String call, String message, Throwable cause) {
        super(cudaCode == OUT_OF_MEMORY ? Code.RESOURCE : Code.NATIVE, where, message, cause);
        this.cudaCode = cudaCode;
        this.call = call;
    }

    /**
     * Returns the same failure as part of an operation.
     *
     * @param where     location
     * @param operation operation that failed
     * @return failure with this one as its cause
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
