package ferro.group;

import ferro.CollectiveBackend;
import ferro.collectives.CollectiveEngine;
import ferro.dispatch.GpuCollectives;
import ferro.spi.RankContext;

/**
 * The part that all views of one group share.
 *
 * @param backend    back end of the group
 * @param way        receiver of its calls: the back end, or the dispatcher for device tensors in front of it
 * @param context    settings, for the groups made of this one
 * @param coalescing open blocks
 * @param joined     thread whose end aborts the group; null for a group that was wrapped and not joined
 */
record GroupEnd(
        CollectiveBackend backend,
        CollectiveBackend way,
        RankContext context,
        Coalescing coalescing,
        JoiningThread joined) {
    static GroupEnd of(CollectiveBackend backend, RankContext context, JoiningThread joined) {
        CollectiveBackend way =
                needsDoor(backend) ? GpuCollectives.with(context).over(backend) : backend;
        return new GroupEnd(backend, way, context, new Coalescing(), joined);
    }

    /**
     * Returns whether calls go through the dispatcher for device tensors. An engine rejects device tensors itself, so
     * that calls on host tensors need not pass a dispatcher that has no way for device tensors.
     */
    private static boolean needsDoor(CollectiveBackend backend) {
        return !backend.takesDeviceTensors() && (!CollectiveEngine.isOne(backend) || GpuCollectives.hasWay(backend));
    }
}
