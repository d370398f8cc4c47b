package ferro.lightgbm.ffi;

import com.sun.jna.Callback;

/**
 * {@code ReduceScatterFunction} of {@code LightGBM/meta.h}. Sizes are bytes. JNA calls the method on the thread that is
 * inside LightGBM. All parameters are primitive, so that JNA makes no object for a call.
 */
public interface ReduceScatterCallback extends Callback {
    /**
     * Combines the blocks of all ranks, and writes this rank's block of the result.
     *
     * @param input      address of all blocks
     * @param inputSize  bytes of all blocks
     * @param typeSize   bytes of one element
     * @param starts     address of the offset of each block, {@code int32_t[blocks]}
     * @param lengths    address of the bytes of each block, {@code int32_t[blocks]}
     * @param blocks     number of blocks, which is the number of ranks
     * @param output     address of this rank's block of the result
     * @param outputSize bytes at {@code output}
     * @param reducer    address of the address of the function that combines two blocks
     */
    void call(
            long input,
            int inputSize,
            int typeSize,
            long starts,
            long lengths,
            int blocks,
            long output,
            int outputSize,
            long reducer);
}
