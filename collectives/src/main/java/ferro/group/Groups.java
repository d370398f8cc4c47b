package ferro.group;

import ferro.Backend;
import ferro.spi.GroupSpec;
import ferro.spi.RankContext;
import java.util.Objects;

/**
 * The methods that create a {@link ProcessGroup} in a context, for implementers of back ends, of launchers and of tests.
 * Programs use {@link ProcessGroup#join()} or {@link ProcessGroup#join(JoinOptions)}. Any thread may call the methods.
 */
public final class Groups {
    private Groups() {}

    /**
     * Joins a group with a given context, as {@link ProcessGroup#join()} does. The close of the group does not close the
     * context.
     *
     * @param group   group to join
     * @param context settings, clock, store
     * @return group of this rank
     * @throws IllegalArgumentException if a setting is invalid, or the back end cannot work in this process
     * @throws ferro.FerroException     in the same cases as {@link ProcessGroup#join()}
     */
    public static ProcessGroup join(GroupSpec group, RankContext context) {
        Objects.requireNonNull(group, "group");
        Objects.requireNonNull(context, "context");
        return new ProcessGroup(GroupCore.join(group, context));
    }

    /**
     * Wraps a back end with a given context, which has the settings of the engine. Call this method only once for each
     * rank of a plain back end, because each call makes an engine for the rank. Every call on device tensors reads from
     * the context whether device tensors may go through host memory.
     *
     * @param backend back end; the five methods of {@link Backend} are enough
     * @param context settings, and the objects that the groups of this rank share
     * @return group; closing the group closes the back end
     * @throws IllegalArgumentException if a setting of the engine is invalid
     */
    public static ProcessGroup of(Backend backend, RankContext context) {
        Objects.requireNonNull(backend, "backend");
        Objects.requireNonNull(context, "context");
        return new ProcessGroup(GroupCore.over(backend, context));
    }
}
