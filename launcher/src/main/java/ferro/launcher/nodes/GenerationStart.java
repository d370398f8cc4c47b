package ferro.launcher.nodes;

import java.time.Duration;

/**
 * One start of all ranks of a job, for which the launchers of the job wait.
 *
 * @param generation number of the start, from 0; a launcher that was itself started again may get a higher number
 * @param mayRestart whether the job may start its ranks again
 * @param hold       shortest time until ranks are started
 */
public record GenerationStart(int generation, boolean mayRestart, Duration hold) {
    /** The start of a job that never starts again. */
    public static final GenerationStart ONLY = new GenerationStart(0, false, Duration.ZERO);

    boolean isFirst() {
        return generation == 0;
    }
}
