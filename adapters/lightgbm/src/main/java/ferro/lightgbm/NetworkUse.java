package ferro.lightgbm;

import java.time.Duration;

/**
 * The use of the network by LightGBM on this rank, since the network was connected.
 *
 * @param calls     number of calls
 * @param sentBytes bytes that this rank sent to other ranks
 * @param time      time in the calls; includes waiting for other ranks
 */
public record NetworkUse(long calls, long sentBytes, Duration time) {}
