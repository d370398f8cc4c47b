/**
 * The functions of LightGBM's C library, by JNA. Start reading at {@link ferro.lightgbm.ffi.LightGbmFunctions}.
 *
 * <p>Nothing in this package checks a return code or keeps a handle.
 */
package ferro.lightgbm.ffi;
