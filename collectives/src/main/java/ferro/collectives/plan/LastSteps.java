package ferro.collectives.plan;

import java.util.Arrays;

/**
 * An index of the last step that touched each chunk of each region. A step is known by its number in its list, counted
 * from 1, so that 0 stands for no step. Not thread-safe.
 */
final class LastSteps {
    private final int chunkCount;
    /** Numbers of steps by region and chunk; null for a region that no step has touched. */
    private final int[][] steps = new int[Region.values().length][];

    private long visited;

    LastSteps(int chunkCount) {
        this.chunkCount = chunkCount;
    }

    /** Returns the last step that touched one of these chunks. */
    int latest(Region region, int chunk, int chunks) {
        int[] ofRegion = steps[region.ordinal()];
        int end = ofRegion == null ? chunk : Math.min(chunk + chunks, ofRegion.length);
        int latest = 0;
        for (int i = chunk; i < end; i++) {
            latest = Math.max(latest, ofRegion[i]);
            visited++;
        }
        return latest;
    }

    /** Records a step that touches these chunks. Steps are recorded in the order of their list. */
    void set(Region region, int chunk, int chunks, int step) {
        int[] ofRegion = steps[region.ordinal()];
        if (ofRegion == null || ofRegion.length < chunk + chunks) {
            int length = Math.max(chunkCount, chunk + chunks);
            ofRegion = ofRegion == null ? new int[length] : Arrays.copyOf(ofRegion, length);
            steps[region.ordinal()] = ofRegion;
        }
        Arrays.fill(ofRegion, chunk, chunk + chunks, step);
        visited += chunks;
    }

    /** Returns how many entries of the index were read or written so far. */
    long visited() {
        return visited;
    }
}
