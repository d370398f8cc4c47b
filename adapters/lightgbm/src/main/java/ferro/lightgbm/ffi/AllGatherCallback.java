package ferro.lightgbm.ffi;

import com.sun.jna.Callback;

/** {@code AllgatherFunction} of {@code LightGBM/meta.h}. Sizes are bytes. */
public interface AllGatherCallback extends Callback {
    /**
     * Joins the blocks of all ranks.
     *
     * @param input      address of this rank's block; may be inside {@code output}
     * @param inputSize  bytes of this rank's block
     * @param starts     address of the offset of each block, {@code int32_t[blocks]}
     * @param lengths    address of the bytes of each block, {@code int32_t[blocks]}
     * @param blocks     number of blocks, which is the number of ranks
     * @param output     address of all blocks
     * @param outputSize bytes at {@code output}
     */
    void call(long input, int inputSize, long starts, long lengths, int blocks, long output, int outputSize);
}
