package ferro.lightgbm.ffi;

import java.nio.Buffer;

/**
 * The functions of {@code LightGBM/c_api.h} that this module calls, in the order of the header. Each function returns 0 if
 * it succeeds. Handles, addresses and {@code int64_t} are {@code long}. {@link LightGbmLibrary} binds the functions.
 */
public final class LightGbmFunctions {
    /** {@code C_API_DTYPE_FLOAT32}. */
    public static final int FLOAT32 = 0;
    /** {@code C_API_DTYPE_FLOAT64}. */
    public static final int FLOAT64 = 1;
    /** {@code C_API_PREDICT_NORMAL}. */
    public static final int PREDICT_NORMAL = 0;

    private LightGbmFunctions() {}

    public static native String LGBM_GetLastError();

    public static native int LGBM_DatasetCreateFromMat(
            Buffer data, int type, int rows, int columns, int rowMajor, String parameters, long reference, long[] out);

    public static native int LGBM_DatasetCreateFromMat(
            double[] data,
            int type,
            int rows,
            int columns,
            int rowMajor,
            String parameters,
            long reference,
            long[] out);

    public static native int LGBM_DatasetCreateFromMat(
            float[] data, int type, int rows, int columns, int rowMajor, String parameters, long reference, long[] out);

    public static native int LGBM_DatasetFree(long dataset);

    public static native int LGBM_DatasetSetField(long dataset, String field, float[] values, int count, int type);

    public static native int LGBM_BoosterCreate(long dataset, String parameters, long[] out);

    public static native int LGBM_BoosterFree(long booster);

    public static native int LGBM_BoosterAddValidData(long booster, long dataset);

    public static native int LGBM_BoosterGetNumClasses(long booster, int[] out);

    public static native int LGBM_BoosterUpdateOneIter(long booster, int[] finished);

    public static native int LGBM_BoosterGetEvalCounts(long booster, int[] out);

    public static native int LGBM_BoosterGetEval(long booster, int data, int[] count, double[] out);

    public static native int LGBM_BoosterPredictForMat(
            long booster,
            Buffer data,
            int type,
            int rows,
            int columns,
            int rowMajor,
            int predictType,
            int start,
            int iterations,
            String parameters,
            long[] count,
            double[] out);

    public static native int LGBM_BoosterPredictForMat(
            long booster,
            double[] data,
            int type,
            int rows,
            int columns,
            int rowMajor,
            int predictType,
            int start,
            int iterations,
            String parameters,
            long[] count,
            double[] out);

    public static native int LGBM_BoosterPredictForMat(
            long booster,
            float[] data,
            int type,
            int rows,
            int columns,
            int rowMajor,
            int predictType,
            int start,
            int iterations,
            String parameters,
            long[] count,
            double[] out);

    public static native int LGBM_BoosterSaveModelToString(
            long booster, int start, int iterations, int importance, long length, long[] needed, byte[] out);

    /** Connects LightGBM's own sockets. Only tests call this function, to compare. */
    public static native int LGBM_NetworkInit(String machines, int port, int timeoutMinutes, int count);

    public static native int LGBM_NetworkFree();

    public static native int LGBM_NetworkInitWithFunctions(
            int machines, int rank, ReduceScatterCallback reduceScatter, AllGatherCallback allGather);
}
