package ferro.group;

import ferro.Backend;
import ferro.spi.GroupSpec;
import ferro.spi.RankContext;

/** Finds the back ends on the path and opens the one that the settings name. */
final class BackendSelection {
    private BackendSelection() {}

    static GroupSpec specOf(RankContext context) {
        throw new UnsupportedOperationException("under construction: " + context);
    }

    static Backend open(GroupSpec group, RankContext context) {
        throw new UnsupportedOperationException("under construction: " + group + context);
    }
}
