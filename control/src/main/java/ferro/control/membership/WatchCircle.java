package ferro.control.membership;

/**
 * Which ranks of a joined group watch each other, and which notify the others: each rank watches the next ones in a circle.
 */
record WatchCircle(int rank, int worldSize) {
    /** The number of ranks that notify each rank of a silence: more than one, because a few may end meanwhile. */
    static final int REPORTERS = 4;

    /** The number of ranks that a rank watches, if so many are there. */
    static final int WATCHED_MOST = 32;

    /** Returns the ranks that this rank watches, the next one first. */
    int[] watched() {
        int[] watched = new int[count()];
        for (int at = 0; at < watched.length; at++) {
            watched[at] = (rank + at + 1) % worldSize;
        }
        return watched;
    }

    /** Returns the ranks that watch this rank: those before it. */
    int[] watchers() {
        int[] watchers = new int[count()];
        for (int at = 0; at < watchers.length; at++) {
            watchers[at] = Math.floorMod(rank - at - 1, worldSize);
        }
        return watchers;
    }

    /** Returns all ranks but this one. */
    int[] others() {
        int[] others = new int[worldSize - 1];
        for (int at = 0; at < others.length; at++) {
            others[at] = at < rank ? at : at + 1;
        }
        return others;
    }

    /** Returns the ranks between this rank and a rank that it watches; they watch that rank too. */
    int[] between(int watched) {
        int[] between = new int[Math.floorMod(watched - rank, worldSize) - 1];
        for (int at = 0; at < between.length; at++) {
            between[at] = (rank + at + 1) % worldSize;
        }
        return between;
    }

    /** Returns whether a rank watches another one, or is that one. */
    boolean isWatched(int watched, int watcher) {
        return Math.floorMod(watched - watcher, worldSize) <= count();
    }

    /**
     * Returns whether this rank, which watches a silent rank, notifies another rank of it. The ranks that notify the same rank
     * are not neighbours, because neighbours may be on one machine and end together.
     */
    boolean reportsSilence(int silent, int other) {
        int distance = Math.floorMod(silent - rank, worldSize);
        return Math.floorMod(distance - other, Math.max(1, count() / REPORTERS)) == 0;
    }

    private int count() {
        return Math.min(WATCHED_MOST, worldSize - 1);
    }
}
